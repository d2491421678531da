import assert from 'node:assert/strict'
import { createVirtualClock } from '../../../pipeline/clock/virtual-clock.ts'
import { createScheduler } from '../../../receivers/scraping/scheduler.ts'

describe('scrape scheduler', () => {
  /** When each of `count` targets ran, in milliseconds from the start, and how often the clock was asked for a timer. */
  async function run(count: number, intervalMs: number, forMs: number, aligned = false) {
    const clock = createVirtualClock(0)
    let timers = 0
    const scheduler = createScheduler({
      now: () => clock.now(),
      monotonic: () => clock.monotonic(),
      after: (delayMs, run) => {
        timers++
        return clock.after(delayMs, run)
      },
      aligned,
    })
    const runs: number[][] = Array.from({ length: count }, () => [])
    runs.forEach(times => scheduler.add(intervalMs, { scrape: () => times.push(clock.monotonic()) }))
    await clock.advance(forMs)
    scheduler.stop()
    await clock.advance(intervalMs)
    return { runs, timers }
  }

  it('runs everything exactly at multiples of the interval on an aligned clock', async () => {
    const { runs } = await run(3, 15_000, 45_000, true)
    for (const times of runs) assert.deepEqual(times, [0, 15_000, 30_000, 45_000])
  })

  it('keeps to the multiples of the interval for what comes later', async () => {
    const clock = createVirtualClock(0)
    const scheduler = createScheduler(clock)
    const ran: number[] = []
    await clock.advance(7000)
    scheduler.add(5000, { scrape: () => ran.push(clock.monotonic()) })
    await clock.advance(10_000)
    assert.deepEqual(ran, [10_000, 15_000])
    scheduler.stop()
  })

  for (const intervalMs of [1000, 15_000, 60_000]) {
    it(`runs every target within 10 s and then every ${intervalMs} ms`, async () => {
      const { runs } = await run(50, intervalMs, 5 * intervalMs)
      for (const times of runs) {
        assert.ok(times[0]! <= Math.min(intervalMs, 10_000), `first at ${times[0]}`)
        const gaps = times.slice(1).map((time, i) => time - times[i]!)
        // The first scrape is early, so the gap behind it is of any length around the interval.
        assert.ok(gaps[0]! >= intervalMs / 2 - 200 && gaps[0]! <= 1.5 * intervalMs + 200, `first gap ${gaps[0]}`)
        for (const gap of gaps.slice(1)) assert.ok(Math.abs(gap - intervalMs) <= 200, `gap ${gap}`)
      }
    })
  }

  it('lets few targets not wait for their first scrape', async () => {
    const { runs } = await run(4, 15_000, 1000)
    assert.deepEqual(runs, [[0], [0], [0], [0]])
  })

  it('spreads the first scrapes of many targets', async () => {
    const { runs } = await run(2000, 60_000, 20_000)
    const started = new Map<number, number>()
    for (const [first] of runs) started.set(first!, (started.get(first!) ?? 0) + 1)
    for (const [atMs, count] of started) assert.ok(count <= 100, `${count} at ${atMs} ms`)
  })

  it('spreads targets over the interval', async () => {
    const { runs } = await run(300, 15_000, 60_000)
    const perSecond = new Map<number, number>()
    for (const times of runs) {
      for (const time of times.filter(time => time >= 30_000 && time < 45_000)) {
        const second = Math.floor(time / 1000)
        perSecond.set(second, (perSecond.get(second) ?? 0) + 1)
      }
    }
    assert.equal(perSecond.size, 15)
    for (const [second, started] of perSecond)
      assert.ok(started >= 10 && started <= 30, `${started} in second ${second}`)
  })

  it('wakes up at most five times a second, however many targets there are', async () => {
    const { runs, timers } = await run(2000, 10_000, 30_000)
    assert.equal(
      runs.every(times => times.length >= 2),
      true,
    )
    // Adding may set the timer anew until the earliest is found.
    assert.ok(timers <= 30 * 5 + 20, `${timers} timers`)
  })

  /** How many targets ran together, in the order of time. */
  async function crowds(count: number, intervalMs: number): Promise<number[]> {
    const { runs } = await run(count, intervalMs, 4 * intervalMs)
    const started = new Map<number, number>()
    for (const time of runs.flat().filter(time => time >= 2 * intervalMs && time < 3 * intervalMs)) {
      started.set(time, (started.get(time) ?? 0) + 1)
    }
    return [...started].toSorted(([a], [b]) => a - b).map(([, together]) => together)
  }

  it('runs few targets together, a second apart', async () => {
    const together = await crowds(1000, 5000)
    assert.equal(together.length, 5)
    for (const targets of together) assert.ok(targets >= 195 && targets <= 205, `${targets} at once`)
  })

  it('runs many targets as far apart as it can', async () => {
    const together = await crowds(10_000, 5000)
    assert.equal(together.length, 25)
    for (const targets of together) assert.ok(targets <= 510, `${targets} at once`)
  })

  it('runs targets with a short interval in its moments, too', async () => {
    const { runs } = await run(10, 500, 3000)
    for (const times of runs) assert.ok(times.length >= 5 && times.length <= 8, `${times.length} runs in 3 s`)
    assert.equal((await crowds(100, 1000)).length, 5)
  })

  it('runs everything once in its interval, whatever the clock shows and however early timers are', async () => {
    for (let offsetMs = 1000; offsetMs < 1100; offsetMs += 0.7654321) {
      const clock = createVirtualClock(0)
      let earlyMs = 0
      const scheduler = createScheduler({
        now: () => clock.now(),
        monotonic: () => offsetMs + clock.monotonic() - earlyMs,
        // A timer counts whole milliseconds, so it may fire a fraction early.
        after: (delayMs, run) =>
          clock.after(delayMs, () => {
            earlyMs = 0.4
            run()
            earlyMs = 0
          }),
      })
      const times: number[] = []
      scheduler.add(200, { scrape: () => times.push(clock.monotonic()) })
      await clock.advance(4000)
      scheduler.stop()
      for (const [i, time] of times.slice(2).entries()) {
        const gapMs = time - times[i + 1]!
        assert.ok(gapMs >= 150 && gapMs <= 250, `${gapMs} ms between scrapes at ${offsetMs}`)
      }
      assert.ok(times.length >= 19, `${times.length} scrapes`)
    }
  })

  it('does not run what was removed, and goes on with the rest', async () => {
    const clock = createVirtualClock(0)
    const scheduler = createScheduler(clock)
    const ran: string[] = []
    const a = scheduler.add(1000, { scrape: () => ran.push('a') })
    scheduler.add(1000, { scrape: () => ran.push('b') })
    await clock.advance(0)
    scheduler.remove(a)
    await clock.advance(1000)
    assert.deepEqual(ran, ['a', 'b', 'b'])
    scheduler.stop()
    scheduler.stop()
  })

  it('lets tasks take away others that are due with them, and does not run those again', async () => {
    const clock = createVirtualClock(0)
    const scheduler = createScheduler({ ...clock, aligned: false })
    const ran: string[] = []
    let isLast = false
    const others = ['b', 'c', 'd'].map(name => ({ scrape: () => void ran.push(name) }))
    const a = { scrape: () => void (isLast && [b, d].forEach(one => scheduler.remove(one!))) }
    // All have the same moments.
    scheduler.add(200, a)
    const [b, , d] = others.map(other => scheduler.add(200, other))
    await clock.advance(2000)
    ran.length = 0
    isLast = true
    await clock.advance(1000)
    assert.deepEqual(ran, ['c', 'c', 'c', 'c', 'c'])
    // One that comes back begins anew.
    isLast = false
    scheduler.add(200, others[0]!)
    await clock.advance(1000)
    assert.ok(ran.filter(name => name === 'b').length >= 4)
    scheduler.stop()
  })

  it('runs late what it could not run in time, once, and goes on with the moments that it had', async () => {
    const clock = createVirtualClock(0)
    let stalledMs = 0
    const scheduler = createScheduler({
      now: () => clock.now(),
      monotonic: () => clock.monotonic() + stalledMs,
      after: (delayMs, run) => clock.after(delayMs, run),
    })
    const times: number[] = []
    scheduler.add(1000, { scrape: () => times.push(clock.monotonic() + stalledMs) })
    await clock.advance(3000)
    const regular = times.at(-1)! % 1000
    stalledMs = 4700
    times.length = 0
    await clock.advance(5000)
    for (const time of times.slice(1)) assert.equal(time % 1000, regular)
    assert.ok(times.length >= 4 && times.length <= 6, `${times.length} runs`)
    scheduler.stop()
  })
})
