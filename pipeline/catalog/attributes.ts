/** What labels of rolled-up metrics can be: the attributes of GPUs, pods, workloads and what they belong to. */
import { parseLookUp } from '../cluster/look-up.ts'
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
] as const
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
  workload: ['workload'],
  project_quota: ['project', 'department', 'cluster'],
  queue_quota: ['queue', 'project', 'department', 'nodepool', 'cluster'],
  rest: ['node', 'nodepool', 'cluster'],
  series: ['series'],
}

/** What is known of contributors that are no readings. */
export const QUANTITIES: Readonly<Partial<Record<ContributorKind, readonly string[]>>> = {
  gpu: ['allocated', 'mig'],
  pod: ['gpus', 'gpu_memory', 'cpu_requests', 'memory_requests', 'cpu_limits', 'memory_limits', 'millicpus'],
  node: ['gpus'],
  project_quota: ['gpus', 'cpu_cores', 'memory_bytes'],
  queue_quota: ['gpus', 'cpu_cores', 'memory_bytes'],
  rest: ['gpus', 'gpu_memory'],
}

/** Why a text is no attribute; undefined if it is one. */
export function attributeMistake(text: string): string | undefined {
  if ((ATTRIBUTES as readonly string[]).includes(text) || /^label\..+/.test(text)) return undefined
  try {
    parseLookUp(text)
    return undefined
  } catch {
    return `"${text}" is nothing that a label can be: there are ${ATTRIBUTES.join(', ')}, look-ups such as namespace.label.team, and label.NAME`
  }
}
