import assert from 'node:assert/strict'
import fc from 'fast-check'
import snappy from 'snappyjs'
import { createWriter1 } from '../../../pipeline/formats/remote-write-1.ts'
import { createWriter2 } from '../../../pipeline/formats/remote-write-2.ts'
import { downgradeRequest } from '../../../pipeline/formats/remote-write-downgrade.ts'
import { labelPlanOf, type LabelPlan } from '../../../pipeline/formats/remote-write-labels.ts'
import { SeriesMemory } from '../../../pipeline/formats/remote-write-memory.ts'
import { labelPairs, labelsFrom } from '../../../pipeline/model/labels.ts'
import { columnCount, layoutFromSeries, seriesAt, type Layout } from '../../../pipeline/model/layout.ts'
import { metricFrom, METRIC_TYPES, type Series } from '../../../pipeline/model/series.ts'
import {
  decodeWriteRequest,
  STALE_BITS,
  type DecodedRequest,
  type DecodedSeries,
} from '../../support/remote-write-messages.ts'

const text = fc.oneof(
  fc.constantFrom('a', 'gpu', 'node-a', 'Ä😀', 'x'.repeat(200), 'y'.repeat(300)),
  fc.string({ maxLength: 8, unit: 'grapheme' }),
)
const series: fc.Arbitrary<Series> = fc
  .record({
    name: fc.constantFrom('up', 'DCGM_FI', 'requests_total', 'z'),
    type: fc.constantFrom(...METRIC_TYPES),
    help: fc.constantFrom('', 'Some help.', 'h'.repeat(300)),
    unit: fc.constantFrom('', 'bytes'),
    labels: fc.uniqueArray(fc.tuple(fc.constantFrom('UUID', 'Zone', 'gpu', 'job', '_a', '__b', 'pod'), text), {
      selector: ([name]) => name,
    }),
  })
  .map(({ labels, ...metric }) => ({ metric: metricFrom(metric), labels: labelsFrom(labels) }))

const sample = fc.record({
  value: fc.oneof(fc.double(), fc.constantFrom('stale' as const, NaN, 0, -0, 97)),
  timeMs: fc.constantFrom(0, 1, 1_700_000_000_000, 1_700_000_000_015, -5, 2 ** 45),
  startMs: fc.constantFrom(NaN, NaN, NaN, 1_600_000_000_000),
})
type Sample = typeof sample extends fc.Arbitrary<infer T> ? T : never

const layouts = fc.array(
  fc.uniqueArray(series, { maxLength: 12, selector: one => `${one.metric.name} ${JSON.stringify(one.labels)}` }),
  { minLength: 1, maxLength: 6 },
)

describe('messages of remote write', () => {
  it('are read by others as they were meant, request after request, source after source', () => {
    fc.assert(
      fc.property(layouts, fc.array(sample, { minLength: 1, maxLength: 30 }), fc.nat(5), (lists, samples, cut) => {
        for (const version of [1, 2] as const) check(version, plansOf(lists), samples, cut)
      }),
      { numRuns: Number(process.env['FUZZ_RUNS'] ?? 100) },
    )
  })

  it('hold thousands of series of many sources', () => {
    const lists = Array.from({ length: 20 }, (_, source) =>
      Array.from({ length: 200 }, (_one, i) => ({
        metric: metricFrom({ name: `metric_${i % 25}`, type: 'gauge', help: `The number ${i % 25}.` }),
        labels: labelsFrom([
          ['UUID', `GPU-${source}-${Math.floor(i / 25)}`],
          ['hostname', `node-${source}`],
        ]),
      })),
    )
    const samples = Array.from({ length: 77 }, (_, i) => ({ value: i, timeMs: 1_700_000_000_000, startMs: NaN }))
    for (const version of [1, 2] as const) check(version, plansOf(lists), samples, 1)
  })

  it('say the same in 1.0 where a receiver does not understand 2.0', () => {
    fc.assert(
      fc.property(layouts, fc.array(sample, { minLength: 1, maxLength: 10 }), (lists, samples) => {
        const plans = plansOf(lists)
        const { bodies, expected } = write(2, plans, samples, 0)
        const messages = bodies.map(body => downgradeRequest(snappy.uncompress(body)))
        const decoded = messages.map(message => decodeWriteRequest(snappy.compress(new Uint8Array(message)), 1))
        assert.deepEqual(plain(decoded), plain(expected))
      }),
      { numRuns: 50 },
    )
  })
})

