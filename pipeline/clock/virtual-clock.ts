/**
 * A clock that stands still until it is told to run, so that hours of a pipeline pass in a moment and always in the same way.
 *
 * Timers fire in order of their time, those of one time in the order in which they were made, and everything that a timer sets
 * off by promises is through before the next one fires. Work that is done outside this thread (a store's worker, compression)
 * cannot be seen from here: whoever starts it says so by `track`.
 */
import type { Clock } from '../component.ts'

export type VirtualClock = Clock & {
  /** Runs until the wall clock shows `timeMs`, timers of that moment included. Rejects with what a timer throws. */
  runTo(timeMs: number): Promise<void>
  /**
   * Runs until the wall clock shows `timeMs`, but lets the timers of that moment wait for the next run. What `change` sets off at
   * that moment comes before them, and is through when this resolves.
   */
  runBefore(timeMs: number, change: () => void): Promise<void>
  /** Runs for a while. */
  advance(byMs: number): Promise<void>
  /** Time does not go on before the promise is settled. */
  track<T>(promise: Promise<T>): Promise<T>
  /** Sets the wall clock forward or back, as an administrator does; timers do not notice. */
  step(byMs: number): void
}

type Timer = { readonly atMs: number; readonly order: number; run: (() => void) | undefined }

/** How often the event loop turns without anything new to do before the moment counts as over. */
const QUIET_TURNS = 3

export function createVirtualClock(startMs: number): VirtualClock {
  const timers = new TimerHeap()
  const outside = new Set<Promise<unknown>>()
  let wallAtZeroMs = startMs
  let elapsedMs = 0
  let made = 0
  let running = false

  /** Fires what is due now, until neither a timer nor a promise brings anything new for this moment. */
  async function settle(): Promise<void> {
    let quiet = 0
    while (quiet < QUIET_TURNS) {
      const timer = timers.takeDue(elapsedMs)
      if (timer !== undefined) {
        quiet = 0
        timer.run?.()
      } else if (outside.size > 0) {
        quiet = 0
        await Promise.race(outside)
      } else {
        quiet++
      }
      await turn()
    }
  }

  async function run(untilMs: number, work: () => Promise<void>): Promise<void> {
    if (running) throw new Error('the virtual clock is running already')
    if (!(untilMs >= elapsedMs)) throw new RangeError('the virtual clock does not run backwards')
    running = true
    try {
      await work()
    } finally {
      running = false
    }
  }

  async function fireWhile(isIncluded: (timeMs: number) => boolean): Promise<void> {
    if (isIncluded(elapsedMs)) await settle()
    for (let next = timers.nextMs(); isIncluded(next); next = timers.nextMs()) {
      elapsedMs = Math.max(elapsedMs, next)
      await settle()
    }
  }

  function runUntil(untilMs: number): Promise<void> {
    return run(untilMs, async () => {
      await fireWhile(timeMs => timeMs <= untilMs)
      elapsedMs = untilMs
    })
  }

  function runUntilBefore(untilMs: number, change: () => void): Promise<void> {
    return run(untilMs, async () => {
      await fireWhile(timeMs => timeMs < untilMs)
      elapsedMs = untilMs
      const waiting: Timer[] = []
      for (let due = timers.takeDue(untilMs); due !== undefined; due = timers.takeDue(untilMs)) waiting.push(due)
      try {
        change()
        await settle()
      } finally {
        for (const timer of waiting) timers.add(timer)
      }
    })
  }

  return {
    aligned: true,
    now: () => wallAtZeroMs + elapsedMs,
    monotonic: () => elapsedMs,
    after(delayMs, run) {
      const timer: Timer = { atMs: elapsedMs + Math.max(0, delayMs), order: made++, run }
      timers.add(timer)
      return () => {
        timer.run = undefined
      }
    },
    runTo: timeMs => runUntil(timeMs - wallAtZeroMs),
    runBefore: (timeMs, change) => runUntilBefore(timeMs - wallAtZeroMs, change),
    advance: byMs => runUntil(elapsedMs + byMs),
    track(promise) {
      const forget = (): unknown => outside.delete(settled)
      const settled: Promise<unknown> = promise.then(forget, forget)
      outside.add(settled)
      return promise
    },
    step(byMs) {
      wallAtZeroMs += byMs
    },
  }
}

/** Lets everything run that promises, `process.nextTick` and `setImmediate` have made ready. */
function turn(): Promise<void> {
  return new Promise(resolve => setImmediate(resolve))
}

/** The timers, the next one first. Cancelled ones stay until they would be next. */
class TimerHeap {
  #timers: Timer[] = []

  add(timer: Timer): void {
    const timers = this.#timers
    let at = timers.length
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (isBefore(timers[parent]!, timer)) break
      timers[at] = timers[parent]!
      at = parent
    }
    timers[at] = timer
  }

  takeDue(nowMs: number): Timer | undefined {
    this.#dropCancelled()
    const first = this.#timers[0]
    return first !== undefined && first.atMs <= nowMs ? this.#take() : undefined
  }

  /** When the next timer is due; never, if there is none. */
  nextMs(): number {
    this.#dropCancelled()
    return this.#timers[0]?.atMs ?? Infinity
  }

  #dropCancelled(): void {
    while (this.#timers.length > 0 && this.#timers[0]!.run === undefined) this.#take()
  }

  #take(): Timer {
    const timers = this.#timers
    const first = timers[0]!
    const last = timers.pop()!
    if (timers.length > 0) {
      let at = 0
      for (;;) {
        let child = 2 * at + 1
        if (child >= timers.length) break
        if (child + 1 < timers.length && isBefore(timers[child + 1]!, timers[child]!)) child++
        if (isBefore(last, timers[child]!)) break
        timers[at] = timers[child]!
        at = child
      }
      timers[at] = last
    }
    return first
  }
}

function isBefore(one: Timer, other: Timer): boolean {
  return one.atMs !== other.atMs ? one.atMs < other.atMs : one.order < other.order
}
