/** Targets from nodes: one for each, at its address or through the API server. */
import type { ConfigOf, Host, Problem } from '../../../pipeline/component.ts'
import type { ApiObject } from '../../../pipeline/kubernetes/api-object.ts'
import { apiServerProxy } from './api-server-proxy.ts'
import type { DiscoveredTarget, Discovery } from './discovery.ts'
import { accessFields, fieldSelector, labelSelector, pageFields, pageLabels, portNumber } from './kubernetes-fields.ts'
import { addressOf, metadataLabels, metaLabels, recordOf, recordsOf, textOf } from './kubernetes-labels.ts'
import { createKubernetesDiscovery } from './kubernetes-objects.ts'

export const kubernetesNodes = {
  type: 'object',
  properties: {
    label_selector: labelSelector,
    field_selector: fieldSelector,
    port: { ...portNumber, description: 'Port of the targets. What is usual for the receiver unless set.' },
    through_api_server: {
      type: 'boolean',
      default: false,
      description:
        "Scrape through the API server's proxy, with the credentials of the API, where nodes cannot be reached or their kubelets let nobody in. Needs the right to get nodes/proxy.",
    },
    ...pageFields,
    ...accessFields,
  },
  additionalProperties: false,
  description: 'Targets from the nodes of a Kubernetes cluster, followed through its API.',
} as const

export type KubernetesNodesConfig = ConfigOf<typeof kubernetesNodes>

const KUBELET_PORT = 10_250
/** In the order in which they are tried, which is that of Prometheus. */
const ADDRESS_TYPES = ['InternalIP', 'InternalDNS', 'ExternalIP', 'ExternalDNS', 'Hostname']

/** `usualPort` is what the receiver's targets listen on. */
export function checkNodes({ through_api_server, port }: KubernetesNodesConfig, usualPort: number): Problem[] {
  if (!through_api_server || port !== undefined || usualPort === KUBELET_PORT) return []
  const message = 'without a port the API server asks the kubelet, which this receiver cannot read: `port` is needed'
  return [{ path: ['through_api_server'], message }]
}

export function createNodeDiscovery(
  config: KubernetesNodesConfig,
  host: Pick<Host, 'network' | 'clock' | 'log' | 'counters'>,
): Discovery {
  const page = pageLabels(config)
  return createKubernetesDiscovery(
    config,
    {
      group: '',
      version: 'v1',
      resource: 'nodes',
      targetsOf(node, client) {
        const target = targetOf(node, config.port, page)
        if (!config.through_api_server) return [target]
        const name = proxyPath(node.metadata.name, config)
        return [{ ...target, through: { name, network: apiServerProxy(client, host.network, name) } }]
      },
    },
    host,
  )
}

function targetOf(
  node: ApiObject,
  port: number | undefined,
  page: readonly (readonly [string, string])[],
): DiscoveredTarget {
  const { metadata } = node
  const status = recordOf(node['status'])
  const addresses = new Map<string, string>()
  for (const { type, address } of recordsOf(status['addresses'])) {
    if (!addresses.has(textOf(type))) addresses.set(textOf(type), textOf(address))
  }
  const best = ADDRESS_TYPES.find(type => addresses.has(type))
  return {
    labels: new Map([
      ['__address__', addressOf(best === undefined ? metadata.name : addresses.get(best)!, port)],
      ...page,
      ...metadataLabels('node', metadata),
      ...metaLabels({
        node_provider_id: recordOf(node['spec'])['providerID'],
        ...Object.fromEntries(Array.from(addresses, ([type, address]) => [`node_address_${type}`, address])),
      }),
    ]),
  }
}

/** The API server knows the port of the kubelet. Any other one is asked for as `name:port`, or `https:name:port`. */
function proxyPath(name: string, { port, scheme }: KubernetesNodesConfig): string {
  const parts = port === undefined ? [name] : [...(scheme === 'https' ? [scheme] : []), name, String(port)]
  return `/api/v1/nodes/${parts.map(encodeURIComponent).join(':')}/proxy`
}
