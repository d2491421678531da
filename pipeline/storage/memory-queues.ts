/** Queues that live as long as the process. What one owner leaves, the next one of the name finds: a reload loses nothing. */
import type { Clock, QueueChanges, QueuedRequest, QueueStore } from '../component.ts'

type Left = { readonly rows: Rows; readonly abandoned: () => void; readonly cancel: () => void }
type Rows = Map<number, QueueChanges['added'][number]>

export type MemoryQueues = {
  open(name: string): QueueStore
  /** Nobody comes any more. */
  close(): void
}

/** How long a queue waits for its next owner: a reload stops one exporter and starts the next. */
const WAIT_MS = 30_000

/** Without a clock what is left waits until the end. */
export function createMemoryQueues(clock?: Clock): MemoryQueues {
  const leftByName = new Map<string, Left>()
  let lastId = 0

  function giveUp(name: string): void {
    const left = leftByName.get(name)
    leftByName.delete(name)
    left?.cancel()
    left?.abandoned()
  }

  return {
    open(name) {
      const left = leftByName.get(name)
      leftByName.delete(name)
      left?.cancel()
      const rows: Rows = left?.rows ?? new Map()
      return {
        persistent: false,
        takeWaiting: () => Array.from(rows.values(), withoutBody),
        nextId: () => ++lastId,
        async write({ added, removed, tried }) {
          for (const id of removed) rows.delete(id)
          for (const row of added) rows.set(row.id, row)
          for (const [id, isTried] of tried) {
            const row = rows.get(id)
            if (row !== undefined) rows.set(id, { ...row, isTried })
          }
        },
        read: async id => rows.get(id)?.body,
        async close(abandoned) {
          if (rows.size === 0) return
          giveUp(name)
          leftByName.set(name, { rows, abandoned, cancel: clock?.after(WAIT_MS, () => giveUp(name)) ?? (() => {}) })
        },
      }
    },
    close() {
      for (const name of leftByName.keys()) giveUp(name)
    },
  }
}

function withoutBody(row: QueueChanges['added'][number]): QueuedRequest {
  const { body: _, ...request } = row
  return request
}
