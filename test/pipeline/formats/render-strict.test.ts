/** Whatever sources say, and however they contradict each other, OpenMetrics is written to the letter: our own strict reader judges. */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { createOpenMetricsCheck } from '../../../pipeline/formats/openmetrics-check.ts'
import { renderText } from '../../../pipeline/formats/render-text.ts'
import type { Batch } from '../../../pipeline/model/batch.ts'
import { labelPairs, labelsFrom, withLabels } from '../../../pipeline/model/labels.ts'
import { layoutFromSeries } from '../../../pipeline/model/layout.ts'
import { metricFrom, type Metric, type Series } from '../../../pipeline/model/series.ts'
import { createSource } from '../../support/batch-from-text.ts'

/** Of one stem there may be a gauge `a`, a counter `a_total` and an `a_created`, as scraped text has it. */
const name = fc
  .tuple(
    fc.constantFrom('a', 'b', 'c.d', 'e_seconds'),
    fc.constantFrom('', '', '_total', '_info', '_created', '_bucket', '_sum', '_count', '_gsum', '_gcount'),
  )
  .map(([stem, suffix]) => stem + suffix)
const text = fc.constantFrom('', 'x', 'y\\\n"')
const unit = fc.constantFrom('', 'seconds', 'By', '1')
const labels = fc
  .dictionary(fc.constantFrom('x', 'y.z', 'y_z'), fc.constantFrom('1', '2', '\\\n"'))
  .map(pairs => labelsFrom(Object.entries(pairs)))
const metric = fc
  .record({
    name,
    type: fc.constantFrom('gauge', 'counter', 'unknown', 'info', 'stateset'),
    help: text,
    unit,
    isOtel: fc.boolean(),
  })
  .map(({ isOtel, ...rest }) => metricFrom({ ...rest, ...(isOtel && !/info|stateset/.test(rest.type) && { isOtel }) }))
const single = fc.record({ metric, labels }).map(one => {
  const state = one.metric.type === 'stateset' ? [[one.metric.name, 'on'] as const] : []
  return [{ metric: one.metric, labels: labelsFrom([...labelPairs(one.labels), ...state]) }]
})

const TYPES = { h: 'histogram', i: 'summary', 'j.k': 'gaugehistogram', l_seconds: 'histogram' } as const

const distribution = fc
  .record({ family: fc.constantFrom('h', 'i', 'j.k', 'l_seconds'), labels })
  .map(({ family, labels: own }): Series[] => {
    const type = TYPES[family]
    const part = (suffix: string, more: readonly (readonly [string, string])[] = []): Series => ({
      metric: metricFrom({ name: family + suffix, family, type, help: 'Help.', unit: 'seconds' }),
      labels: labelsFrom([...labelPairs(own), ...more]),
    })
    const created: Series = {
      metric: metricFrom({ name: `${family}_created`, type: 'gauge', help: 'Created.' }),
      labels: own,
    }
    if (type === 'summary') return [part('_sum'), part('', [['quantile', '0.5']]), part('_count'), created]
    const g = type === 'histogram' ? '' : 'g'
    const buckets = ['+Inf', '1'].map(le => part('_bucket', [['le', le]]))
    return [...(g === '' ? [created] : []), part(`_${g}count`), ...buckets, part(`_${g}sum`)]
  })

const sources = fc
  .array(fc.array(fc.oneof(single, distribution), { maxLength: 12 }), { maxLength: 4 })
  .map(all => all.map((groups, i) => batchOf(groups.flat(), i)))

describe('OpenMetrics to the letter', () => {
  for (const escaping of ['allow-utf-8', 'underscores'] as const) {
    for (const timestamps of [false, true]) {
      it(`is what is written with ${escaping}${timestamps ? ' and timestamps' : ''}`, () => {
        fc.assert(
          fc.property(sources, fc.constantFrom('', 'our'), (batches, namespace) => {
            const rendered = renderText(batches, { syntax: 'openmetrics', escaping, timestamps, namespace })
            assert.equal(firstProblem(rendered), undefined, rendered)
          }),
          { numRuns: 500 },
        )
      })
    }
  }
})

function firstProblem(rendered: string): string | undefined {
  const check = createOpenMetricsCheck()
  for (const line of rendered.split('\n').slice(0, -1)) {
    const problem = check.line(line)
    if (problem !== undefined) return `${problem}: ${line}`
  }
  return check.end()
}

/** No series twice; all values are 1, which can stand anywhere. */
function batchOf(all: readonly Series[], source: number): Batch {
  const seen = new Map<string, Series>()
  const metrics = new Map<string, Metric>()
  for (const { metric: described, labels: given } of all) {
    // When something was created nobody says of the counter of somebody else.
    const own =
      described.name.endsWith('_created') && described.help !== 'Created.'
        ? withLabels(given, [['source', String(source)]])
        : given
    const known = metrics.get(described.name) ?? described
    metrics.set(described.name, known)
    const key = `${described.name} ${JSON.stringify(labelPairs(own))}`
    if (known === described && !seen.has(key)) seen.set(key, { metric: described, labels: own })
  }
  const series = [...seen.values()]
  return {
    source: createSource(`source ${source}`),
    timeMs: 1_700_000_000_123,
    outcome: 'ok',
    layout: layoutFromSeries(series),
    values: new Float64Array(series.length).fill(1),
  }
}
