/**
 * What is known of pods, nodes and quotas as series, with the names, labels and units that kube-state-metrics 2.x has for them; and two
 * names of its 1.x that dashboards still ask for. Of a pod only the phase that it has is told, not the four that it has not: they
 * would be every fourth series, and say nothing. What kube-state-metrics has no name for is called as facts are.
 */
import { assignmentRules, isReservation } from '../../pipeline/cluster/assignment-rules.ts'
import type { Claim } from '../../pipeline/cluster/claims.ts'
import { shareText } from '../../pipeline/cluster/keep-metadata.ts'
import type { KeptNode } from '../../pipeline/cluster/keep-node.ts'
import type { KeptPod } from '../../pipeline/cluster/keep-pod.ts'
import { metricSpelling } from '../../pipeline/cluster/look-up.ts'
import { askedGpus } from '../../pipeline/cluster/pod-gpus.ts'
import { isBound } from '../../pipeline/cluster/pod-state.ts'
import type { QuotaObject } from '../../pipeline/cluster/quotas.ts'
import { labelPairs, labelsFrom, type Labels } from '../../pipeline/model/labels.ts'
import { metricFrom, type Metric } from '../../pipeline/model/series.ts'

/** Called for each sample. */
export type AddSample = (metric: Metric, labels: Labels, value: number) => void
/** What series are made of. */
export type FactObject = KeptPod | KeptNode | QuotaObject | Claim
type Pairs = readonly (readonly [string, string])[]

const M = {
  podInfo: gauge('kube_pod_info', 'Information about pod.'),
  podOwner: gauge('kube_pod_owner', "Information about the Pod's owner."),
  podPhase: gauge('kube_pod_status_phase', 'The pods current phase.'),
  podCreated: gauge('kube_pod_created', 'Unix creation timestamp'),
  podStart: gauge('kube_pod_start_time', 'Start time in unix timestamp for a pod.'),
  podCompletion: gauge('kube_pod_completion_time', 'Completion time in unix timestamp for a pod.'),
  podDeletion: gauge('kube_pod_deletion_timestamp', 'Unix deletion timestamp'),
  podScheduled: gauge('kube_pod_status_scheduled_time', 'Unix timestamp when pod moved into scheduled status'),
  podInitialized: gauge('kube_pod_status_initialized_time', 'Initialized time in unix timestamp for a pod.'),
  podReady: gauge('kube_pod_status_ready_time', 'Readiness achieved time in unix timestamp for a pod.'),
  requests: gauge('kube_pod_container_resource_requests', 'The amount of a resource that a container requests.'),
  limits: gauge('kube_pod_container_resource_limits', 'The amount of a resource that a container may use at most.'),
  initRequests: gauge(
    'kube_pod_init_container_resource_requests',
    'The amount of a resource that an init container requests.',
  ),
  initLimits: gauge(
    'kube_pod_init_container_resource_limits',
    'The amount of a resource that an init container may use at most.',
  ),
  requestsCpu: gauge('kube_pod_container_resource_requests_cpu_cores', 'Cores that a container requests.'),
  requestsMemory: gauge('kube_pod_container_resource_requests_memory_bytes', 'Memory that a container requests.'),
  gpusRequested: gauge('k8s.pod.gpu.requested', 'GPUs that a pod asks for, in any way, also parts of one.', '{gpu}'),
  gpusAllocated: gauge(
    'k8s.pod.gpu.allocated',
    'GPUs that a pod has: those it asks for, while it is on a node.',
    '{gpu}',
  ),
  gpuMemoryRequested: gauge('k8s.pod.gpu.memory.requested', 'GPU memory that a pod asks for instead of GPUs.', 'By'),
  nodeCreated: gauge('kube_node_created', 'Unix creation timestamp'),
  nodeLabels: gauge('kube_node_labels', 'Kubernetes labels converted to Prometheus labels.'),
  nodeUnschedulable: gauge('kube_node_spec_unschedulable', 'Whether a node can schedule new pods.'),
  nodeCondition: gauge('kube_node_status_condition', 'The condition of a cluster node.'),
  nodeAddresses: gauge('kube_node_status_addresses', 'The addresses of a node.'),
  nodeCapacity: gauge('kube_node_status_capacity', 'The capacity for different resources of a node.'),
  nodeAllocatable: gauge(
    'kube_node_status_allocatable',
    'The amount of a resource of a node that is available for scheduling.',
  ),
  resourceQuota: gauge('kube_resourcequota', 'Information about resource quota.'),
  gpuQuota: gauge('scheduling.queue.gpu.quota', 'GPUs that a queue may use; infinite if there is no limit.', '{gpu}'),
  cpuQuota: gauge('scheduling.queue.cpu.quota', 'Cores that a queue may use; infinite if there is no limit.', '{cpu}'),
  memoryQuota: gauge(
    'scheduling.queue.memory.quota',
    'Memory that a queue may use; infinite if there is no limit.',
    'By',
  ),
  claimDevice: gauge('scheduling.claim.device', 'A device that a claim has, and a pod that the claim is reserved for.'),
}

