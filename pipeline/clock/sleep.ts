/** Waiting on a clock. */
import type { Clock } from '../component.ts'

/** Resolves after a delay; rejects with the signal's reason, at once, when that is aborted. */
export function sleep(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted()
    function abort(): void {
      cancel()
      reject(signal!.reason as Error)
    }
    const cancel = clock.after(delayMs, () => {
      signal?.removeEventListener('abort', abort)
      resolve()
    })
    signal?.addEventListener('abort', abort, { once: true })
  })
}
