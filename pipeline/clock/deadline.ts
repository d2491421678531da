/** Deadlines: moments of a clock's monotonic time. */
import type { Clock } from '../component.ts'

export function deadlineIn(clock: Clock, delayMs: number): number {
  return clock.monotonic() + delayMs
}

/** How long it is until then; 0 if that is past. */
export function timeLeft(clock: Clock, deadlineMs: number): number {
  return Math.max(0, deadlineMs - clock.monotonic())
}

/** Resolves to whether the promise was settled in time: true as soon as it is, false at the deadline. Rejects if the promise does so in time. */
export function settledBy(clock: Clock, deadlineMs: number, promise: Promise<unknown>): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(timeLeft(clock, deadlineMs), () => resolve(false))
    promise.then(
      () => {
        cancel()
        resolve(true)
      },
      (error: unknown) => {
        cancel()
        reject(error as Error)
      },
    )
  })
}
