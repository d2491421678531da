/** Targets from endpoint slices: one for each endpoint of a service. */
import type { ConfigOf, Host } from '../../../pipeline/component.ts'
import type { ApiObject } from '../../../pipeline/kubernetes/api-object.ts'
import type { DiscoveredTarget, Discovery } from './discovery.ts'
import { accessFields, labelSelector, namespaces, pageFields, pageLabels, portOrName } from './kubernetes-fields.ts'
import {
  addressOf,
  metadataLabels,
  metaLabels,
  portNumberOf,
  recordOf,
  recordsOf,
  textOf,
  type MetaLabel,
} from './kubernetes-labels.ts'
import { createKubernetesDiscovery } from './kubernetes-objects.ts'

export const kubernetesEndpointslices = {
  type: 'object',
  properties: {
    label_selector: {
      ...labelSelector,
      description:
        'Which slices are taken, by their labels: `kubernetes.io/service-name=kube-state-metrics` for those of a service. They also have the labels of the service.',
    },
    namespaces,
    port: portOrName(
      'Port of the targets: a number, or the name that the service gives it. The only port of a slice, or what is usual for the receiver, unless set.',
    ),
    ...pageFields,
    ...accessFields,
  },
  required: ['label_selector'],
  additionalProperties: false,
  description: 'Targets from the endpoints of services of a Kubernetes cluster, followed through its API.',
} as const

export type KubernetesEndpointslicesConfig = ConfigOf<typeof kubernetesEndpointslices>

type SlicePort = { readonly number: number | undefined; readonly labels: readonly MetaLabel[] }

const SERVICE_LABEL = 'kubernetes.io/service-name'

export function createEndpointsliceDiscovery(
  config: KubernetesEndpointslicesConfig,
  host: Pick<Host, 'network' | 'clock' | 'log' | 'counters'>,
): Discovery {
  const page = pageLabels(config)
  const slices = { group: 'discovery.k8s.io', version: 'v1', resource: 'endpointslices' }
  return createKubernetesDiscovery(config, { ...slices, targetsOf: slice => targetsOf(slice, config.port, page) }, host)
}

function targetsOf(
  slice: ApiObject,
  wanted: number | string | undefined,
  page: readonly MetaLabel[],
): DiscoveredTarget[] {
  const port = portOf(slice, wanted)
  const common = [
    ...page,
    ...metadataLabels('endpointslice', slice.metadata),
    ...metaLabels({
      endpointslice_address_type: slice['addressType'],
      service_name: slice.metadata.labels?.[SERVICE_LABEL],
    }),
    ...(port?.labels ?? []),
  ]
  return recordsOf(slice['endpoints']).flatMap(endpoint => {
    // All addresses of an endpoint lead to the same place.
    const [address] = Array.isArray(endpoint['addresses']) ? (endpoint['addresses'] as unknown[]) : []
    if (textOf(address) === '') return []
    // A slice without a port of that name is shown as dropped, so that people see why.
    const found: MetaLabel[] = port === undefined ? [] : [['__address__', addressOf(textOf(address), port.number)]]
    return [{ labels: new Map([...found, ...common, ...endpointLabels(endpoint)]) }]
  })
}

function endpointLabels(endpoint: Record<string, unknown>): MetaLabel[] {
  const conditions = recordOf(endpoint['conditions'])
  const target = recordOf(endpoint['targetRef'])
  return metaLabels({
    endpointslice_endpoint_conditions_ready: conditions['ready'],
    endpointslice_endpoint_conditions_serving: conditions['serving'],
    endpointslice_endpoint_conditions_terminating: conditions['terminating'],
    endpointslice_endpoint_hostname: endpoint['hostname'],
    endpointslice_endpoint_node_name: endpoint['nodeName'],
    endpointslice_endpoint_zone: endpoint['zone'],
    endpointslice_address_target_kind: target['kind'],
    endpointslice_address_target_name: target['name'],
  })
}

/** Undefined if the slice has no port of that name. A number need not be one of the slice. */
function portOf(slice: ApiObject, wanted: number | string | undefined): SlicePort | undefined {
  const ports = recordsOf(slice['ports']).filter(({ port }) => typeof port === 'number')
  const number = wanted === undefined ? undefined : portNumberOf(wanted)
  const declared = ports.find(({ name, port }) => {
    if (wanted === undefined) return ports.length === 1
    return number === undefined ? name === wanted : port === number
  })
  if (declared === undefined) return wanted === undefined || number !== undefined ? { number, labels: [] } : undefined
  const labels = metaLabels({
    endpointslice_port: declared['port'],
    endpointslice_port_name: declared['name'],
    endpointslice_port_protocol: declared['protocol'],
    endpointslice_port_app_protocol: declared['appProtocol'],
  })
  return { number: declared['port'] as number, labels }
}
