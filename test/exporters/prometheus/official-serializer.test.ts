/** The official exporter is the judge: the same OpenTelemetry data, given to its serializer and to ours, says the same. */
import assert from 'node:assert/strict'
import { PrometheusSerializer } from '@opentelemetry/exporter-prometheus'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { AggregationTemporality, DataPointType, type MetricData } from '@opentelemetry/sdk-metrics'
import fc from 'fast-check'
import { renderText } from '../../../pipeline/formats/render-text.ts'
import type { Batch } from '../../../pipeline/model/batch.ts'
import { batchFromText } from '../../support/batch-from-text.ts'
import { pushedBatch, pushedSource, type PushedPoint } from '../../support/pushed-batch.ts'
import { textFromBatch } from '../../support/text-from-batch.ts'

type Kind = 'counter' | 'up-down counter' | 'gauge' | 'histogram'
type Point = { attributes: Record<string, string>; values: number[]; timeMs: number }
type Instrument = { name: string; help: string; kind: Kind; points: Point[] }
type Scope = { name: string; version: string; instruments: Instrument[] }

/** What the official one can carry: no colons, no units, no names that become one, help texts, and no doubled underscores at ends. */
const word = fc.stringMatching(/^[a-zA-Z][a-zA-Z0-9]{0,4}$/)
const name = fc
  .tuple(word, fc.array(fc.tuple(fc.constantFrom('.', '_', '-', '..', '/', '__'), word), { maxLength: 3 }))
  .map(([first, rest]) => first + rest.flat().join(''))
const text = fc.string({ unit: fc.constantFrom('a', 'ü', '花', '"', '\\', '\n', '{', '}', ',', ' '), maxLength: 6 })
const attributes = fc
  .uniqueArray(fc.tuple(name, text), { maxLength: 3, selector: ([key]) => plain(key) })
  .map(pairs => Object.fromEntries(pairs.filter(([key]) => !['le', 'otel_scope_name'].includes(plain(key)))))
const point = fc.record({
  attributes,
  // That has no negative zero.
  values: fc.array(
    fc.oneof(
      fc.integer(),
      fc.double().map(value => (value === 0 ? 0 : value)),
    ),
    { minLength: 4, maxLength: 4 },
  ),
  timeMs: fc.integer({ min: 1, max: 4e12 }),
})
const instrument: fc.Arbitrary<Instrument> = fc.record({
  name,
  help: text.map(one => `About ${one}.`),
  kind: fc.constantFrom('counter', 'up-down counter', 'gauge', 'histogram'),
  points: fc.uniqueArray(point, { minLength: 1, maxLength: 4, selector: one => labelKey(one.attributes) }),
})
const scopes = fc
  .uniqueArray(instrument, { maxLength: 8, selector: one => plain(one.name).replace(/_(total|bucket|sum|count)$/, '') })
  .chain(instruments =>
    fc.uniqueArray(
      fc.record({
        name: word,
        version: fc.constantFrom('', '1.0.0'),
        instruments: fc.subarray(instruments),
      }),
      { maxLength: 3, selector: scope => scope.name },
    ),
  )

const BOUNDS = [0.5, 10, 1e21]

describe('beside the official serializer', () => {
  for (const timestamps of [false, true]) {
    it(`says the same of the same data, ${timestamps ? 'with' : 'without'} timestamps`, () => {
      fc.assert(
        fc.property(scopes, all => {
          const official = new PrometheusSerializer('our', timestamps, undefined, true, false)
          const theirs = official.serialize({
            resource: resourceFromAttributes({}),
            scopeMetrics: all.map(({ name: scope, version, instruments }) => ({
              scope: { name: scope, version },
              metrics: instruments.map(metricData),
            })),
          })
          const ours = renderText(all.map(batchOf), { namespace: 'our', timestamps })
          const [left, right] = [batchFromText(ours), batchFromText(theirs)]
          assert.equal(textFromBatch(left), textFromBatch(right))
          assert.deepEqual(descriptions(left), descriptions(right))
        }),
        { numRuns: 300 },
      )
    })
  }

  it('has the attributes of the resource that are asked for, as that has', () => {
    const resource = { 'k8s.pod.name': 'a', 'host.name': 'b' }
    const one: Instrument = {
      name: 'gpu.load',
      help: 'Load.',
      kind: 'gauge',
      points: [{ attributes: { gpu: '0' }, values: [0.25], timeMs: 1 }],
    }
    const official = new PrometheusSerializer(undefined, false, /^k8s/, true, true)
    const theirs = official.serialize({
      resource: resourceFromAttributes(resource),
      scopeMetrics: [{ scope: { name: 'x' }, metrics: [metricData(one)] }],
    })
    const source = pushedSource(resource)
    const batch = pushedBatch(source, pointsOf(one, {}))
    const ours = renderText([batch], { addedLabels: batchFromText('x{k8s_pod_name="a"} 1\n').layout.labels[0]! })
    assert.equal(textFromBatch(batchFromText(ours)), textFromBatch(batchFromText(theirs)))
  })
})