export function factsOf(object: FactObject, common: Pairs, add: AddSample): void {
  switch (object.kind) {
    case 'Quota':
      return quotaFacts(object as QuotaObject, common, add)
    case 'ResourceClaim':
      return claimFacts(object as Claim, common, add)
    case 'Node':
      return nodeFacts(object as KeptNode, common, add)
    default:
      return podFacts(object as KeptPod, common, add)
  }
}

function podFacts(pod: KeptPod, common: Pairs, add: AddSample): void {
  const { namespace, name, uid, node } = pod
  const identity: Pairs = [...common, ['namespace', namespace], ['pod', name], ['uid', uid]]
  const plain = labelsFrom(identity)
  add(M.podInfo, labelsFrom([...identity, ...podInfo(pod)]), 1)
  if (pod.owners.length === 0) add(M.podOwner, plain, 1)
  for (const owner of pod.owners) {
    const { kind, name: ownerName, controller } = owner
    const labels = labelsFrom([
      ...identity,
      ['owner_kind', kind],
      ['owner_name', ownerName],
      ['owner_is_controller', String(controller)],
    ])
    // Two owners of one name in different groups are one to kube-state-metrics.
    if (pod.owners.find(one => one.kind === kind && one.name === ownerName) === owner) add(M.podOwner, labels, 1)
  }
  if (pod.phase !== undefined) add(M.podPhase, labelsFrom([...identity, ['phase', pod.phase]]), 1)
  addTime(M.podCreated, plain, pod.createdMs, add)
  addTime(M.podStart, plain, pod.startedMs, add)
  addTime(M.podCompletion, plain, pod.finishedMs, add)
  addTime(M.podDeletion, plain, pod.deletingMs, add)
  addTime(M.podScheduled, plain, pod.scheduledMs, add)
  addTime(M.podInitialized, plain, pod.initializedMs, add)
  addTime(M.podReady, plain, pod.readyMs, add)
  addGpus(pod, plain, add)
  for (const container of pod.containers) {
    const itsLabels: Pairs = [...identity, ['container', container.name], ['node', node]]
    addAmounts(M.requests, itsLabels, container.requests, add)
    addAmounts(M.limits, itsLabels, container.limits, add)
    const [cpu, memory] = [container.requests.get('cpu'), container.requests.get('memory')]
    if (cpu === undefined && memory === undefined) continue
    const labels = labelsFrom(itsLabels)
    if (cpu !== undefined) add(M.requestsCpu, labels, cpu)
    if (memory !== undefined) add(M.requestsMemory, labels, memory)
  }
  for (const container of pod.initContainers) {
    const itsLabels: Pairs = [...identity, ['container', container.name], ['node', node]]
    addAmounts(M.initRequests, itsLabels, container.requests, add)
    addAmounts(M.initLimits, itsLabels, container.limits, add)
  }
}

const ASSIGNMENT = assignmentRules()
const MEBIBYTE = 2 ** 20

/** What is asked for in memory is told so: how many GPUs that is depends on the node. */
function addGpus(pod: KeptPod, labels: Labels, add: AddSample): void {
  const asked = isReservation(pod, ASSIGNMENT) ? undefined : askedGpus(pod, undefined, ASSIGNMENT)
  if (asked?.gpus !== undefined) {
    add(M.gpusRequested, labels, asked.gpus)
    if (isBound(pod)) add(M.gpusAllocated, labels, asked.gpus)
  }
  if (asked?.memoryMib !== undefined) add(M.gpuMemoryRequested, labels, asked.memoryMib * MEBIBYTE)
}

function podInfo({ hostIp, podIp, node, owners, priorityClass, hostNetwork }: KeptPod): Pairs {
  const creator = owners.find(owner => owner.controller)
  return [
    ['host_ip', hostIp],
    ['pod_ip', podIp],
    ['node', node],
    ['created_by_kind', creator?.kind ?? ''],
    ['created_by_name', creator?.name ?? ''],
    ['priority_class', priorityClass],
    ['host_network', String(hostNetwork)],
  ]
}

const STATUSES = ['true', 'false', 'unknown']

