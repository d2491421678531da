/** How a metric of an output catalog is computed, in words, from what its entry says. */
import { QUANTITIES } from './attributes.ts'
import type { Aggregate, Condition, ContributorKind, Level, OutputMetric } from './output-schema.ts'
import { listOf } from './resolve-output.ts'

const CONTRIBUTORS: Readonly<Record<ContributorKind, string>> = {
  gpu: 'GPUs',
  pair: 'pairs of pod and GPU',
  pod: 'pods',
  container: 'containers',
  node: 'nodes',
  host: 'hosts',
  workload: 'workloads',
  project_quota: 'quotas of projects',
  queue_quota: 'quotas of queues',
  rest: 'what is left of GPUs',
  series: 'series',
}

const LEVELS: Readonly<Record<Level, string>> = {
  gpu: 'each GPU',
  pair: 'each pod and GPU',
  pod: 'each pod',
  workload: 'each workload',
  project: 'each project',
  department: 'each department',
  user: 'each user',
  queue: 'each queue',
  nodepool: 'each node pool',
  node: 'each node',
  cluster: 'the cluster',
  series: 'each set of labels',
}

const CONDITIONS: Readonly<Record<Condition, string>> = {
  bound: 'bound to a node',
  unfinished: 'not finished',
  active: 'Pending, Running or Unknown',
  pending: 'Pending',
  running: 'Running',
  gpu: 'asking for GPUs',
}

const ZEROS = { gpu_nodes: 'node that has GPUs', workloads: 'workload that has pods' } as const

/** What is known of contributors, beside readings. */
const QUANTITY_WORDS: Readonly<Record<string, string>> = {
  gpus: 'GPUs',
  gpu_memory: 'GPU memory',
  cpu_requests: 'CPU requests',
  memory_requests: 'memory requests',
  cpu_limits: 'CPU limits',
  memory_limits: 'memory limits',
  millicpus: 'CPU requests',
  cpu_cores: 'CPU cores',
  memory_bytes: 'memory',
  age: 'age',
  allocated: 'whether it is allocated (0 or 1)',
  fractional: 'whether a pod that asks for a part of a GPU has it (0 or 1)',
  mig: 'whether it is cut by MIG (0 or 1)',
}

const RESULTS: Readonly<Record<Aggregate, (metric: OutputMetric, value: string, over: string) => string>> = {
  sum: (_, value, over) => `the sum of ${value} over ${over}`,
  mean: (_, value, over) => `the mean of ${value} over ${over}`,
  min: (_, value, over) => `the smallest ${value} of ${over}`,
  max: (_, value, over) => `the largest ${value} of ${over}`,
  count: (_, __, over) => `the number of ${over}`,
  any: (_, value, over) => `1 if ${value} is above 0 for any of ${over}, else 0`,
  ratio: (metric, value, over) =>
    `the sum of ${value} divided by the sum of ${firstOf(metric, metric.over)}, over ${over}`,
  info: () => 'always 1',
  last_active: (_, value, over) => `when ${value} of ${over} was last above \`active_above\``,
  idle_seconds: (_, value) => `how long ${value} has not been above \`active_above\``,
  seconds_in_phase: ({ phase }) =>
    phase === 'Pending' ? 'how long it has waited for nodes' : 'how long any of its pods has run',
}

/** What a counter does that is made of others. */
const TOTALS: Readonly<Partial<Record<Aggregate, string>>> = {
  sum: '; it goes on when one of them begins anew or is gone',
  count: ' that there have been',
}

/** Where a contributor is what the series are for there is nothing to aggregate. */
const OF_ITSELF: Readonly<Partial<Record<Aggregate, (value: string) => string>>> = {
  sum: value => value,
  mean: value => value,
  min: value => value,
  max: value => value,
  any: value => value,
  last_active: value => `when ${value} was last above \`active_above\``,
}

/** One or two sentences. */
export function computedAs(metric: OutputMetric): string {
  const { of: kind, level, aggregate, complement, type, zero_for: zeroFor } = metric
  const conditions = conditionsOf(metric)
  const alone = kind === level ? OF_ITSELF[aggregate]?.(valueOf(metric)) : undefined
  const result =
    alone === undefined
      ? RESULTS[aggregate](metric, valueOf(metric), `${CONTRIBUTORS[kind]}${conditions}`)
      : `${alone}${conditions === '' ? '' : `, of ${CONTRIBUTORS[kind]}${conditions}`}`
  const total = type === 'counter' ? (TOTALS[aggregate] ?? '') : ''
  // Contributors are counted where several have the same labels.
  const place = kind === level && aggregate === 'count' ? LEVELS.series : LEVELS[level]
  const sentences = [`For ${place}${onlyOf(metric)}: ${complement ? '1 minus ' : ''}${result}${total}.`]
  if (zeroFor !== undefined) sentences.push(`Without any it is 0, for every ${ZEROS[zeroFor]}.`)
  return sentences.join(' ')
}

function valueOf(metric: OutputMetric): string {
  const { rate, plus, minus, match, per, at_most: atMost, weight, unit } = metric
  const terms = [firstOf(metric, metric.from)]
  if (plus !== undefined) terms.push(`plus ${wordOf(metric, plus)}`)
  if (minus !== undefined) terms.push(`minus ${wordOf(metric, minus)}`)
  const wanted = Object.entries(match).map(([label, values]) => `${label} is ${listOf(values).join(' or ')}`)
  return [
    ...(rate ? ['the rate per second of'] : []),
    ...terms,
    ...(wanted.length > 0 ? [`where ${wanted.join(' and ')}`] : []),
    ...(per.length > 0 ? [`for each ${per.join(', ')}`] : []),
    ...(atMost === undefined ? [] : [`(at most ${atMost}${unit === '%' ? ' %' : ''} each)`]),
    ...(weight === 'share' ? ['weighted by shares'] : []),
  ].join(' ')
}

function firstOf(metric: OutputMetric, names: OutputMetric['from']): string {
  return listOf(names)
    .map(name => wordOf(metric, name))
    .join(', else ')
}

function wordOf({ of: kind }: OutputMetric, name: string): string {
  return QUANTITIES[kind]?.includes(name) === true ? QUANTITY_WORDS[name]! : `\`${name}\``
}

function conditionsOf({ of: kind, where }: OutputMetric): string {
  const of = kind === 'container' ? ' of pods' : ''
  return where.length === 0 ? '' : `${of} that are ${where.map(condition => CONDITIONS[condition]).join(' and ')}`
}

function onlyOf({ only }: OutputMetric): string {
  const wanted = Object.entries(only).map(([attribute, values]) => `${attribute} ${listOf(values).join(' or ')}`)
  return wanted.length === 0 ? '' : ` of ${wanted.join(' and ')}`
}
