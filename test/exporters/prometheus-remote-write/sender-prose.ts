/** Cases that are told in words: what is scraped, how the receiver behaves, and what must come of it. */
import assert from 'node:assert/strict'
import { STALE_BITS, type DecodedSample } from '../../support/remote-write-messages.ts'
import { TARGET, type WritePipeline } from '../../support/remote-write-pipeline.ts'
import type { Behaviour } from '../../support/remote-write-receiver.ts'
import { TEST_START_MS } from '../../support/test-host.ts'
import type { Case } from './conformance.test.ts'

export type Prose = {
  readonly scrapes?: readonly string[]
  readonly config?: object
  readonly behaviour?: Behaviour
  /** For how many intervals it goes on after the last scrape. */
  readonly waits?: number
  check?(pipeline: WritePipeline, one: Case): void | Promise<void>
}

/** A gauge that shows the time of its scrape. */
const NOW = Array.from({ length: 6 }, (_, i) => `now ${TEST_START_MS + i * 15_000}\n`)

function samplesOf({ receiver }: WritePipeline, name: string): DecodedSample[] {
  return [...receiver.samples()].filter(([series]) => series.startsWith(`${name}{`)).flatMap(([, samples]) => samples)
}

function firstOf({ receiver }: WritePipeline): number {
  const sample = receiver.requests.flatMap(({ series }) => series).find(({ labels }) => isNow(labels))!.samples[0]!
  return sample.value
}

function isNow(labels: readonly (readonly [string, string])[]): boolean {
  return labels.some(([name, value]) => name === '__name__' && value === 'now')
}

/** By which request the first samples of `now` went is a matter of shards, so every request of the first scrape is answered so. */
function answersFirst(status: number): Behaviour {
  return number => (number < 4 ? { status } : undefined)
}

export const PROSE: Readonly<Record<string, Prose>> = {
  Counter: {
    waits: 0,
    check: pipeline =>
      assert.deepEqual(
        samplesOf(pipeline, 'counter').map(({ value }) => value),
        [0, 1, 2],
      ),
  },
  Gauge: {
    scrapes: NOW,
    waits: 0,
    check(pipeline) {
      const samples = samplesOf(pipeline, 'now')
      assert.equal(samples.length, 6)
      for (const { value, timeMs } of samples) assert.ok(Math.abs(value - timeMs) <= value / 100)
    },
  },
  Histogram: { check: checkEvenly },
  Summary: { check: checkEvenly },
  InstanceLabel: {
    check({ receiver }) {
      for (const series of receiver.samples().keys()) assert.ok(series.includes(`instance="${TARGET}"`))
    },
  },
  Staleness: {
    check(pipeline) {
      const bits = samplesOf(pipeline, 'stale').map(sample => sample.bits)
      assert.deepEqual(bits, ['0000000000000000', STALE_BITS])
    },
  },
  Headers: { scrapes: NOW },
  Ordering: {
    scrapes: Array.from({ length: 6 }, (_, i) => seriesText(i)),
    config: { max_samples_per_send: 100 },
    behaviour: number => (number % 3 === 1 ? { status: 503 } : undefined),
    waits: 40,
    check({ receiver }) {
      const all = [...receiver.samples()].filter(([series]) => series.startsWith('test{'))
      assert.equal(all.length, 1000)
      for (const [series, samples] of all) {
        const times = samples.map(({ timeMs }) => timeMs)
        assert.ok(times.length >= 6)
        assert.ok(
          times.every((timeMs, i) => i === 0 || timeMs > times[i - 1]!),
          series,
        )
      }
    },
  },
  Retries500: {
    scrapes: NOW,
    config: { send_metadata: false },
    behaviour: answersFirst(500),
    waits: 20,
    check(pipeline) {
      assert.ok(samplesOf(pipeline, 'now').some(({ value }) => value === firstOf(pipeline)))
    },
  },
  Retries400: {
    scrapes: NOW,
    config: { send_metadata: false, shards: 1 },
    behaviour: number => (number === 0 ? { status: 400 } : undefined),
    waits: 20,
    check(pipeline) {
      const values = samplesOf(pipeline, 'now').map(({ value }) => value)
      assert.ok(!values.includes(firstOf(pipeline)))
      assert.ok(values.length > 0)
    },
  },
}

function checkEvenly(pipeline: WritePipeline, { expected_series = [] }: Case): void {
  const counts = expected_series.map(({ name }) => samplesOf(pipeline, name!).length)
  const kinds = new Map(
    expected_series.map(({ name }) => [name, expected_series.filter(one => one.name === name).length]),
  )
  const each = expected_series.map(({ name }, i) => counts[i]! / kinds.get(name)!)
  assert.ok(each.every(count => count === each[0] && count > 0))
}

function seriesText(round: number): string {
  return Array.from({ length: 1000 }, (_, i) => `test{i="${i}"} ${round + 1}`).join('\n') + '\n'
}
