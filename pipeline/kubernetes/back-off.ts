/** How long to wait before something is tried again: longer each time, and never quite the same. */
import type { Clock } from '../component.ts'
import { hashString } from '../model/intern.ts'

/** A number from 0 up to 1. */
export type Random = () => number

/** By chance; on the virtual clock of config tests always the same for one seed. */
export function createRandom(clock: Clock, seed: string): Random {
  if (clock.aligned !== true) return Math.random
  let state = hashString(seed)
  return () => {
    // A linear congruential generator: jitter needs no better.
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

export type BackOff = {
  /** The next delay in milliseconds. */
  next(): number
  /** It worked: the next delay is the first again. */
  reset(): void
  /** How often there was a delay since it last worked. */
  readonly count: number
}

/** Doubles from the first to the longest delay, each up to a fifth shorter or longer. */
export function createBackOff(random: Random, firstMs: number, longestMs: number): BackOff {
  let count = 0
  return {
    next() {
      const delayMs = Math.min(longestMs, firstMs * 2 ** Math.min(count, 30))
      count++
      return delayMs * (0.8 + 0.4 * random())
    },
    reset() {
      count = 0
    },
    get count() {
      return count
    },
  }
}
