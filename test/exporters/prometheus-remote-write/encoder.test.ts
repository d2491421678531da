import assert from 'node:assert/strict'
import fc from 'fast-check'
import { createEncoder } from '../../../exporters/prometheus-remote-write/encoder.ts'
import { endBatch, type Batch } from '../../../pipeline/model/batch.ts'
import { EMPTY_LABELS, labelsFrom } from '../../../pipeline/model/labels.ts'
import { layoutFromSeries, type Layout } from '../../../pipeline/model/layout.ts'
import { metricFrom } from '../../../pipeline/model/series.ts'
import { createSource } from '../../support/batch-from-text.ts'
import { decodeWriteRequest, seriesText, STALE_BITS } from '../../support/remote-write-messages.ts'
import { testHost } from '../../support/test-host.ts'

/** Of one source: which of its eight series it has, which of them have no sample, and which have a time of their own, how long ago. */
const step = {
  source: fc.nat(2),
  outcome: fc.constantFrom<Batch['outcome']>('ok', 'ok', 'ok', 'ok', 'failed', 'removed'),
  has: fc.nat(255),
  absent: fc.oneof(fc.constant(0), fc.nat(255)),
  timed: fc.constant<number>(0),
  agoMs: fc.constant<number>(0),
  elapsedMs: fc.constantFrom<number>(1000, 15_000),
}
type Step = { [K in keyof typeof disorderly]: (typeof disorderly)[K] extends fc.Arbitrary<infer T> ? T : never }

/** Times of samples that are anywhere, and a clock that is set back. */
const disorderly = {
  ...step,
  outcome: fc.constantFrom<Batch['outcome']>('ok', 'ok', 'ok', 'ok', 'failed'),
  timed: fc.oneof(fc.constant(0), fc.nat(255)),
  agoMs: fc.nat(40_000),
  elapsedMs: fc.constantFrom<number>(-3000, 0, 1000, 15_000, 15_000),
}

const rest = [fc.constantFrom<1 | 2>(1, 2), fc.integer({ min: 1, max: 4 })] as const
const numRuns = Number(process.env['FUZZ_RUNS'] ?? 200)

describe('requests of remote write', () => {
  it('have every sample once and in order, and an end wherever a series ends', () => {
    fc.assert(
      fc.property(fc.array(fc.record(step), { maxLength: 40 }), ...rest, (steps, version, shards) => {
        const { given, sent, leftOut } = run(steps, version, shards)
        assert.equal(leftOut, 0)
        for (const [series, moments] of given) {
          const arrived = (sent.get(series) ?? []).map(({ timeMs, value }) => `${value}@${timeMs}`)
          assert.deepEqual(arrived, play(moments), series)
        }
      }),
      { numRuns },
    )
  })

  it('are in order and have nothing twice whatever times samples have, and what is left out is counted', () => {
    fc.assert(
      fc.property(fc.array(fc.record(disorderly), { maxLength: 40 }), ...rest, (steps, version, shards) => {
        const { given, sent, leftOut } = run(steps, version, shards)
        let missing = 0
        for (const [series, moments] of given) {
          const arrived = sent.get(series) ?? []
          for (const [i, { timeMs, value }] of arrived.entries()) {
            assert.ok(i === 0 || timeMs > arrived[i - 1]!.timeMs, `${series} is out of order`)
            assert.ok(value !== 'stale' || (i > 0 && arrived[i - 1]!.value !== 'stale'), `${series} ends twice`)
          }
          const samples = moments.filter(({ kind }) => kind === 'sample')
          const values = arrived.filter(({ value }) => value !== 'stale').map(({ value }) => value)
          assert.deepEqual(
            values,
            samples.map(({ value }) => value).filter(value => values.includes(value)),
          )
          missing += samples.length - values.length
          const isEnded = moments.at(-1)!.kind === 'end'
          if (isEnded && arrived.length > 0) assert.equal(arrived.at(-1)!.value, 'stale', `${series} has no end`)
        }
        assert.equal(leftOut, missing)
      }),
      { numRuns },
    )
  })
})

