/** Samples of the families that the receiver makes, in words and sorted, so that those of kube-state-metrics can stand beside them. */
import type { Sample } from '../../pipeline/simulator/samples.ts'

export const FACT_FAMILIES: ReadonlySet<string> = new Set([
  'kube_pod_info',
  'kube_pod_owner',
  'kube_pod_status_phase',
  'kube_pod_created',
  'kube_pod_start_time',
  'kube_pod_completion_time',
  'kube_pod_deletion_timestamp',
  'kube_pod_status_scheduled_time',
  'kube_pod_status_initialized_time',
  'kube_pod_status_ready_time',
  'kube_pod_container_resource_requests',
  'kube_pod_container_resource_limits',
  'kube_pod_init_container_resource_requests',
  'kube_pod_init_container_resource_limits',
  'kube_pod_container_resource_requests_cpu_cores',
  'kube_pod_container_resource_requests_memory_bytes',
  'kube_node_created',
  'kube_node_labels',
  'kube_node_spec_unschedulable',
  'kube_node_status_condition',
  'kube_node_status_addresses',
  'kube_node_status_capacity',
  'kube_node_status_allocatable',
  'kube_resourcequota',
])

/** Kube-state-metrics 2.x does not have these. */
const OF_VERSION_1 = /^kube_pod_container_resource_requests_(cpu_cores|memory_bytes)$/
/** Labels of the target. */
const OF_TARGET = ['job', 'instance']

/** Of a pod only the phase that it is in. Labels without a value are not there. */
export function factSamples(samples: readonly Sample[], isWanted: (family: string) => boolean = () => true): string[] {
  return samples
    .filter(({ name }) => FACT_FAMILIES.has(name) && !OF_VERSION_1.test(name) && isWanted(name))
    .filter(({ name, value }) => name !== 'kube_pod_status_phase' || value !== '0')
    .map(({ name, labels, value }) => {
      const known = Object.entries(labels).filter(([label, text]) => text !== '' && !OF_TARGET.includes(label))
      const pairs = known.map(([label, text]) => `${label}=${text}`).toSorted()
      return `${name} ${pairs.join(' ')} ${Number(value)}`
    })
    .toSorted()
}
