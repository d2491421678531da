/** Targets from pods: one for each that runs, or is about to. */
import type { ConfigOf, Host } from '../../../pipeline/component.ts'
import type { ApiObject } from '../../../pipeline/kubernetes/api-object.ts'
import type { DiscoveredTarget, Discovery } from './discovery.ts'
import {
  accessFields,
  fieldSelector,
  labelSelector,
  namespaces,
  pageFields,
  pageLabels,
  portOrName,
} from './kubernetes-fields.ts'
import {
  addressOf,
  metadataLabels,
  metaLabels,
  portNumberOf,
  recordOf,
  recordsOf,
  textOf,
} from './kubernetes-labels.ts'
import { createKubernetesDiscovery } from './kubernetes-objects.ts'

export const kubernetesPods = {
  type: 'object',
  properties: {
    label_selector: labelSelector,
    field_selector: fieldSelector,
    namespaces,
    port: portOrName(
      'Port of the targets: a number, or the name that a container gives it. What is usual for the receiver unless set.',
    ),
    ...pageFields,
    ...accessFields,
  },
  required: ['label_selector'],
  additionalProperties: false,
  description: 'Targets from the pods of a Kubernetes cluster, followed through its API.',
} as const

export type KubernetesPodsConfig = ConfigOf<typeof kubernetesPods>

export function createPodDiscovery(
  config: KubernetesPodsConfig,
  host: Pick<Host, 'network' | 'clock' | 'log' | 'counters'>,
): Discovery {
  const { port } = config
  const page = pageLabels(config)
  const pods = { group: '', version: 'v1', resource: 'pods' }
  return createKubernetesDiscovery(config, { ...pods, targetsOf: pod => targetsOf(pod, port, page) }, host)
}

function targetsOf(
  pod: ApiObject,
  wanted: number | string | undefined,
  page: readonly [string, string][],
): DiscoveredTarget[] {
  const status = recordOf(pod['status'])
  const ip = textOf(status['podIP'])
  if (ip === '' || status['phase'] === 'Succeeded' || status['phase'] === 'Failed') return []
  const declared = wanted === undefined ? undefined : findPort(pod, wanted)
  const port = wanted === undefined ? undefined : (portNumberOf(wanted) ?? declared?.number)
  // A pod without a port of that name is shown as dropped, so that people see why.
  const isReachable = wanted === undefined || port !== undefined
  return [
    {
      labels: new Map([
        ...(isReachable ? ([['__address__', addressOf(ip, port)]] as const) : []),
        ...page,
        ...podLabels(pod, ip),
        ...(declared?.labels ?? []),
      ]),
    },
  ]
}

function podLabels(pod: ApiObject, ip: string): (readonly [string, string])[] {
  const { metadata } = pod
  const status = recordOf(pod['status'])
  const ready = recordsOf(status['conditions']).find(({ type }) => type === 'Ready')
  const controller = metadata.ownerReferences?.find(owner => owner.controller === true)
  return [
    ...metadataLabels('pod', metadata),
    ...metaLabels({
      pod_ip: ip,
      pod_host_ip: status['hostIP'],
      pod_node_name: recordOf(pod['spec'])['nodeName'],
      pod_phase: status['phase'],
      pod_ready: textOf(ready?.['status']).toLowerCase() || 'unknown',
      pod_uid: metadata.uid,
      pod_controller_kind: controller?.kind,
      pod_controller_name: controller?.name,
    }),
  ]
}

type DeclaredPort = { readonly number: number; readonly labels: readonly (readonly [string, string])[] }

/** The container that says it listens there. A container need not say so. */
function findPort(pod: ApiObject, wanted: number | string): DeclaredPort | undefined {
  const wantedNumber = portNumberOf(wanted)
  for (const container of recordsOf(recordOf(pod['spec'])['containers'])) {
    for (const { name, containerPort, protocol } of recordsOf(container['ports'])) {
      if (typeof containerPort !== 'number') continue
      if (wantedNumber === undefined ? name !== wanted : containerPort !== wantedNumber) continue
      const labels = metaLabels({
        pod_container_name: container['name'],
        pod_container_image: container['image'],
        pod_container_port_name: name,
        pod_container_port_number: containerPort,
        pod_container_port_protocol: protocol,
      })
      return { number: containerPort, labels }
    }
  }
  return undefined
}
