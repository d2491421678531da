/** All ways to find targets in Kubernetes, and what they must be allowed to read. */
import type { Host, Problem, RbacRule } from '../../../pipeline/component.ts'
import type { Discovery } from './discovery.ts'
import {
  createEndpointsliceDiscovery,
  kubernetesEndpointslices,
  type KubernetesEndpointslicesConfig,
} from './kubernetes-endpointslices.ts'
import { checkNamespaces } from './kubernetes-fields.ts'
import { checkNodes, createNodeDiscovery, kubernetesNodes, type KubernetesNodesConfig } from './kubernetes-nodes.ts'
import { createPodDiscovery, kubernetesPods, type KubernetesPodsConfig } from './kubernetes-pods.ts'

export const kubernetesFields = {
  kubernetes_pods: kubernetesPods,
  kubernetes_nodes: kubernetesNodes,
  kubernetes_endpointslices: kubernetesEndpointslices,
} as const

export type KubernetesConfig = {
  readonly kubernetes_pods?: KubernetesPodsConfig
  readonly kubernetes_nodes?: KubernetesNodesConfig
  readonly kubernetes_endpointslices?: KubernetesEndpointslicesConfig
}

/** Paths begin with the key. `usualPort` is what the receiver's targets listen on. */
export function checkKubernetes(config: KubernetesConfig, usualPort: number): Problem[] {
  const { kubernetes_pods, kubernetes_nodes, kubernetes_endpointslices } = config
  const found = {
    kubernetes_pods: checkNamespaces(kubernetes_pods?.namespaces),
    kubernetes_nodes: kubernetes_nodes ? checkNodes(kubernetes_nodes, usualPort) : [],
    kubernetes_endpointslices: checkNamespaces(kubernetes_endpointslices?.namespaces),
  }
  return Object.entries(found).flatMap(([key, problems]) =>
    problems.map(({ path, message }) => ({ path: [key, ...path], message })),
  )
}

export function kubernetesDiscoveries(
  { kubernetes_pods, kubernetes_nodes, kubernetes_endpointslices }: KubernetesConfig,
  host: Host,
): Discovery[] {
  return [
    ...(kubernetes_pods ? [createPodDiscovery(kubernetes_pods, host)] : []),
    ...(kubernetes_nodes ? [createNodeDiscovery(kubernetes_nodes, host)] : []),
    ...(kubernetes_endpointslices ? [createEndpointsliceDiscovery(kubernetes_endpointslices, host)] : []),
  ]
}

const VERBS = ['list', 'watch']

export function kubernetesRules(config: KubernetesConfig): RbacRule[] {
  const { kubernetes_pods: pods, kubernetes_nodes: nodes, kubernetes_endpointslices: slices } = config
  const rules: RbacRule[] = []
  if (pods) rules.push({ group: '', resources: ['pods'], verbs: VERBS, ...placeOf(pods), why: 'pods to scrape' })
  if (nodes) rules.push({ group: '', resources: ['nodes'], verbs: VERBS, why: 'nodes to scrape' })
  if (nodes?.through_api_server === true) {
    rules.push({ group: '', resources: ['nodes/proxy'], verbs: ['get'], why: 'nodes through the API server' })
  }
  if (slices) {
    const group = 'discovery.k8s.io'
    rules.push({ group, resources: ['endpointslices'], verbs: VERBS, ...placeOf(slices), why: 'endpoints to scrape' })
  }
  return rules
}

function placeOf({ namespaces }: { readonly namespaces: readonly string[] }): Pick<RbacRule, 'namespaces'> {
  return namespaces.length === 0 ? {} : { namespaces }
}