/** What a series went through: a sample, or its end. */
type Moment = { readonly kind: 'sample' | 'end'; readonly timeMs: number; readonly value: number }

/** The rule in its simplest form, for one series: every sample, and a marker where an end follows one. */
function play(moments: readonly Moment[]): string[] {
  const texts: string[] = []
  let isLive = false
  for (const { kind, timeMs, value } of moments) {
    if (kind === 'sample') texts.push(`${value}@${timeMs}`)
    else if (isLive) texts.push(`stale@${timeMs}`)
    isLive = kind === 'sample'
  }
  return texts
}

function run(steps: readonly Step[], version: 1 | 2, shards: number) {
  const host = testHost()
  const bodies: Uint8Array[] = []
  const options = {
    naming: { strategy: 'UnderscoreEscapingWithSuffixes' as const },
    externalLabels: EMPTY_LABELS,
    rules: [],
    shards,
    maxSamples: 5,
    sendMetadata: false,
    targetInfo: true,
    version: () => version,
  }
  const encoder = createEncoder(options, host, ({ body }) => bodies.push(body))
  const given = giveAll(steps, batch => encoder.add(batch))
  encoder.flush()
  assert.equal(encoder.pendingPoints, 0)
  const sent = new Map<string, { timeMs: number; value: number | 'stale' }[]>()
  for (const { series } of bodies.map(body => decodeWriteRequest(body, version))) {
    for (const one of series) {
      const text = seriesText(one)
      const samples = one.samples.map(({ timeMs, value, bits }) => ({
        timeMs,
        value: bits === STALE_BITS ? ('stale' as const) : value,
      }))
      sent.set(text, [...(sent.get(text) ?? []), ...samples])
    }
  }
  return { given, sent, leftOut: host.counted.get('gpucol_exporter_left_out_metric_points') ?? 0 }
}

/** Gives batches as the steps say, and returns what each series went through. */
function giveAll(steps: readonly Step[], add: (batch: Batch) => void): Map<string, Moment[]> {
  const metrics = ['a', 'b'].map(name => metricFrom({ name }))
  const sources = [0, 1, 2].map(number => ({
    source: createSource(`source-${number}`),
    layout: undefined as Layout | undefined,
  }))
  const given = new Map<string, Moment[]>()
  let timeMs = 1_700_000_000_000
  let lastValue = 0
  for (const { source: number, outcome, has, absent, timed, agoMs, elapsedMs } of steps) {
    timeMs += elapsedMs
    const state = sources[number]!
    const all = Array.from({ length: 8 }, (_, i) => ({
      i,
      metric: metrics[i % 2]!,
      labels: labelsFrom([['i', `${number}-${i >> 1}`]]),
      text: `${metrics[i % 2]!.name}{i="${number}-${i >> 1}"}`,
    }))
    const note = (text: string, moment: Moment): void => void given.set(text, [...(given.get(text) ?? []), moment])
    if (outcome !== 'ok') {
      add(endBatch(state.source, timeMs, outcome))
      for (const { text } of all) note(text, { kind: 'end', timeMs, value: 0 })
      state.layout = undefined
      continue
    }
    const present = all.filter(({ i }) => (has >> i) & 1)
    const layout = (state.layout = layoutFromSeries(present, state.layout))
    const values = Float64Array.from(present, () => ++lastValue)
    const times = Float64Array.from(present, ({ i }) => ((timed >> i) & 1 ? timeMs - agoMs : NaN))
    const missing = Uint32Array.from(present.flatMap(({ i }, column) => ((absent >> i) & 1 ? [column] : [])))
    add({
      source: state.source,
      timeMs,
      outcome,
      layout,
      values,
      ...(timed !== 0 && { times }),
      ...(missing.length > 0 && { absent: missing }),
    })
    for (const { text } of all.filter(({ i }) => !((has >> i) & 1))) note(text, { kind: 'end', timeMs, value: 0 })
    for (const [column, { text }] of present.entries()) {
      if (missing.includes(column)) continue
      const own = times[column]!
      note(text, { kind: 'sample', timeMs: Number.isNaN(own) ? timeMs : own, value: values[column]! })
    }
  }
  return given
}
