import assert from 'node:assert/strict'
import { setTimeout as realDelay } from 'node:timers/promises'
import { deadlineIn, settledBy, timeLeft } from '../../../pipeline/clock/deadline.ts'
import { sleep } from '../../../pipeline/clock/sleep.ts'
import { createVirtualClock } from '../../../pipeline/clock/virtual-clock.ts'

const START = Date.parse('2023-11-14T22:13:30Z')

describe('virtual clock', () => {
  it('stands still until it is run', async () => {
    const clock = createVirtualClock(START)
    await realDelay(2)
    assert.equal(clock.now(), START)
    await clock.runTo(START + 500)
    assert.equal(clock.now(), START + 500)
    assert.equal(clock.monotonic(), 500)
  })

  it('fires timers in order of time, then of creation, at exactly their time', async () => {
    const clock = createVirtualClock(START)
    const fired: string[] = []
    for (const [name, delay] of Object.entries({ c: 30, a: 10, b: 20, a2: 10, late: 31, c2: 30 })) {
      clock.after(delay, () => fired.push(`${name}@${clock.monotonic()}`))
    }
    await clock.advance(30)
    assert.deepEqual(fired, ['a@10', 'a2@10', 'b@20', 'c@30', 'c2@30'])
    await clock.advance(1)
    assert.equal(fired.at(-1), 'late@31')
  })

  it('lets a change of a moment come before the timers of that moment', async () => {
    const clock = createVirtualClock(START)
    const fired: string[] = []
    const note = (name: string) => () => void fired.push(`${name}@${clock.monotonic()}`)
    clock.after(9, note('before'))
    clock.after(10, note('due'))
    const cancel = clock.after(10, note('cancelled'))
    await clock.runBefore(START + 10, () => {
      note('change')()
      cancel()
      clock.after(0, note('set off'))
      clock.after(1, note('later'))
    })
    assert.deepEqual(fired, ['before@9', 'change@10', 'set off@10'])
    assert.equal(clock.now(), START + 10)
    await clock.runTo(START + 10)
    assert.deepEqual(fired.slice(3), ['due@10'])
    await clock.runBefore(START + 11, note('next change'))
    assert.deepEqual(fired.slice(4), ['next change@11'])
    await clock.advance(0)
    assert.deepEqual(fired.slice(5), ['later@11'])
  })

  it('has its timers still when a change throws', async () => {
    const clock = createVirtualClock(START)
    let fired = 0
    clock.after(10, () => fired++)
    await assert.rejects(
      clock.runBefore(START + 10, () => {
        throw new Error('no')
      }),
      /^Error: no$/,
    )
    await clock.runTo(START + 10)
    assert.equal(fired, 1)
  })

  it('keeps the order over thousands of timers and cancellations', async () => {
    const clock = createVirtualClock(0)
    const fired: number[] = []
    const expected: number[] = []
    let seed = 7
    for (let i = 0; i < 5000; i++) {
      seed = (Math.imul(seed, 1103515245) + 12345) >>> 0
      const delay = (seed >>> 8) % 100
      const cancel = clock.after(delay, () => fired.push(delay * 10_000 + i))
      if (i % 3 === 0) cancel()
      else expected.push(delay * 10_000 + i)
    }
    await clock.advance(1000)
    assert.deepEqual(
      fired,
      expected.sort((a, b) => a - b),
    )
  })

  it('is through with what a timer set off by promises before the next timer fires', async () => {
    const clock = createVirtualClock(START)
    const seen: string[] = []
    clock.after(10, () => {
      void (async () => {
        for (let i = 0; i < 50; i++) await Promise.resolve()
        await new Promise(resolve => setImmediate(resolve))
        await sleep(clock, 0)
        seen.push('first')
      })()
    })
    clock.after(11, () => seen.push('second'))
    await clock.advance(11)
    assert.deepEqual(seen, ['first', 'second'])
  })

  it('runs timers that are made while it runs, when their time comes', async () => {
    const clock = createVirtualClock(START)
    const ticks: number[] = []
    function tick(): void {
      ticks.push(clock.monotonic())
      clock.after(15_000, tick)
    }
    clock.after(0, tick)
    await clock.advance(60_000)
    assert.deepEqual(ticks, [0, 15_000, 30_000, 45_000, 60_000])
  })

  it('runs a day of short timers without waiting for any', async () => {
    const clock = createVirtualClock(START)
    let ticks = 0
    function tick(): void {
      ticks++
      clock.after(15_000, tick)
    }
    tick()
    await clock.advance(24 * 3600_000)
    assert.equal(ticks, 24 * 240 + 1)
  })

  it('does not go on while tracked work outside is under way', async () => {
    const clock = createVirtualClock(START)
    const seen: string[] = []
    clock.after(10, () => void clock.track(realDelay(5)).then(() => seen.push('stored')))
    clock.after(11, () => seen.push('next'))
    await clock.advance(11)
    assert.deepEqual(seen, ['stored', 'next'])
  })

  it('goes on when tracked work fails', async () => {
    const clock = createVirtualClock(START)
    const work = clock.track(realDelay(1).then(() => Promise.reject(new Error('full'))))
    const refusal = assert.rejects(work, /full/)
    await clock.advance(1)
    await refusal
  })

  it('steps the wall clock without touching timers', async () => {
    const clock = createVirtualClock(START)
    let fired = false
    clock.after(100, () => (fired = true))
    clock.step(-3600_000)
    assert.equal(clock.now(), START - 3600_000)
    await clock.advance(99)
    assert.equal(fired, false)
    await clock.runTo(START - 3600_000 + 100)
    assert.equal(fired, true)
  })

  it('refuses to run backwards, or twice at once', async () => {
    const clock = createVirtualClock(START)
    await assert.rejects(clock.runTo(START - 1), /does not run backwards/)
    const running = clock.advance(10)
    await assert.rejects(clock.advance(10), /running already/)
    await running
  })

  it('rejects with what a timer throws, and can go on', async () => {
    const clock = createVirtualClock(START)
    clock.after(1, () => {
      throw new Error('broken timer')
    })
    await assert.rejects(clock.advance(5), /broken timer/)
    await clock.advance(5)
  })
})

describe('sleep and deadlines', () => {
  it('sleeps for as long as told', async () => {
    const clock = createVirtualClock(START)
    let awake = false
    void sleep(clock, 100).then(() => (awake = true))
    await clock.advance(99)
    assert.equal(awake, false)
    await clock.advance(1)
    assert.equal(awake, true)
  })

  it('wakes up at once, with the reason, when it is aborted', async () => {
    const clock = createVirtualClock(START)
    const controller = new AbortController()
    const sleeping = sleep(clock, 100, controller.signal)
    controller.abort(new Error('stopped'))
    await assert.rejects(sleeping, /stopped/)
    await assert.rejects(sleep(clock, 100, controller.signal), /stopped/)
  })

  it('says whether a promise was settled in time', async () => {
    const clock = createVirtualClock(START)
    const deadline = deadlineIn(clock, 50)
    const early = settledBy(clock, deadline, sleep(clock, 49))
    const late = settledBy(clock, deadline, sleep(clock, 51))
    const failing = settledBy(clock, deadline, Promise.reject(new Error('no')))
    await assert.rejects(failing, /no/)
    await clock.advance(20)
    assert.equal(timeLeft(clock, deadline), 30)
    await clock.advance(80)
    assert.equal(timeLeft(clock, deadline), 0)
    assert.deepEqual([await early, await late], [true, false])
  })
})
