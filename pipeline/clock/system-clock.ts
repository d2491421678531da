/** The machine's own time. */
import type { Clock } from '../component.ts'

/** Node fires a timer with a longer delay at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

/** A timer that is waited for keeps the process alive: whoever starts one cancels it when it stops. */
export function createSystemClock(): Clock {
  return {
    now: () => Date.now(),
    monotonic: () => performance.now(),
    after(delayMs, run) {
      if (delayMs > LONGEST_TIMER_MS) return afterLong(delayMs, run)
      const timer = setTimeout(run, Math.max(0, delayMs))
      return () => clearTimeout(timer)
    },
  }
}

function afterLong(delayMs: number, run: () => void): () => void {
  let timer: NodeJS.Timeout
  function wait(leftMs: number): void {
    if (leftMs > LONGEST_TIMER_MS) timer = setTimeout(() => wait(leftMs - LONGEST_TIMER_MS), LONGEST_TIMER_MS)
    else timer = setTimeout(run, leftMs)
  }
  wait(delayMs)
  return () => clearTimeout(timer)
}