function nodeFacts(node: KeptNode, common: Pairs, add: AddSample): void {
  const identity: Pairs = [...common, ['node', node.name]]
  const plain = labelsFrom(identity)
  addTime(M.nodeCreated, plain, node.createdMs, add)
  add(M.nodeUnschedulable, plain, node.schedulable ? 0 : 1)
  add(M.nodeLabels, labelsFrom([...identity, ...convertedLabels(node.labels)]), 1)
  for (const [condition, status] of node.conditions) {
    for (const one of STATUSES) {
      const labels = labelsFrom([...identity, ['condition', condition], ['status', one]])
      add(M.nodeCondition, labels, Number(status.toLowerCase() === one))
    }
  }
  const addresses = new Set<Labels>()
  for (const [i, address] of node.addresses.entries()) {
    addresses.add(labelsFrom([...identity, ['type', node.addressTypes[i]!], ['address', address]]))
  }
  for (const labels of addresses) add(M.nodeAddresses, labels, 1)
  addAmounts(M.nodeCapacity, identity, node.capacity, add)
  addAmounts(M.nodeAllocatable, identity, node.allocatable, add)
}

/** Run:ai's projects and the queues made of them are told apart by their origin: what counts of them is decided in roll-ups. */
function quotaFacts({ origin, namespace, name, rows, hard, used }: QuotaObject, common: Pairs, add: AddSample): void {
  if (origin === 'resourcequota') {
    const identity: Pairs = [...common, ['namespace', namespace], ['resourcequota', name]]
    for (const [type, amounts] of [['hard', hard] as const, ['used', used] as const]) {
      for (const [resource, amount] of amounts ?? []) {
        add(M.resourceQuota, labelsFrom([...identity, ['resource', resource], ['type', type]]), amount)
      }
    }
    return
  }
  const seen = new Set<Labels>()
  for (const { name: queue, project = '', department = '', nodepool = '', ...amounts } of rows) {
    const labels = labelsFrom([
      ...common,
      ['origin', origin],
      ['queue', queue],
      ['project', project],
      ['department', department],
      ['nodepool', nodepool],
    ])
    // An object may name one queue twice: the first counts.
    if (seen.has(labels)) continue
    seen.add(labels)
    if (amounts.gpus !== undefined) add(M.gpuQuota, labels, amounts.gpus)
    if (amounts.cpuCores !== undefined) add(M.cpuQuota, labels, amounts.cpuCores)
    if (amounts.memoryBytes !== undefined) add(M.memoryQuota, labels, amounts.memoryBytes)
  }
}

function claimFacts({ namespace, name, pods, devices }: Claim, common: Pairs, add: AddSample): void {
  const seen = new Set<Labels>()
  for (const { name: pod, uid } of pods.length === 0 ? [{ name: '', uid: '' }] : pods) {
    for (const { driver, pool, device } of devices) {
      const identity: Pairs = [...common, ['namespace', namespace], ['claim', name], ['pod', pod], ['uid', uid]]
      const labels = labelsFrom([...identity, ['driver', driver], ['pool', pool], ['device', device]])
      if (!seen.has(labels)) add(M.claimDevice, labels, 1)
      seen.add(labels)
    }
  }
}

/** Of labels whose names end up the same the first counts. */
function convertedLabels(labels: Labels): Pairs {
  return labelPairs(labels)
    .map(([name, value]) => [`label_${metricSpelling(name)}`, value] as const)
    .toReversed()
}

function addTime(metric: Metric, labels: Labels, ms: number | undefined, add: AddSample): void {
  if (ms !== undefined) add(metric, labels, ms / 1000)
}

/** Two resources whose names end up the same are one: the first counts. */
function addAmounts(metric: Metric, identity: Pairs, amounts: ReadonlyMap<string, number>, add: AddSample): void {
  const seen = new Set<Labels>()
  for (const [resource, amount] of amounts) {
    const labels = labelsFrom([...identity, ['resource', nameOf(resource)], ['unit', unitOf(resource)]])
    if (!seen.has(labels)) add(metric, labels, amount)
    seen.add(labels)
  }
}

/** Of equal names one is kept. */
function nameOf(resource: string): string {
  return shareText(resource.replaceAll(/[^a-zA-Z0-9_]/g, '_'))
}

function unitOf(resource: string): string {
  if (resource === 'cpu') return 'core'
  const isBytes = /^(memory|(ephemeral-)?storage$|hugepages-|attachable-volumes-)/.test(resource)
  return isBytes ? 'byte' : 'integer'
}

function gauge(name: string, help: string, unit = ''): Metric {
  return metricFrom({ name, type: 'gauge', help, unit })
}
