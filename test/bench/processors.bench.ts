/** What processors that keep state cost per sample, and when the set of series changes. */
import type { Processor, ProcessorDefinition } from '../../pipeline/component.ts'
import type { Batch, Source } from '../../pipeline/model/batch.ts'
import { EMPTY_LABELS, labelsFrom } from '../../pipeline/model/labels.ts'
import { layoutFromSeries } from '../../pipeline/model/layout.ts'
import { metricFrom } from '../../pipeline/model/series.ts'
import { cumulativeToDelta } from '../../processors/cumulative-to-delta.ts'
import { limitCardinality } from '../../processors/limit-cardinality.ts'
import { testHost } from '../support/test-host.ts'
import { measure, print } from './measure.ts'

const TARGETS = 100
const GPUS = 8
const FIELDS = 25
const SAMPLES = TARGETS * GPUS * FIELDS

const source = (name: string): Source => ({ component: 'bench', name, labels: EMPTY_LABELS })
const batches = Array.from({ length: TARGETS }, (_, target) => batchOf(source(`${target}`), target, GPUS))

function batchOf(from: Source, target: number, gpus: number): Batch {
  const series = Array.from({ length: gpus * FIELDS }, (_, i) => ({
    metric: metricFrom({ name: `field_${i % FIELDS}`, type: i % 2 === 0 ? 'counter' : 'gauge' }),
    labels: labelsFrom([
      ['gpu', `${Math.floor(i / FIELDS)}`],
      ['instance', `${target}`],
    ]),
  }))
  const layout = layoutFromSeries(series)
  return { source: from, timeMs: 0, outcome: 'ok', layout, values: Float64Array.from(series, (_, i) => i) }
}

function limited(perMetric: number, action: 'drop' | 'collapse'): Processor {
  const config = { per_metric: perMetric, metrics: {}, total: 0, action, overflow_label: 'overflow' }
  return (limitCardinality as ProcessorDefinition).create(config, testHost(), () => {})
}

const deltas = (cumulativeToDelta as ProcessorDefinition).create(
  { match: [], max_staleness: '1h', initial_value: 'keep' },
  testHost(),
  () => {},
)
await deltas.start?.()

const subjects: Record<string, Processor> = {
  'limit_cardinality below its limits': limited(1_000_000, 'drop'),
  'limit_cardinality that drops half': limited((TARGETS * GPUS) / 2, 'drop'),
  'limit_cardinality that collapses half': limited((TARGETS * GPUS) / 2, 'collapse'),
  cumulative_to_delta: deltas,
}
const times = measure(
  SAMPLES,
  Object.fromEntries(
    Object.entries(subjects).map(([name, processor]) => [name, () => batches.map(batch => processor.consume(batch))]),
  ),
)
for (const [name, nanoseconds] of times) print(name, nanoseconds, 'ns/sample')

const large = batchOf(source('large'), 0, 10_000)
const first = measure(large.values.length, {
  'limit_cardinality, a new target of 250,000 series, below its limits': () => limited(10_000, 'drop').consume(large),
  'limit_cardinality, the same, half of it over a limit': () => limited(5000, 'drop').consume(large),
})
for (const [name, nanoseconds] of first) print(name, nanoseconds, 'ns/series')
await deltas.stop?.(0)