/** Plans as they follow each other where a source changes: each from the one before it. */
function plansOf(lists: readonly (readonly Series[])[]): LabelPlan[] {
  let layout: Layout | undefined
  let plan: LabelPlan | undefined
  return lists.map(list => {
    layout = layoutFromSeries(list, layout)
    return (plan = labelPlanOf(layout, plan))
  })
}

function check(version: 1 | 2, plans: readonly LabelPlan[], samples: readonly Sample[], cut: number): void {
  const { bodies, expected } = write(version, plans, samples, cut)
  const decoded = bodies.map(body => decodeWriteRequest(body, version))
  assert.deepEqual(
    version === 1 ? plain(decoded) : decoded.map(one => one.series),
    version === 1 ? plain(expected) : expected.map(one => one.series),
  )
  for (const { symbols } of decoded) assert.equal(new Set(symbols).size, symbols.length)
}

/** Writes all columns of all plans, and a new request after every `cut` plans; two writers share their memory. */
function write(version: 1 | 2, plans: readonly LabelPlan[], samples: readonly Sample[], cut: number) {
  const memory = new SeriesMemory()
  const create = () => (version === 1 ? createWriter1(memory) : createWriter2(memory, { sendMetadata: true }))
  const writers = [create(), create()]
  const begun: DecodedSeries[][] = [[], []]
  const bodies: Uint8Array[] = []
  const expected: Pick<DecodedRequest, 'series'>[] = []
  let next = 0
  function finish(which: number): void {
    if (begun[which]!.length === 0) return
    bodies.push(writers[which]!.finish())
    expected.push({ series: begun[which]! })
    begun[which] = []
  }
  for (const [i, plan] of plans.entries()) {
    const which = i % 2
    const writer = writers[which]!
    writer.use(plan)
    for (let column = 0; column < columnCount(plan.layout); column++) {
      const one = samples[next++ % samples.length]!
      const [metric, set] = [plan.layout.metricOf[column]!, plan.layout.labelsOf[column]!]
      if (one.value === 'stale') writer.end(metric, set, one.timeMs)
      else writer.add(metric, set, one.value, one.timeMs, one.startMs)
      begun[which]!.push(decodedAs(plan.layout, column, one))
    }
    assert.equal(writer.samples, begun[which]!.length)
    if (cut > 0 && i % cut === 0) finish(which)
  }
  finish(0)
  finish(1)
  return { bodies, expected }
}

function decodedAs(layout: Layout, column: number, { value, timeMs, startMs }: Sample): DecodedSeries {
  const { metric, labels } = seriesAt(layout, column)
  const pairs = [...labelPairs(labels), ['__name__', metric.name] as [string, string]]
  const hasStart = !Number.isNaN(startMs) && value !== 'stale'
  return {
    labels: pairs.sort(([a], [b]) => (a < b ? -1 : 1)),
    samples: [
      {
        value: value === 'stale' ? NaN : value,
        bits: value === 'stale' ? STALE_BITS : bitsOf(value),
        timeMs,
        ...(hasStart && { startMs }),
      },
    ],
    metadata: { type: metric.type, help: metric.help, unit: metric.unit },
    ...(hasStart && { createdMs: startMs }),
  }
}

function bitsOf(value: number): string {
  if (Number.isNaN(value)) return '7ff8000000000001'
  const view = new DataView(new ArrayBuffer(8))
  view.setFloat64(0, value)
  return view.getBigUint64(0).toString(16).padStart(16, '0')
}

/** Without what 1.0 has no place for. */
function plain(requests: readonly Pick<DecodedRequest, 'series'>[]): unknown {
  return requests.map(({ series: list }) =>
    list.map(({ labels, samples }) => ({ labels, samples: samples.map(({ startMs: _start, ...rest }) => rest) })),
  )
}
