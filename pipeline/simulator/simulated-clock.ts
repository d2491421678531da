/**
 * What time it is in the cluster: the machine's, or one of its own that starts where it is told and runs as fast as it is told.
 *
 * It goes in full seconds, so that two clusters of one seed agree to the byte without being asked in the same millisecond, and never
 * back, whatever the machine's clock does.
 */
import type { Clock } from '../component.ts'

export type SimulatedClock = {
  /** When the simulator was started. */
  readonly startMs: number
  /** When the history of the cluster begins: before the start, so that clusters started in one hour are the same one. */
  readonly historyStartMs: number
  now(): number
}

const STEP_MS = 1000
const HOUR_MS = 3_600_000

export function createSimulatedClock(
  clock: Clock,
  { startMs, speed }: { readonly startMs?: number; readonly speed: number },
): SimulatedClock {
  const follows = startMs === undefined && speed === 1
  const firstMs = floor(startMs ?? clock.now(), STEP_MS)
  const beganMs = clock.monotonic()
  let latestMs = firstMs
  return {
    startMs: firstMs,
    historyStartMs: startMs === undefined ? floor(firstMs, HOUR_MS) : firstMs,
    now() {
      const shown = follows ? clock.now() : firstMs + (clock.monotonic() - beganMs) * speed
      latestMs = Math.max(latestMs, floor(shown, STEP_MS))
      return latestMs
    },
  }
}

function floor(timeMs: number, unitMs: number): number {
  return Math.floor(timeMs / unitMs) * unitMs
}
