/**
 * Whether series of pods may pass: not while somebody who fills the model of the cluster is still reading it, and not longer than
 * `wait_for_cluster`. Where nobody fills it there is nothing to wait for.
 */
import type { ClusterTables } from '../../pipeline/cluster/tables.ts'
import type { Host } from '../../pipeline/component.ts'
import { createTracked, type Entry } from '../../pipeline/model/tracked.ts'

export type ClusterGate = {
  /** Has a value while series of pods are held back. */
  readonly held: Entry<true>
  /** Looks how far the model is. Called for every batch, so cheap once it is complete. */
  check(): void
}

const SUBJECT = 'the model of the cluster'
const KEY = 'held'

export function createClusterGate(feeds: ClusterTables['feeds'], waitMs: number, host: Host): ClusterGate {
  const table = createTracked<true>()
  let state: 'before' | 'waiting' | 'late' | 'complete' = 'before'
  let deadlineMs = 0

  function check(): void {
    if (state === 'complete') return
    const found = [...feeds.values()]
    if (found.includes('reading')) {
      if (state === 'before') begin()
      if (state === 'waiting' && host.clock.monotonic() >= deadlineMs) giveUp()
    } else if (found.length > 0) {
      table.delete(KEY)
      if (state === 'late') host.log.state(SUBJECT, 'ok')
      state = 'complete'
    }
  }

  function begin(): void {
    state = 'waiting'
    deadlineMs = host.clock.monotonic() + waitMs
    table.set(KEY, true)
  }

  function giveUp(): void {
    state = 'late'
    table.delete(KEY)
    const message = `it is not complete after ${waitMs / 1000}s; samples of pods that are not known are passed on as they are`
    host.log.state(SUBJECT, 'failing', message)
  }

  return { held: table.entry(KEY), check }
}
