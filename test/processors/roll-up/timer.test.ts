import assert from 'node:assert/strict'
import { createVirtualClock } from '../../../pipeline/clock/virtual-clock.ts'
import type { Clock } from '../../../pipeline/component.ts'
import { everyInterval } from '../../../processors/roll-up/timer.ts'

describe('the timer of roll-ups', () => {
  /** A clock that is not that of a config test. */
  function wallClock(startMs: number, earlyMs = 0) {
    const virtual = createVirtualClock(startMs)
    const clock: Clock = {
      now: virtual.now,
      monotonic: virtual.monotonic,
      after: (delayMs, run) => virtual.after(delayMs - earlyMs, run),
    }
    return { virtual, clock }
  }

  it('fires at full multiples of the interval by the wall clock', async () => {
    const { virtual, clock } = wallClock(100_007)
    const times: number[] = []
    everyInterval(clock, 15_000, () => void times.push(clock.now()))
    await virtual.advance(40_000)
    assert.deepEqual(times, [105_000, 120_000, 135_000])
  })

  it('fires once for each multiple also where timers are a little early', async () => {
    const { virtual, clock } = wallClock(100_000, 2)
    const times: number[] = []
    everyInterval(clock, 15_000, () => void times.push(clock.now()))
    await virtual.advance(40_000)
    assert.deepEqual(
      times.map(time => Math.round(time / 1000)),
      [105, 120, 135],
    )
  })

  it('finds the multiples again when the clock is set', async () => {
    const { virtual, clock } = wallClock(100_000)
    const times: number[] = []
    everyInterval(clock, 15_000, () => void times.push(clock.now()))
    await virtual.advance(6000)
    virtual.step(-3_600_007)
    await virtual.advance(60_000)
    const [, ...later] = times.slice(1)
    assert.ok(later.length >= 2 && later.every(time => time % 15_000 === 0), times.join())
  })

  it('counts from the start in a config test, after what is scraped at the moment', async () => {
    const clock = createVirtualClock(100_007)
    const times: number[] = []
    everyInterval(clock, 15_000, () => void times.push(clock.monotonic()))
    await clock.advance(31_000)
    assert.deepEqual(times, [15_001, 30_001])
  })

  it('ends when it is told to, also by what it calls', async () => {
    const clock = createVirtualClock(0)
    let count = 0
    const stop = everyInterval(clock, 1000, () => {
      count++
      stop()
    })
    await clock.advance(10_000)
    assert.equal(count, 1)
  })
})
