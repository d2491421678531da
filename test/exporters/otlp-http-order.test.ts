/** Destinations that refuse what is older than what they have get the points of every series in order, whatever happens on the way. */
import assert from 'node:assert/strict'
import { gunzipSync } from 'node:zlib'
import { otlpHttp } from '../../exporters/otlp-http.ts'
import { endBatch, type Batch } from '../../pipeline/model/batch.ts'
import { batchFromText, createSource } from '../support/batch-from-text.ts'
import { configOf } from '../support/config-of.ts'
import { decodeProtobuf, linesOf } from '../support/otlp-judge.ts'
import { testHost, TEST_START_MS, type TestHost } from '../support/test-host.ts'

const TARGETS = 12
const STEPS = 20
const STEP_MS = 15_000

const EXAMPLES: Readonly<Record<string, object>> = {
  prometheus: {},
  mimir: { vendor_parameters: { base_url: 'http://mimir:8080' } },
  grafana_cloud: { api_key: 'k', vendor_parameters: { region: 'eu', instance_id: '1' } },
  google_cloud: { api_key: 'k' },
}

/**
 * A destination as Prometheus is without a window for late samples: for five minutes it is away, then it takes what is not older than
 * what it has, a second after it came. Returns the lines that it took, and those that it refused.
 */
async function outage(given: object, restart = false): Promise<{ taken: string[]; refused: string[] }> {
  const host = testHost() as TestHost
  const taken: string[] = []
  const refused: string[] = []
  const last = new Map<string, number>()
  let isAway = true
  let requests = 0
  const exporter = () => otlpHttp.create(configOf(otlpHttp, given), host)
  let running = exporter()
  host.network.serve(running.describe!(), ({ body }, response) => {
    const packed = isAway
    requests++
    const lines = linesOf(decodeProtobuf(gunzipSync(body!)))
    // The second is slower than the first, so that those that are under way together pass each other.
    host.clock.after(requests % 2 === 0 ? 2000 : 100, () => {
      for (const line of packed ? [] : lines) {
        const [, series, seconds] = /^(.*?) (?:ended|[\d.]+) @(\d+)$/.exec(line)!
        const isLate = Number(seconds) <= (last.get(series!) ?? 0)
        if (!isLate) last.set(series!, Number(seconds))
        ;(isLate ? refused : taken).push(line)
      }
      response.head(packed ? 503 : 200)
      response.end()
    })
  })
  await running.start?.()
  const batches: Batch[] = []
  for (let step = 0; step < STEPS; step++) {
    for (let target = 0; target < TARGETS; target++) {
      const source = createSource(`http://node-${target}:9400`, { job: 'dcgm', instance: `node-${target}` })
      const after = batches[target]
      const timeMs = TEST_START_MS + step * STEP_MS
      const batch = batchFromText(`util ${step}`, after === undefined ? { source, timeMs } : { after, timeMs })
      batches[target] = batch
      running.consume(batch)
    }
    await host.clock.advance(STEP_MS)
    if (restart && step === STEPS / 2) {
      const stopped = running.stop?.(host.clock.monotonic() + 1000)
      await host.clock.advance(1000)
      await stopped
      running = exporter()
      await running.start?.()
    }
  }
  isAway = false
  for (const { source } of batches) running.consume(endBatch(source, TEST_START_MS + STEPS * STEP_MS, 'removed'))
  await host.clock.advance(600_000)
  const stopped = running.stop?.(host.clock.monotonic() + 1000)
  await host.clock.advance(1000)
  await stopped
  return { taken, refused }
}

describe('otlp_http to destinations that take points in order only', () => {
  for (const [vendor, given] of Object.entries(EXAMPLES)) {
    it(`loses nothing after an outage: ${vendor}`, async () => {
      const { taken, refused } = await outage({ vendor, ...given })
      assert.deepEqual(refused, [])
      assert.equal(taken.length, TARGETS * (STEPS + 1))
    })
  }

  it('loses nothing where the config asks for it', async () => {
    const { taken, refused } = await outage({ endpoint: 'http://destination.test', in_order: true })
    assert.deepEqual(refused, [])
    assert.equal(taken.length, TARGETS * (STEPS + 1))
  })

  it('keeps the order over a restart', async () => {
    const { taken, refused } = await outage({ vendor: 'prometheus' }, true)
    assert.deepEqual(refused, [])
    assert.ok(taken.length >= TARGETS * STEPS, `${taken.length} points`)
  })

  it('sends what is of one job and instance one after the other, whoever says it', async () => {
    const host = testHost() as TestHost
    const running = otlpHttp.create(configOf(otlpHttp, { endpoint: 'http://destination.test', in_order: true }), host)
    await running.start?.()
    for (let scope = 0; scope < 10; scope++) {
      running.consume(
        batchFromText(`m${scope} 1`, { source: createSource(`scope ${scope}`, { job: 'j', instance: 'i' }) }),
      )
    }
    await host.clock.advance(1000)
    assert.equal(host.network.requests.length, 1)
    await running.stop?.(host.clock.monotonic())
  })

  it('does not let what is fresh wait for what is old where that is not needed', async () => {
    for (const given of [
      { endpoint: 'http://destination.test' },
      { vendor: 'prometheus', in_order: false, sending_queue: { num_consumers: 2 } },
    ]) {
      const { refused } = await outage(given)
      assert.notEqual(refused.length, 0)
    }
  })
})
