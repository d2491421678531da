/** What only objects of a scheduler tell of a pod: its queue, where no label does, and the department of its project or queue. */
import { getLabel } from '../model/labels.ts'
import { podGroupKey, type Admission } from './admissions.ts'
import type { PodReader } from './find-pod.ts'
import type { Decided, Identity, IdentityLabel } from './identity.ts'
import type { Pod } from './objects.ts'
import type { OwnerChain } from './owner-chain.ts'
import { quotaKey, type Quota, type QuotaOrigin } from './quotas.ts'

/** Where is looked last, in words: for those who wonder why a label is missing. */
export const LAST_LOOK_UPS: Readonly<Partial<Record<IdentityLabel, string>>> = {
  department: 'the quota of its project or queue',
  queue: 'its PodGroup or Workload',
}

const POD_GROUP = 'pod-group-name'

/** While an owner is not known yet, labels of it may still come, and nothing is decided after them. */
export function withScheduler(reader: PodReader, pod: Pod, chain: OwnerChain, identity: Identity): Identity {
  if (chain.end === 'waiting' || (identity.queue !== undefined && identity.department !== undefined)) return identity
  const admission = admissionOf(reader, pod, chain)
  const queue = identity.queue ?? groupQueue(reader, pod) ?? admittedQueue(admission)
  const known = queue === undefined ? identity : { ...identity, queue }
  const department = known.department ?? departmentOf(reader, pod, known, admission)
  return department === undefined ? known : { ...known, department }
}

function groupQueue({ look, tables }: PodReader, pod: Pod): Decided | undefined {
  const name = getLabel(pod.annotations, POD_GROUP)
  if (name === undefined || look(tables.readKinds.entry('PodGroup.scheduling.run.ai')) === undefined) return undefined
  const group = look(tables.podGroups.entry(podGroupKey(pod.namespace, name)))
  return group && { value: group.queue, because: `the PodGroup ${name}` }
}

function admittedQueue(admission: Admission | undefined): Decided | undefined {
  if (admission === undefined || admission.queue === '') return undefined
  return { value: admission.queue, because: 'the Workload of Kueue for its job' }
}

/** The job may be any of its owners, or the pod itself. */
function admissionOf({ look, tables }: PodReader, pod: Pod, { steps }: OwnerChain): Admission | undefined {
  if (look(tables.readKinds.entry('Workload.kueue.x-k8s.io')) === undefined) return undefined
  for (const uid of [pod.uid, ...steps.map(({ reference }) => reference.uid)]) {
    const admission = uid === '' ? undefined : look(tables.admissions.entry(uid))
    if (admission !== undefined) return admission
  }
  return undefined
}

/** In the order in which quotas count. */
function departmentOf(
  reader: PodReader,
  { namespace }: Pod,
  { project, queue, nodepool }: Identity,
  admission: Admission | undefined,
): Decided | undefined {
  const names = [project?.value, queue?.value, nodepool && project && `${project.value}-${nodepool.value}`]
  return (
    departmentAt(reader, 'project.run.ai', '', names.slice(0, 1)) ??
    departmentAt(reader, 'queue.scheduling.run.ai', '', [queue?.value, ...names]) ??
    departmentAt(reader, 'clusterqueue.kueue.x-k8s.io', '', [
      admission?.clusterQueue,
      quotaAt(reader, 'localqueue.kueue.x-k8s.io', namespace, queue?.value)?.parent,
    ])
  )
}

function departmentAt(
  reader: PodReader,
  origin: QuotaOrigin,
  namespace: string,
  names: readonly (string | undefined)[],
): Decided | undefined {
  for (const name of names) {
    const value = quotaAt(reader, origin, namespace, name)?.department
    if (value !== undefined) return { value, because: `the quota ${name} (${origin})` }
  }
  return undefined
}

/** The first row: of several, all have one department. */
function quotaAt(
  { look, tables }: PodReader,
  origin: QuotaOrigin,
  namespace: string,
  name: string | undefined,
): Quota | undefined {
  // Where there is no such kind, nothing is kept for each pod that has none.
  if (name === undefined || name === '' || look(tables.readKinds.entry(KINDS[origin])) === undefined) return undefined
  return look(tables.quotas.entry(quotaKey(origin, namespace, name)))?.rows[0]
}

const KINDS: Readonly<Record<QuotaOrigin, string>> = {
  'project.run.ai': 'Project.run.ai',
  'department.scheduling.run.ai': 'Department.scheduling.run.ai',
  'queue.scheduling.run.ai': 'Queue.scheduling.run.ai',
  'clusterqueue.kueue.x-k8s.io': 'ClusterQueue.kueue.x-k8s.io',
  'localqueue.kueue.x-k8s.io': 'LocalQueue.kueue.x-k8s.io',
  resourcequota: 'ResourceQuota',
}
