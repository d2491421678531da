/**
 * Work that can be interrupted: a generator that pauses every few milliseconds, so that millions of series do not hold up
 * whatever else the process does.
 */

export const pause = undefined
export type Work<T> = Generator<typeof pause, T, void>

export function finishNow<T>(work: Work<T>): T {
  for (;;) {
    const step = work.next()
    if (step.done === true) return step.value
  }
}

/** Lets the event loop turn at every pause. */
export async function finishInTurns<T>(work: Work<T>): Promise<T> {
  for (;;) {
    const step = work.next()
    if (step.done === true) return step.value
    await new Promise(resolve => setImmediate(resolve))
  }
}
