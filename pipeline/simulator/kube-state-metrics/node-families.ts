/** The families of nodes, namespaces and quotas. */
import type { Namespace } from '../namespaces.ts'
import type { SimulatedNode } from '../node.ts'
import { conditionsOf, nodeLabels, nodeResources, nodeTaints, podCidr } from '../objects/node.ts'
import { QUOTA_NAME, quotaAmounts } from '../objects/quota.ts'
import type { Project } from '../tenants.ts'
import { line, oneOf, seconds, single, type Family } from './family.ts'
import { renderLabels, resourceName, type AllowList } from './label-names.ts'

const STATUSES = ['true', 'false', 'unknown']

export function nodeIdentity({ name }: SimulatedNode): string {
  return `node="${name}"`
}

export function nodeFamilies(labels: AllowList): Family<SimulatedNode>[] {
  const allowed = labels['nodes']
  return [
    single('kube_node_created', '[STABLE] Unix creation timestamp', node => seconds(node.createdMs)),
    single('kube_node_info', '[STABLE] Information about a cluster node.', () => 1, nodeInfo),
    single(
      'kube_node_labels',
      '[STABLE] Kubernetes labels converted to Prometheus labels.',
      () => (allowed === undefined ? undefined : 1),
      node => renderLabels('label', nodeLabels(node), allowed!),
    ),
    {
      name: 'kube_node_spec_taint',
      help: '[STABLE] The taint of a cluster node.',
      type: 'gauge',
      lines: (name, identity, node) =>
        nodeTaints(node)
          .map(({ key, value = '', effect }) =>
            line(name, identity, `,key="${key}",value="${value}",effect="${effect}"`, 1),
          )
          .join(''),
    },
    single('kube_node_spec_unschedulable', '[STABLE] Whether a node can schedule new pods.', ({ trouble }) =>
      trouble.cordonedMs === undefined ? 0 : 1,
    ),
    amounts(
      'kube_node_status_allocatable',
      '[STABLE] The allocatable for different resources of a node that are available for scheduling.',
      'allocatable',
    ),
    amounts('kube_node_status_capacity', '[STABLE] The capacity for different resources of a node.', 'capacity'),
    {
      name: 'kube_node_status_condition',
      help: '[STABLE] The condition of a cluster node.',
      type: 'gauge',
      lines(name, identity, node) {
        let text = ''
        for (const { type, status } of conditionsOf(node)) {
          text += oneOf(name, `${identity},condition="${type}"`, 'status', STATUSES, status.toLowerCase())
        }
        return text
      },
    },
  ]
}

export function nodeInfo(node: SimulatedNode): string {
  return (
    ',kernel_version="6.8.0-64-generic",os_image="Ubuntu 24.04.2 LTS",container_runtime_version="containerd://2.1.4"' +
    `,kubelet_version="${node.kubeletVersion}",kubeproxy_version="deprecated",provider_id="simulator://${node.name}"` +
    `,pod_cidr="${podCidr(node)}",system_uuid="${node.uid}",internal_ip="${node.address}"`
  )
}

function amounts(name: string, help: string, which: 'capacity' | 'allocatable'): Family<SimulatedNode> {
  return {
    name,
    help,
    type: 'gauge',
    lines(name, identity, node) {
      let text = ''
      for (const resource of nodeResources(node)) {
        const labels = `,resource="${resourceName(resource.name)}",unit="${resource.unit}"`
        text += line(name, identity, labels, resource[which].number)
      }
      return text
    },
  }
}

export function namespaceIdentity({ name }: Namespace): string {
  return `namespace="${name}"`
}

export function namespaceFamilies(labels: AllowList, annotations: AllowList): Family<Namespace>[] {
  const allowedLabels = labels['namespaces']
  const allowedAnnotations = annotations['namespaces']
  return [
    single('kube_namespace_created', '[STABLE] Unix creation timestamp', namespace => seconds(namespace.createdMs)),
    single(
      'kube_namespace_annotations',
      'Kubernetes annotations converted to Prometheus labels.',
      () => (allowedAnnotations === undefined ? undefined : 1),
      namespace => renderLabels('annotation', namespace.annotations, allowedAnnotations!),
    ),
    single(
      'kube_namespace_labels',
      '[STABLE] Kubernetes labels converted to Prometheus labels.',
      () => (allowedLabels === undefined ? undefined : 1),
      namespace => renderLabels('label', namespace.labels, allowedLabels!),
    ),
    {
      name: 'kube_namespace_status_phase',
      help: '[STABLE] kubernetes namespace status phase.',
      type: 'gauge',
      lines: (name, identity) => oneOf(name, identity, 'phase', ['Active', 'Terminating'], 'Active'),
    },
  ]
}

export function quotaIdentity({ namespace }: Project): string {
  return `namespace="${namespace}",resourcequota="${QUOTA_NAME}"`
}

export function quotaFamilies(): Family<Project>[] {
  return [
    single('kube_resourcequota_created', '[STABLE] Unix creation timestamp', project => seconds(project.createdMs)),
    {
      name: 'kube_resourcequota',
      help: '[STABLE] Information about resource quota.',
      type: 'gauge',
      // Here, unlike anywhere else, names of resources stay as they are.
      lines(name, identity, project) {
        let text = ''
        for (const { resource, hard, used } of quotaAmounts(project)) {
          text += line(name, identity, `,resource="${resource}",type="hard"`, hard)
          text += line(name, identity, `,resource="${resource}",type="used"`, used)
        }
        return text
      },
    },
  ]
}
