/**
 * Whether series of pods may pass: not while somebody who fills the model of the cluster is still reading it, and not longer than
 * `wait_for_cluster`. Where nobody fills it there is nothing to wait for.
 */
import type { ClusterTables } from '../../pipeline/cluster/tables.ts'
import type { Host } from '../../pipeline/component.ts'
import { createTracked, type Entry } from '../../pipeline/model/tracked.ts'

export type ClusterGate = {
  /** Has a value while series of pods are held back. Those that were are looked at again when it has none. */
  readonly held: Entry<true>
  /** Looks how far the model is. Called for every batch: there are one or two who fill it. */
  check(): void
  stop(): void
}

const SUBJECT = 'the model of the cluster'
const KEY = 'held'

/** `opened` is called when series of pods may pass that were held back before. */
export function createClusterGate(
  feeds: ClusterTables['feeds'],
  waitMs: number,
  host: Host,
  opened: () => void,
): ClusterGate {
  const table = createTracked<true>()
  const held = table.entry(KEY)
  let state: 'waiting' | 'late' | 'complete' = 'complete'
  let cancel = (): void => {}

  function check(): void {
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
    const message = `it is not complete after ${waitMs / 1000}s; samples of pods that are not known are passed on as they are`
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
