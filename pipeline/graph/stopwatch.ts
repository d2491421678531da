/**
 * How long each node works by itself, where one calls the next: the time goes to the node that was entered last and not left yet, so
 * that a look at the clock ends the turn of one and begins that of another.
 */
import type { Clock } from '../component.ts'

export type Stopwatch = {
  /** The time runs for another node from now on; the returned one is whose time it was. */
  enter(lap: Lap): Lap | undefined
  /** Back to whose time it was. Returns the milliseconds of the lap since it was entered, without those of laps inside of it. */
  leave(lap: Lap, outer: Lap | undefined): number
}

/** One for each node, used again and again. */
export type Lap = { ms: number }

export function createStopwatch({ monotonic }: Pick<Clock, 'monotonic'>): Stopwatch {
  let running: Lap | undefined
  let sinceMs = 0

  function change(lap: Lap | undefined): void {
    const nowMs = monotonic()
    if (running !== undefined) running.ms += nowMs - sinceMs
    sinceMs = nowMs
    running = lap
  }

  return {
    enter(lap) {
      const outer = running
      change(lap)
      lap.ms = 0
      return outer
    },
    leave(lap, outer) {
      change(outer)
      return lap.ms
    },
  }
}