function plain(key: string): string {
  return key.replace(/[^a-zA-Z0-9]+/g, '_')
}

function labelKey(pairs: Record<string, string>): string {
  const texts = Object.entries(pairs).flatMap(([key, value]) => (value === '' ? [] : `${plain(key)}=${value}`))
  return JSON.stringify(texts.toSorted((a, b) => (a < b ? -1 : 1)))
}

/** Whole numbers of counts, and what the buckets sum up to. */
function histogramOf(values: readonly number[]) {
  const counts = values.map(value => Math.abs(Math.trunc(value % 1000)) || 0)
  const count = counts.reduce((sum, one) => sum + one, 0)
  const sum = values[0]!
  return { counts, count, sum }
}

function metricData({ name: called, help, kind, points }: Instrument): MetricData {
  const common = {
    descriptor: { name: called, description: help, unit: '', valueType: 1 },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
  }
  const times = (timeMs: number) => ({
    startTime: [0, 0] as [number, number],
    endTime: [Math.floor(timeMs / 1000), (timeMs % 1000) * 1e6] as [number, number],
  })
  if (kind === 'histogram') {
    return {
      ...common,
      dataPointType: DataPointType.HISTOGRAM,
      dataPoints: points.map(one => {
        const { counts, count, sum } = histogramOf(one.values)
        return {
          attributes: one.attributes,
          ...times(one.timeMs),
          value: { count, sum, buckets: { boundaries: BOUNDS, counts } },
        }
      }),
    }
  }
  const dataPoints = points.map(one => ({ attributes: one.attributes, value: one.values[0]!, ...times(one.timeMs) }))
  if (kind === 'gauge') return { ...common, dataPointType: DataPointType.GAUGE, dataPoints }
  return { ...common, dataPointType: DataPointType.SUM, isMonotonic: kind === 'counter', dataPoints }
}

function batchOf({ name: scope, version, instruments }: Scope): Batch {
  const scopeLabels = { otel_scope_name: scope, otel_scope_version: version }
  return pushedBatch(
    pushedSource({}, scope),
    instruments.flatMap(one => pointsOf(one, scopeLabels)),
  )
}

/** As the receiver takes them apart. */
function pointsOf({ name: called, help, kind, points }: Instrument, scope: Record<string, string>): PushedPoint[] {
  if (kind !== 'histogram') {
    const type = kind === 'counter' ? 'counter' : 'gauge'
    return points.map(one => ({
      metric: { name: called, type, help },
      attributes: { ...one.attributes, ...scope },
      value: one.values[0],
      timeMs: one.timeMs,
    }))
  }
  return points.flatMap(({ attributes: own, values, timeMs }) => {
    const { counts, count, sum } = histogramOf(values)
    const part = (suffix: string, value: number, more: Record<string, string> = {}): PushedPoint => ({
      metric: { name: `${called}_${suffix}`, family: called, type: 'histogram', help },
      attributes: { ...own, ...scope, ...more },
      value,
      timeMs,
    })
    let below = 0
    const buckets = counts.map((one, i) => part('bucket', (below += one), { le: i < 3 ? String(BOUNDS[i]) : '+Inf' }))
    return [...buckets, part('sum', sum), part('count', count)]
  })
}

function descriptions({ layout }: Batch): string[] {
  return layout.metrics.map(({ name: called, type, help }) => JSON.stringify([called, type, help])).sort()
}
