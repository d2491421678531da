/**
 * What waits on disk for an exporter that the config does not have any more. It may come back, under the same id, so it is kept
 * for a while.
 */
import type { Clock, Log } from '../component.ts'
import type { LastingWorker } from './lasting-worker.ts'

/** By then everything that is in the config has been started. */
const FIRST_LOOK_MS = 60_000
const LOOK_AGAIN_MS = 3_600_000
const KEPT_DAYS = 7
const DAY_MS = 86_400_000

/** Returns what ends it. `open` are the names of the queues that have an owner. */
export function watchForgottenQueues(
  worker: LastingWorker,
  path: string,
  open: ReadonlySet<string>,
  log: Log,
  clock: Clock,
): () => void {
  // Config tests have a new directory each time, and their time stands still only for what they know of.
  if (clock.aligned === true) return () => {}
  const known = new Set<string>()

  async function look(): Promise<void> {
    for (const { name, points } of await worker.ask('queueContents', {})) {
      if (open.has(name)) continue
      const dropped = await worker.ask('dropQueued', { name, acceptedMs: clock.now() - KEPT_DAYS * DAY_MS })
      if (dropped > 0)
        log.error(`points of ${name}, which is not in the config, were dropped from ${path}`, { points: dropped })
      if (!known.has(name) && points > dropped) {
        log.warn(
          `points of ${name}, which is not in the config, wait in ${path}; they are kept for ${KEPT_DAYS} days`,
          {
            points: points - dropped,
          },
        )
      }
      known.add(name)
    }
  }

  function lookAgain(): void {
    // A store that cannot be read says so elsewhere.
    void look().catch(() => {})
    cancel = clock.after(LOOK_AGAIN_MS, lookAgain)
  }
  let cancel = clock.after(FIRST_LOOK_MS, lookAgain)
  return () => cancel()
}
