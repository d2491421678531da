/** A queue on disk, as its owner sees it. */
import type { QueuedRequest, QueueStore } from '../component.ts'
import type { LastingWorker } from './lasting-worker.ts'
import { packBodies, packRequests, unpackRequests } from './packed-requests.ts'

/** Ids of a directory: each larger than all before it, whichever queue it is for. */
export type Ids = { next: number }

/** Rejects with a sentence if it cannot be opened. `closed` is told when its owner gives it back. */
export async function openDiskQueue(
  worker: LastingWorker,
  name: string,
  maxBytes: number,
  ids: Ids,
  closed: () => Promise<void>,
): Promise<QueueStore> {
  let waiting: readonly QueuedRequest[] | undefined
  await worker.open('openQueue', { name, maxBytes }, ({ waiting: packed, nextId }) => {
    waiting ??= unpackRequests(packed)
    ids.next = Math.max(ids.next, nextId)
  })
  return {
    persistent: true,
    takeWaiting() {
      const taken = waiting ?? []
      waiting = []
      return taken
    },
    nextId: () => ids.next++,
    write({ added, removed, tried }) {
      const bodies = packBodies(added)
      return worker.ask('writeQueue', { name, changes: { added: packRequests(added), bodies, removed, tried } })
    },
    read: id => worker.ask('readQueue', { id }),
    close: closed,
  }
}
