import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { Batch } from '../../../pipeline/model/batch.ts'
import { labelPairs, labelsFrom } from '../../../pipeline/model/labels.ts'
import {
  columnCount,
  createLayout,
  labelsAt,
  layoutFromSeries,
  metricAt,
  scaleAt,
} from '../../../pipeline/model/layout.ts'
import { applyScale, scaleOf } from '../../../pipeline/model/scale.ts'
import { metricFrom, type Series } from '../../../pipeline/model/series.ts'
import { createSource } from '../../support/batch-from-text.ts'
import { otlpEncoding } from '../../support/otlp-encoding.ts'
import { pointsOf, type OtlpRequest } from '../../support/otlp-judge.ts'

/** Rows of the table of resources by which one can go back. */
const ROWS: Readonly<Record<string, string>> = {
  job: 'service.name',
  instance: 'service.instance.id',
  UUID: 'hw.id',
  pod: 'k8s.pod.name',
  namespace: 'k8s.namespace.name',
}
const LABELS_OF_ATTRIBUTES = new Map(Object.entries(ROWS).map(([label, attribute]) => [attribute, label]))

const text = fc.oneof(fc.constantFrom('a', 'b', 'c'), fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }))
const labels = fc
  .dictionary(fc.constantFrom('job', 'instance', 'UUID', 'pod', 'namespace', 'x', 'y', 'zone'), text, { maxKeys: 6 })
  .map(pairs => labelsFrom(Object.entries({ job: 'j', instance: 'i', ...pairs })))
const metric = fc
  .record({
    name: fc.constantFrom('m', 'n_total', 'µ', 'long_'.repeat(40)),
    type: fc.constantFrom('gauge' as const, 'counter' as const, 'unknown' as const, 'info' as const),
    help: fc.string({ maxLength: 20 }),
  })
  .map(metricFrom)
const value = fc.oneof(fc.double(), fc.integer(), fc.constantFrom(NaN, Infinity, -Infinity, -0, 5e-324))
const time = fc.oneof(
  fc.constant(NaN),
  fc.integer({ min: 1, max: 4e12 }),
  fc.double({ min: 1, max: 2e12, noNaN: true }),
)

type Row = {
  readonly series: Series
  readonly value: number
  readonly time: number
  readonly start: number
  readonly isAbsent: boolean
}

const rows = fc.uniqueArray(
  fc.record({
    series: fc.record({ metric, labels }),
    value,
    time,
    start: time,
    isAbsent: fc.boolean(),
  }),
  { selector: ({ series }) => JSON.stringify([series.metric.name, labelPairs(series.labels)]), maxLength: 40 },
)

const source = createSource('s')

function batchOf(all: readonly Row[], timeMs: number, previous?: Batch): Batch {
  const layout = layoutFromSeries(
    all.map(({ series }) => series),
    previous?.layout,
  )
  const absent = all.flatMap(({ isAbsent }, column) => (isAbsent ? [column] : []))
  return {
    source,
    timeMs,
    outcome: 'ok',
    layout,
    values: Float64Array.from(all, row => row.value),
    times: Float64Array.from(all, row => row.time),
    starts: Float64Array.from(all, row => row.start),
    absent: Uint32Array.from(absent),
  }
}

