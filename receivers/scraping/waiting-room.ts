/**
 * Where batches wait that no pipeline takes, as `memory_limiter` does above its hard limit: the newest of each source. While any waits no
 * scrape begins, since what it brings would have to wait, too; those that were due begin when all are taken. So scrapes are late, not
 * lost, and there is never more to keep than what was under way when the refusing began.
 */
import { RefusedError, type Host, type Next } from '../../pipeline/component.ts'
import { pointCount, type Batch, type Source } from '../../pipeline/model/batch.ts'
import type { Task } from './scheduler.ts'

export type WaitingRoom = {
  /** Hands a batch on, now or later. Never throws. */
  give: Next
  /** Starts a scrape, now or later; of one that is late already there is still one. */
  run(task: Task): void
  /** Forgets a scrape that is late. */
  forget(task: Task): void
  /** Tries once more. */
  stop(): void
}

const TRY_AGAIN_MS = 1000
/** Scrapes that are late begin so long after each other: all at once would need the memory that there was none of. */
const LATE_APART_MS = 10
const SUBJECT = 'the pipeline'

export function createWaitingRoom(
  { clock, counters, log }: Pick<Host, 'clock' | 'counters' | 'log'>,
  next: Next,
): WaitingRoom {
  const waiting = new Map<Source, Batch>()
  const late = new Set<Task>()
  let cancelTimer: (() => void) | undefined
  let points = 0
  const unobserve = counters.observe('gpucol_receiver_delayed_metric_points', () => [{ value: points }])

  function give(batch: Batch): void {
    // What is newer, or the end of the source, stands in the place of what waits.
    if (waiting.size > 0) forgetBatch(batch.source)
    if (isTaken(batch)) return
    waiting.set(batch.source, batch)
    points += pointCount(batch)
    tryLater(TRY_AGAIN_MS)
  }

  function forgetBatch(source: Source): void {
    const batch = waiting.get(source)
    if (batch === undefined) return
    waiting.delete(source)
    points -= pointCount(batch)
  }

  function isTaken(batch: Batch): boolean {
    try {
      next(batch)
      return true
    } catch (error) {
      const reason = (error as Error).message
      if (error instanceof RefusedError) log.state(SUBJECT, 'failing', `${reason}: scrapes wait`)
      else log.error('a batch was not taken', { source: batch.source.name, reason })
      return !(error instanceof RefusedError)
    }
  }

  function tryLater(delayMs: number): void {
    cancelTimer ??= clock.after(delayMs, () => {
      cancelTimer = undefined
      release()
    })
  }

  function release(): void {
    giveWaiting()
    if (waiting.size > 0) return tryLater(TRY_AGAIN_MS)
    log.state(SUBJECT, 'ok')
    const [first] = late
    if (first === undefined) return
    late.delete(first)
    first.scrape()
    if (late.size > 0) tryLater(LATE_APART_MS)
  }

  /** The longest waiting first. Where one is refused, the others would be. */
  function giveWaiting(): void {
    for (const [source, batch] of waiting) {
      if (!isTaken(batch)) return
      forgetBatch(source)
    }
  }

  return {
    give,
    run(task) {
      if (waiting.size === 0) {
        if (late.size > 0) late.delete(task)
        return task.scrape()
      }
      counters.add('gpucol_receiver_scrapes', 1, { outcome: 'delayed' })
      late.add(task)
    },
    forget: task => void late.delete(task),
    stop() {
      cancelTimer?.()
      late.clear()
      giveWaiting()
      waiting.clear()
      points = 0
      log.state(SUBJECT, 'gone')
      unobserve()
    },
  }
}
