import assert from 'node:assert/strict'
import { createVirtualClock } from '../../../pipeline/clock/virtual-clock.ts'
import type { Clock } from '../../../pipeline/component.ts'
import { dcgm } from '../../../receivers/dcgm.ts'
import { configOf } from '../../support/config-of.ts'
import { testHost } from '../../support/test-host.ts'

const COUNT = 12_500
const INTERVAL_MS = 15_000
/** One in so many never answers. */
const HANGING = 8

describe('many targets', function () {
  this.timeout(60_000)

  it('are all scraped in their interval, in few wake-ups, and those that hang cost the others nothing', async () => {
    const virtual = createVirtualClock(0)
    // Targets are spread, as they are outside of config tests.
    const clock: Clock = { ...virtual, aligned: false }
    const host = testHost({ clock })
    const requestMoments = new Set<number>()
    const network = {
      ...host.network,
      request: (...parameters: Parameters<typeof host.network.request>) => {
        requestMoments.add(virtual.monotonic())
        return host.network.request(...parameters)
      },
    }
    for (let i = 0; i < COUNT; i++) {
      const good = { contentType: 'text/plain', body: 'a{gpu="0"} 1\na{gpu="1"} 2\n' }
      host.network.answer(`http://node-${i}:9400/metrics`, i % HANGING === 0 ? { error: 'timeout' } : good)
    }
    const scraped = new Map<string, number>()
    const failed = new Map<string, number>()
    const config = configOf(dcgm, {
      static_targets: Array.from({ length: COUNT }, (_, i) => `node-${i}`),
      scrape_interval: '15s',
      scrape_timeout: '10s',
    })
    const receiver = dcgm.create(config, { ...host, network }, ({ source, outcome, layout }) => {
      if (layout.metrics[0]?.name === 'up') return
      const counts = outcome === 'ok' ? scraped : failed
      counts.set(source.name, (counts.get(source.name) ?? 0) + 1)
    })
    void receiver.start!()
    assert.equal(receiver.describe!(), `${COUNT} targets every 15s`)
    await virtual.advance(INTERVAL_MS)
    const hanging = Math.ceil(COUNT / HANGING)
    assert.equal(scraped.size, COUNT - hanging)
    await virtual.advance(INTERVAL_MS + 10_000)
    assert.equal(failed.size, hanging)
    for (const [name, count] of scraped) assert.ok(count >= 2 && count <= 4, `${count} scrapes of ${name}`)
    // The first scrape comes early, so the second may find it still hanging; only then, and only there.
    assert.ok((host.counted.get('gpucol_receiver_scrapes{outcome="skipped"}') ?? 0) <= hanging)
    assert.ok(requestMoments.size <= 5 * 41, `${requestMoments.size} wake-ups`)

    const states = receiver.targets!().active.map(({ state }) => state)
    assert.equal(states.filter(state => state === 'down').length, hanging)
    await receiver.stop!(0)
    await virtual.advance(60_000)
  })
})