describe('decoding what was encoded as OTLP', () => {
  for (const encoding of ['proto', 'json'] as const) {
    it(`gives the batch again (${encoding})`, () => {
      fc.assert(
        fc.property(
          rows,
          fc.integer({ min: 1, max: 4e12 }),
          fc.integer({ min: 1, max: 20 }),
          (all, timeMs, maxPoints) => {
            const otlp = otlpEncoding({ encoding, maxPoints })
            otlp.lines(batchOf(all, timeMs))
            const decoded = otlp.requests.flatMap(({ request }) => samplesOf(request))
            assert.deepEqual(decoded.sort(), expectedSamples(batchOf(all, timeMs)).sort())
            for (const { points } of otlp.requests) assert.ok(points <= maxPoints)
          },
        ),
      )
    })

    it(`gives the series that ended, when series come and go (${encoding})`, () => {
      fc.assert(
        fc.property(rows, rows, (first, second) => {
          const otlp = otlpEncoding({ encoding })
          const before = batchOf(first, 1000)
          otlp.lines(before)
          const after = batchOf(second, 2000, before)
          otlp.lines(after)
          const decoded = otlp.requests.flatMap(({ request }) => samplesOf(request))
          const stays = new Set(seriesTexts(after))
          const last = lastTimes(before)
          const ended = seriesTexts(before)
            .filter(series => !stays.has(series))
            .map(series => `${series} ended @${nanoseconds(Math.max(2000, (last.get(series) ?? 0) + 1))}`)
          const repeated = seriesTexts(after).flatMap((series, column) =>
            after.times![column]! <= (last.get(series) ?? 0) ? [column] : [],
          )
          const fresh = { ...after, absent: Uint32Array.from([...after.absent!, ...repeated]) }
          assert.deepEqual(decoded.sort(), [...expectedSamples(fresh), ...ended].sort())
        }),
      )
    })
  }

  it('says the same in protobuf and in JSON, whatever the scales', () => {
    fc.assert(
      fc.property(rows, fc.integer({ min: 1, max: 1000 }), (all, divide) => {
        const plain = batchOf(all, 1000)
        const scales = plain.layout.metrics.map((_, i) => scaleOf(i % 2 === 0 ? 1 : 3, divide))
        const batch = { ...plain, layout: createLayout({ ...plain.layout, labels: plain.layout.labels, scales }) }
        const [proto, json] = (['proto', 'json'] as const).map(encoding => {
          const otlp = otlpEncoding({ encoding })
          otlp.lines(batch)
          return otlp.requests.flatMap(({ request }) => samplesOf(request)).sort()
        })
        assert.deepEqual(proto, json)
        assert.deepEqual(proto, expectedSamples(batch).sort())
      }),
    )
  })

  it('gives the counts of buckets that were added up', () => {
    // Adding nothing makes one bound of 0 and -0.
    const bound = fc.double({ noNaN: true, noDefaultInfinity: true }).map(any => any + 0)
    const bounds = fc.uniqueArray(bound, { minLength: 1, maxLength: 20 })
    fc.assert(
      fc.property(
        bounds,
        fc.array(fc.integer({ min: 0, max: 1e12 }), { minLength: 21, maxLength: 21 }),
        (given, counts) => {
          const sorted = given.toSorted((a, b) => a - b)
          const h = { family: 'h', type: 'histogram' as const }
          const bucket = metricFrom({ name: 'h_bucket', ...h })
          const count = metricFrom({ name: 'h_count', ...h })
          const own = counts.slice(0, sorted.length + 1)
          let sum = 0
          const cumulative = own.map(one => (sum += one))
          const series = [
            ...sorted.map(bound => ({ metric: bucket, labels: labelsFrom([['le', String(bound)]]) })),
            { metric: count, labels: labelsFrom([]) },
          ]
          const batch: Batch = {
            source,
            timeMs: 1000,
            outcome: 'ok',
            layout: layoutFromSeries(series),
            values: Float64Array.from(cumulative),
          }
          for (const encoding of ['proto', 'json'] as const) {
            const otlp = otlpEncoding({ encoding })
            otlp.lines(batch)
            const [metricJson] = otlp.requests[0]!.request.resourceMetrics[0]!.scopeMetrics[0]!.metrics
            const [{ point }] = pointsOf(metricJson!) as [ReturnType<typeof pointsOf>[0]]
            assert.deepEqual(point.bucketCounts, own.map(String))
            assert.deepEqual(point.explicitBounds, sorted)
            // Protobuf does not write what is 0.
            assert.equal(point.count ?? '0', String(sum))
          }
        },
      ),
    )
  })
})

function seriesText(name: string, pairs: readonly (readonly [string, string])[]): string {
  return JSON.stringify([name, pairs.toSorted(([a], [b]) => (a < b ? -1 : 1))])
}

function seriesTexts({ layout }: Batch): string[] {
  return Array.from({ length: columnCount(layout) }, (_, column) =>
    seriesText(metricAt(layout, column).name, labelPairs(labelsAt(layout, column))),
  )
}

/** By series, when it had its sample. */
function lastTimes(batch: Batch): Map<string, number> {
  const times = seriesTexts(batch).flatMap((series, column) => {
    const own = batch.times![column]!
    return batch.absent!.includes(column) ? [] : [[series, Number.isNaN(own) ? batch.timeMs : own] as const]
  })
  return new Map(times)
}

function expectedSamples(batch: Batch): string[] {
  const series = seriesTexts(batch)
  return series.flatMap((one, column) => {
    if (batch.absent?.includes(column) === true) return []
    const number = applyScale(batch.values[column]!, scaleAt(batch.layout, column))
    const own = batch.times![column]!
    const start = batch.starts![column]!
    const since = Number.isNaN(start) ? '' : ` since ${nanoseconds(start)}`
    return [`${one} ${numberText(number)}${since} @${nanoseconds(Number.isNaN(own) ? batch.timeMs : own)}`]
  })
}

function nanoseconds(timeMs: number): string {
  const whole = Math.floor(timeMs)
  return String(BigInt(whole) * 1_000_000n + BigInt(Math.round((timeMs - whole) * 1e6)))
}

function numberText(number: number): string {
  return Object.is(number, -0) ? '-0' : String(number)
}

function samplesOf({ resourceMetrics = [] }: Partial<OtlpRequest>): string[] {
  return resourceMetrics.flatMap(({ resource, scopeMetrics }) => {
    const ofResource = pairsOf(resource.attributes).map(
      ([key, one]) => [LABELS_OF_ATTRIBUTES.get(key) ?? key, one] as const,
    )
    return scopeMetrics.flatMap(({ metrics }) =>
      metrics.flatMap(one =>
        pointsOf(one).map(({ point }) => {
          const series = seriesText(one.name, [...ofResource, ...pairsOf(point.attributes)])
          if (point.flags === 1) return `${series} ended @${point.timeUnixNano}`
          const since = point.startTimeUnixNano === undefined ? '' : ` since ${point.startTimeUnixNano}`
          return `${series} ${numberText(Number(point.asDouble))}${since} @${point.timeUnixNano}`
        }),
      ),
    )
  })
}

function pairsOf(attributes: readonly { key: string; value: Record<string, unknown> }[] = []): [string, string][] {
  return attributes.map(({ key, value: { stringValue } }) => [key, String(stringValue)])
}
