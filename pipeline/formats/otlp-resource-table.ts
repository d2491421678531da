/**
 * Which labels tell what a series is about, and what OpenTelemetry calls that. These become attributes of the resource; all others
 * are attributes of points.
 *
 * Where several labels of a series stand for one attribute, the one further up counts, and the others stay with the point.
 */
export const RESOURCE_TABLE: readonly (readonly [label: string, attribute: string])[] = [
  ['job', 'service.name'],
  ['instance', 'service.instance.id'],
  ['clusterId', 'k8s.cluster.name'],
  ['cluster', 'k8s.cluster.name'],
  ['node', 'k8s.node.name'],
  ['node_name', 'k8s.node.name'],
  ['nodepool', 'k8s.nodepool.name'],
  ['Hostname', 'host.name'],
  ['hostname', 'host.name'],
  ['namespace', 'k8s.namespace.name'],
  ['pod_namespace', 'k8s.namespace.name'],
  ['pod', 'k8s.pod.name'],
  ['pod_name', 'k8s.pod.name'],
  ['pod_uuid', 'k8s.pod.uid'],
  ['pod_uid', 'k8s.pod.uid'],
  ['container', 'k8s.container.name'],
  ['container_name', 'k8s.container.name'],
  ['workload_id', 'k8s.workload.uid'],
  ['workload_name', 'k8s.workload.name'],
  ['workload_kind', 'k8s.workload.kind'],
  ['workload_type', 'k8s.workload.type'],
  ['project', 'project.name'],
  ['department', 'department.name'],
  ['user', 'user.name'],
  ['queue', 'queue.name'],
  ['queue_name', 'queue.name'],
  // hw.* as in the semantic conventions for hardware; what these do not have begins with hw.gpu.
  ['UUID', 'hw.id'],
  ['uuid', 'hw.id'],
  ['gpu_uuid', 'hw.id'],
  ['device', 'hw.name'],
  ['modelName', 'hw.model'],
  ['model_name', 'hw.model'],
  ['DCGM_FI_DRIVER_VERSION', 'hw.driver_version'],
  ['gpu', 'hw.gpu.index'],
  ['pci_bus_id', 'hw.gpu.pci_bus_id'],
  ['GPU_I_ID', 'hw.gpu.mig.id'],
  ['GPU_I_PROFILE', 'hw.gpu.mig.profile'],
]

/** What the resource has where series tell only which target they came from. */
export const TARGET_ROWS: ReadonlySet<string> = new Set(['job', 'instance'])
