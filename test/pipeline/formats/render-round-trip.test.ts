/** Parsing what was rendered gives what was rendered, and two outside judges read it as we mean it. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { PrometheusSerializer } from '@opentelemetry/exporter-prometheus'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { AggregationTemporality, DataPointType, type MetricData } from '@opentelemetry/sdk-metrics'
import fc from 'fast-check'
import { forEachSample, type Batch } from '../../../pipeline/model/batch.ts'
import { labelPairs, labelsFrom } from '../../../pipeline/model/labels.ts'
import { labelsAt, layoutFromSeries, metricAt } from '../../../pipeline/model/layout.ts'
import { metricFrom, type Metric, type Series } from '../../../pipeline/model/series.ts'
import { renderText } from '../../../pipeline/formats/render-text.ts'
import { batchFromText, createSource } from '../../support/batch-from-text.ts'
import { programOrSkip } from '../../support/programs.ts'
import { textFromBatch } from '../../support/text-from-batch.ts'

const source = createSource()
// Readers refuse NUL, and what is stored never has it.
const text = fc
  .oneof(fc.string({ unit: 'binary', maxLength: 8 }), fc.constantFrom('', '\\', '"', '\n', '}', 'a b', '😱'))
  .map(one => one.replaceAll('\0', ''))
const name = fc.oneof(
  fc.constantFrom('a', 'b_total', 'c:d', 'e.f', 'g h', '花火', 'i"j\\k\nl'),
  fc.stringMatching(/^[a-z_:][a-z0-9_:]{0,6}$/),
)
const labels = fc
  .dictionary(
    fc.oneof(fc.constantFrom('x', 'y.z', 'constructor', '__proto__'), fc.stringMatching(/^[a-z]{1,3}$/)),
    text,
  )
  .map(pairs => labelsFrom(Object.entries(pairs)))
const metric: fc.Arbitrary<Metric> = fc
  .record({ name, type: fc.constantFrom('gauge', 'counter', 'unknown'), help: text })
  .map(description => metricFrom({ ...description, help: description.help.replaceAll('\r', '').trim() }))
const sample = fc.record({ metric, labels, value: fc.double(), time: fc.oneof(fc.constant(NaN), fc.integer()) })

/** Of samples of one series the first counts, and of descriptions of one name. */
const batch = fc.array(sample, { maxLength: 30 }).map((samples): Batch => {
  const metrics = new Map<string, Metric>()
  const byKey = new Map<string, Series & { value: number; time: number }>()
  for (const one of samples) {
    if (!metrics.has(one.metric.name)) metrics.set(one.metric.name, one.metric)
    const key = JSON.stringify([one.metric.name, labelPairs(one.labels)])
    if (!byKey.has(key)) byKey.set(key, { ...one, metric: metrics.get(one.metric.name)! })
  }
  const kept = [...byKey.values()]
  return {
    source,
    timeMs: 1_700_000_000_000,
    outcome: 'ok',
    layout: layoutFromSeries(kept),
    values: Float64Array.from(kept, one => one.value),
    times: Float64Array.from(kept, one => one.time),
  }
})

describe('rendered text', () => {
  for (const syntax of ['text', 'openmetrics'] as const) {
    it(`reads back as what it was made from, as ${syntax}`, () => {
      fc.assert(
        fc.property(batch, one => {
          const rendered = renderText([one], { syntax, escaping: 'allow-utf-8', timestamps: true })
          const times = one.times!.map(time => (Number.isNaN(time) ? one.timeMs : time))
          const back = batchFromText(rendered, { dialect: syntax })
          assert.equal(textFromBatch(back), textFromBatch({ ...one, times }))
          if (syntax === 'text') assert.deepEqual(descriptions(back), descriptions(one))
        }),
        { numRuns: 300 },
      )
    })
  }

  it('is valid for promtool, whatever the names are', function () {
    const promtool = programOrSkip(this, 'promtool')
    const [everything] = fc.sample(fc.array(batch, { minLength: 60, maxLength: 60 }), { numRuns: 1, seed: 42 })
    const distributions = batchFromText(
      `# HELP h help\n# TYPE h histogram\nh_count 3\nh_sum 1\nh_bucket{le="+Inf"} 3\nh_bucket{le="1"} 2\n`,
      { source: createSource('b') },
    )
    const batches = [...everything!.map((one, i) => ({ ...one, source: createSource(`s${i}`) })), distributions]
    const { status, stderr } = spawnSync(promtool, ['check', 'metrics'], { input: renderText(batches) })
    // 3 is for complaints about names and missing help texts, which we pass on; 1 is for text that cannot be read.
    assert.notEqual(status, 1, stderr.toString())
    const complaints = stderr
      .toString()
      .split('\n')
      .filter(line => line !== '' && !STYLE.test(line))
    assert.deepEqual(complaints, [])
  })

  it('says what the OpenTelemetry serializer says, on what that can carry', () => {
    const ours = batchFromText(`# HELP load Load of a GPU.
      # TYPE load gauge
      load{gpu="0",model="H100 \\"x\\""} 0.29
      load{gpu="1"} 1e+21
      load{gpu="2"} NaN
      load{gpu="3"} -Inf
      # HELP energy_total Energy.
      # TYPE energy_total counter
      energy_total{gpu="0"} 123456789012
    `)
    const serializer = new PrometheusSerializer('', false, undefined, true, true)
    const theirs = serializer.serialize({
      resource: resourceFromAttributes({}),
      scopeMetrics: [{ scope: { name: 'test' }, metrics: asMetricData(ours) }],
    })
    assert.equal(textFromBatch(batchFromText(renderText([ours]))), textFromBatch(batchFromText(theirs)))
    assert.deepEqual(descriptions(batchFromText(renderText([ours]))), descriptions(batchFromText(theirs)))
  })
})

const STYLE =
  /no help text|non-histogram and non-summary|counter metrics should have "_total"|should not|metric names should|reserved/

function descriptions({ layout }: Batch): string[] {
  return layout.metrics.map(({ name: called, type, help }) => JSON.stringify([called, type, help])).sort()
}

function asMetricData(one: Batch): MetricData[] {
  const points = new Map<Metric, { attributes: Record<string, string>; value: number }[]>()
  forEachSample(one, (column, value) => {
    const key = metricAt(one.layout, column)
    const attributes = Object.fromEntries(labelPairs(labelsAt(one.layout, column)))
    points.set(key, [...(points.get(key) ?? []), { attributes, value }])
  })
  return Array.from(points, ([{ name: called, help, type }, dataPoints]): MetricData => {
    const common = {
      descriptor: { name: called, description: help, unit: '', valueType: 1 },
      aggregationTemporality: AggregationTemporality.CUMULATIVE,
      dataPoints: dataPoints.map(point => ({
        ...point,
        startTime: [0, 0] as [number, number],
        endTime: [0, 0] as [number, number],
      })),
    }
    return type === 'counter'
      ? { ...common, dataPointType: DataPointType.SUM, isMonotonic: true }
      : { ...common, dataPointType: DataPointType.GAUGE }
  })
}
