/** What labels of rolled-up metrics can be: the attributes of GPUs, pods, workloads and what they belong to. */
import { lookUpOrNothing } from '../cluster/look-up.ts'
import type { ContributorKind, Level } from './output-schema.ts'

const OF_PODS = [
  'pod',
  'namespace',
  'pod_uid',
  'workload_id',
  'workload_name',
  'workload_kind',
  'workload_type',
  'project',
  'department',
  'user',
  'queue',
  'job_id',
  'job_name',
  'job_type',
  'image',
  'gpu_share',
] as const
/** Each workload has one of each, and no two workloads have the same. */
export const IDS_OF_WORKLOADS: ReadonlySet<string | undefined> = new Set(['workload_id', 'job_id'])

const OF_NODES = ['node', 'nodepool'] as const
const OF_GPUS = ['gpu', 'uuid', 'model'] as const
const OF_QUOTAS = ['gpu_quota', 'cpu_quota', 'memory_quota'] as const

export const ATTRIBUTES = [
  'cluster',
  ...OF_NODES,
  ...OF_GPUS,
  ...OF_PODS,
  ...OF_QUOTAS,
  'container',
  'ready',
  'schedulable',
  'reason',
] as const
export type Attribute = (typeof ATTRIBUTES)[number]

/** The attributes that tell the series of a level apart. Those of `series` are the labels of the series. */
export const LEVEL_KEYS: Readonly<Record<Level, readonly Attribute[]>> = {
  gpu: ['uuid'],
  pair: ['pod_uid', 'uuid'],
  pod: ['pod_uid'],
  workload: ['workload_id'],
  project: ['project'],
  department: ['department'],
  user: ['user'],
  queue: ['queue'],
  nodepool: ['nodepool'],
  node: ['node'],
  cluster: [],
  series: [],
}

/** Which levels each kind of contributor belongs to. */
export const LEVELS_OF: Readonly<Record<ContributorKind, readonly Level[]>> = {
  gpu: ['gpu', 'node', 'nodepool', 'cluster'],
  pair: ['pair', 'pod', 'workload', 'project', 'department', 'user', 'queue', 'nodepool', 'node', 'cluster'],
  pod: ['pod', 'workload', 'project', 'department', 'user', 'queue', 'nodepool', 'node', 'cluster'],
  container: ['pod', 'workload', 'project', 'department', 'user', 'queue', 'nodepool', 'node', 'cluster'],
  node: ['node', 'nodepool', 'cluster'],
  host: ['node', 'nodepool', 'cluster'],
  workload: ['workload', 'project', 'department', 'user', 'queue', 'cluster'],
  project_quota: ['project', 'department', 'cluster'],
  queue_quota: ['queue', 'project', 'department', 'nodepool', 'cluster'],
  rest: ['node', 'nodepool', 'cluster'],
  series: ['series'],
}

/** What labels of series that pass can be, with the names that `join_workload` and exporters have for it. */
export const JOINED: Readonly<Partial<Record<Attribute, string>>> = {
  pod: 'pod',
  namespace: 'namespace',
  pod_uid: 'pod_uuid',
  node: 'node',
  nodepool: 'nodepool',
  workload_id: 'workload_id',
  workload_name: 'workload_name',
  workload_kind: 'workload_kind',
  workload_type: 'workload_type',
  project: 'project',
  department: 'department',
  user: 'user',
  queue: 'queue',
}

/** What is known of contributors that are no readings. */
export const QUANTITIES: Readonly<Partial<Record<ContributorKind, readonly string[]>>> = {
  gpu: ['allocated', 'fractional', 'mig'],
  pod: ['gpus', 'gpu_memory', 'cpu_requests', 'memory_requests', 'cpu_limits', 'memory_limits', 'millicpus', 'age'],
  node: ['gpus'],
  project_quota: ['gpus', 'cpu_cores', 'memory_bytes'],
  queue_quota: ['gpus', 'cpu_cores', 'memory_bytes'],
  rest: ['gpus', 'gpu_memory'],
}

/** Kinds of which a number may be looked up, with the objects it may be written on. */
const LOOKED_UP: Readonly<Partial<Record<ContributorKind, readonly string[]>>> = {
  pod: ['pod', 'owner', 'namespace', 'node'],
  node: ['node'],
}

/** Whether a text is a look-up that a contributor of the kind can answer. */
export function isLookUpFor(kind: ContributorKind, text: string): boolean {
  const lookUp = lookUpOrNothing(text)
  return lookUp !== undefined && (LOOKED_UP[kind]?.includes(lookUp.object) ?? false)
}

/** Whether a text is something that a label can be: an attribute, a look-up, or a label of a series. */
export function isAttribute(text: string): boolean {
  return (
    (ATTRIBUTES as readonly string[]).includes(text) || /^label\..+/.test(text) || lookUpOrNothing(text) !== undefined
  )
}

/** Levels at which only some attributes are known; elsewhere what is known of the oldest pod is. */
const KNOWN_AT: Readonly<Partial<Record<Level, readonly string[]>>> = {
  gpu: ['cluster', 'node', ...OF_GPUS],
  node: ['cluster', ...OF_NODES, 'model', 'ready', 'schedulable'],
  nodepool: ['cluster', 'nodepool'],
  cluster: ['cluster'],
}

/** Kinds that are more than their level: a quota and what is left of a GPU have attributes of their own. */
const WITH_OWN_ATTRIBUTES: ReadonlySet<ContributorKind> = new Set(['project_quota', 'queue_quota', 'rest', 'series'])

/** What labels can be at a level, if not everything; a node can also be looked at. */
export function attributesAt(kind: ContributorKind, level: Level): readonly string[] | undefined {
  return WITH_OWN_ATTRIBUTES.has(kind) ? undefined : KNOWN_AT[level]
}

export function isKnownAt(kind: ContributorKind, level: Level, attribute: string): boolean {
  const known = attributesAt(kind, level)
  if (known === undefined || known.includes(attribute)) return true
  return level === 'node' && lookUpOrNothing(attribute)?.object === 'node'
}
