import assert from 'node:assert/strict'
import { computedAs } from '../../../pipeline/catalog/metric-words.ts'
import type { OutputMetric } from '../../../pipeline/catalog/output-schema.ts'

/** What a metric has that says nothing else. */
const PLAIN: OutputMetric = {
  metric: 'a',
  help: 'H.',
  type: 'gauge',
  unit: '',
  of: 'pair',
  level: 'workload',
  labels: [],
  aggregate: 'mean',
  from: 'hw.gpu.utilization',
  rate: false,
  complement: false,
  weight: 'device',
  where: [],
  match: {},
  only: {},
  per: [],
}

const cases: readonly (readonly [Partial<OutputMetric>, string])[] = [
  [{}, 'For each workload: the mean of `hw.gpu.utilization` over pairs of pod and GPU.'],
  [{ level: 'pair' }, 'For each pod and GPU: `hw.gpu.utilization`.'],
  [
    { from: ['a', 'b'], at_most: 100, unit: '%', weight: 'share' },
    'For each workload: the mean of `a`, else `b` (at most 100 % each) weighted by shares over pairs of pod and GPU.',
  ],
  [
    { of: 'pod', level: 'node', aggregate: 'sum', from: 'gpus', where: ['bound', 'unfinished'], zero_for: 'gpu_nodes' },
    'For each node: the sum of GPUs over pods that are bound to a node and not finished. Without any it is 0, for every node that has GPUs.',
  ],
  [
    {
      of: 'host',
      level: 'cluster',
      from: 'system.cpu.time',
      rate: true,
      complement: true,
      match: { mode: 'idle' },
      per: ['cpu'],
    },
    'For the cluster: 1 minus the mean of the rate per second of `system.cpu.time` where mode is idle for each cpu over hosts.',
  ],
  [
    { of: 'host', level: 'node', aggregate: 'ratio', from: 'x', minus: 'y', over: 'x' },
    'For each node: the sum of `x` minus `y` divided by the sum of `x`, over hosts.',
  ],
  [
    {
      of: 'container',
      level: 'pod',
      aggregate: 'sum',
      from: 'x',
      type: 'counter',
      only: { workload_type: 'inference' },
    },
    'For each pod of workload_type inference: the sum of `x` over containers; it goes on when one of them begins anew or is gone.',
  ],
  [
    { of: 'workload', aggregate: 'count', type: 'counter' },
    'For each set of labels: the number of workloads that there have been.',
  ],
  [
    { of: 'workload', aggregate: 'seconds_in_phase', phase: 'Pending' },
    'For each workload: how long it has waited for nodes.',
  ],
]

describe('how a metric is computed, in words', () => {
  for (const [changes, words] of cases) it(words, () => assert.equal(computedAs({ ...PLAIN, ...changes }), words))
})
