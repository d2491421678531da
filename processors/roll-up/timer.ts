/** Calls something at full multiples of an interval by the wall clock, so that the results of several collectors are of one moment. */
import type { Clock } from '../../pipeline/component.ts'

/**
 * On the clock of a config test multiples are counted from its start, and what is scraped at the same moment comes before. The returned
 * function ends it.
 */
export function everyInterval(clock: Clock, intervalMs: number, run: () => void): () => void {
  let cancel = clock.after(untilNext(clock, intervalMs), tick)
  function tick(): void {
    cancel = clock.after(untilNext(clock, intervalMs), tick)
    run()
  }
  return () => cancel()
}

/** A timer may fire a little early: what is due within that time was meant. */
const EARLY_MS = 5

const AFTER_SCRAPES_MS = 1

function untilNext(clock: Clock, intervalMs: number): number {
  if (clock.aligned === true) return intervalMs - (clock.monotonic() % intervalMs) + AFTER_SCRAPES_MS
  const rest = intervalMs - (clock.now() % intervalMs)
  return rest <= EARLY_MS ? rest + intervalMs : rest
}
