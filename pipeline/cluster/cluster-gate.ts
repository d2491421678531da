/**
 * Whether what hangs on the model of the cluster may pass: not while somebody who fills the model of the cluster is still reading it, and not longer than
 * `wait_for_cluster`. Where nobody fills it there is nothing to wait for.
 */
import type { Host } from '../component.ts'
import { createTracked, trackedChanges, type Entry } from '../model/tracked.ts'
import type { ClusterTables } from './tables.ts'

export type ClusterGate = {
  /** Has a value while something is held back. What was is looked at again when it has none. */
  readonly held: Entry<true>
  /** Looks how far the model is. Called for every batch: there are one or two who fill it. */
  check(): void
  stop(): void
}

const SUBJECT = 'the model of the cluster'
const KEY = 'held'

/** `opened` is called when something may pass that was held back before; `consequence` says what happens if the model is not complete. */
export function createClusterGate(
  feeds: ClusterTables['feeds'],
  waitMs: number,
  host: Host,
  consequence: string,
  opened: () => void,
): ClusterGate {
  const table = createTracked<true>()
  const held = table.entry(KEY)
  let state: 'waiting' | 'late' | 'complete' = 'complete'
  let seen = -1
  let cancel = (): void => {}

  function check(): void {
    if (seen === trackedChanges()) return
    seen = trackedChanges()
    let isReading = false
    for (const feed of feeds.values()) isReading ||= feed === 'reading'
    // Also anew, when a reload has replaced who fills it.
    if (isReading && state === 'complete') wait()
    if (isReading || state === 'complete') return
    if (state === 'late') host.log.state(SUBJECT, 'ok')
    open('complete')
  }

  function wait(): void {
    state = 'waiting'
    table.set(KEY, true)
    cancel = host.clock.after(waitMs, () => {
      check()
      if (state === 'waiting') giveUp()
    })
  }

  function giveUp(): void {
    const message = `it is not complete after ${waitMs / 1000}s; ${consequence}`
    host.log.state(SUBJECT, 'failing', message)
    open('late')
  }

  function open(now: 'late' | 'complete'): void {
    state = now
    cancel()
    if (held.value === undefined) return
    table.delete(KEY)
    opened()
  }

  return { held, check, stop: () => cancel() }
}
