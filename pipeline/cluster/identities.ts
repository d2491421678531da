/**
 * What ids stand for: by the id of a workload, a job or a pod, or the name of a pod or node, all else that is known of it. `roll_up`
 * writes it, for who has to give one id for another, and only as long as somebody wants it.
 */
import type { Cluster } from '../component.ts'
import { EMPTY_LABELS, labelPairs, labelsFrom, type Labels } from '../model/labels.ts'
import type { Tracked } from '../model/tracked.ts'

/** Attributes by name, as a label set: equal ones are one object. */
export type KnownAs = Labels

/** What tells a thing apart. The name of a pod is that of its namespace, a slash, and its own. */
export type IdentityKind = 'workload_id' | 'job_id' | 'pod_uid' | 'pod' | 'node'

/** Something that has attributes. */
export type Described = { get(attribute: string): string | undefined }

export function identityKey(kind: IdentityKind, id: string): string {
  return `${kind} ${id}`
}

export function identities(cluster: Cluster): Tracked<KnownAs> {
  return cluster.table('identities')
}

/** From now on they are written. */
export function wantIdentities(cluster: Cluster): void {
  wanted(cluster).set('wanted', true)
}

function wanted(cluster: Cluster): Tracked<true> {
  return cluster.table('wanted identities')
}

export type Identified = {
  readonly workloads: Iterable<Described>
  readonly pods: Iterable<Described>
  readonly nodes: Iterable<Described>
  /** The workload of a pod: its job is that of the workload, which is one. */
  workloadOf(pod: Described): Described | undefined
}

const OF_WORKLOADS = [
  'workload_id',
  'workload_name',
  'workload_type',
  'job_id',
  'job_name',
  'project',
  'department',
  'user',
]
const OF_PODS = ['pod', 'namespace', 'pod_uid']
const OF_NODES = ['node', 'model', 'ready', 'schedulable', 'nodepool']

/** What was written, whoever did it: there may be several roll-ups, and others after a reload. */
const written = new WeakMap<Tracked<KnownAs>, ReadonlySet<string>>()

/** Writes what has changed, if somebody wants it; whether that is so. */
export function writeIdentities(cluster: Cluster, it: Identified): boolean {
  if (wanted(cluster).size === 0) return false
  writeInto(identities(cluster), it)
  return true
}

/** An id that two things have stands for neither. */
export function writeInto(table: Tracked<KnownAs>, it: Identified): void {
  const found = new Map<string, KnownAs | undefined>()
  const note = (kind: IdentityKind, id: string | undefined, known: KnownAs): void => {
    if (id === undefined || id === '') return
    const key = identityKey(kind, id)
    found.set(key, found.has(key) && found.get(key) !== known ? undefined : known)
  }
  const ofWorkloads = new Map<Described, KnownAs>()
  for (const workload of it.workloads) {
    const known = knownAs(workload, OF_WORKLOADS)
    ofWorkloads.set(workload, known)
    note('workload_id', workload.get('workload_id'), known)
    note('job_id', workload.get('job_id'), known)
  }
  for (const pod of it.pods) {
    const workload = it.workloadOf(pod)
    const known = podKnownAs(pod, (workload && ofWorkloads.get(workload)) ?? EMPTY_LABELS)
    note('pod_uid', pod.get('pod_uid'), known)
    note('pod', `${pod.get('namespace')}/${pod.get('pod')}`, known)
  }
  for (const node of it.nodes) note('node', node.get('node'), knownAs(node, OF_NODES))
  for (const key of written.get(table) ?? []) if (found.get(key) === undefined) table.delete(key)
  for (const [key, known] of found) if (known !== undefined) table.set(key, known)
  written.set(table, new Set(found.keys()))
}

/** There are many pods, and most have not changed. */
const pods = new WeakMap<Described, { readonly workload: KnownAs; readonly known: KnownAs }>()

function podKnownAs(pod: Described, workload: KnownAs): KnownAs {
  const before = pods.get(pod)
  if (before?.workload === workload) return before.known
  const known = labelsFrom([...labelPairs(workload), ...labelPairs(knownAs(pod, OF_PODS))])
  pods.set(pod, { workload, known })
  return known
}

function knownAs(thing: Described, attributes: readonly string[]): KnownAs {
  return labelsFrom(attributes.map(attribute => [attribute, thing.get(attribute) ?? '']))
}
