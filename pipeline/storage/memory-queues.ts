/** Queues that live as long as the process. What one owner leaves, the next one of the name finds: a reload loses nothing. */
import type { Clock, QueueChanges, QueuedRequest, QueueStore } from '../component.ts'

type Left = { readonly rows: Rows; readonly abandoned: () => void; readonly cancel: () => void }
type Rows = Map<number, QueueChanges['added'][number]>

export type MemoryQueues = {
  open(name: string): QueueStore
  /** What the last owner left, if it left something, for a queue elsewhere. */
  take(name: string): Pick<Left, 'rows' | 'abandoned'> | undefined
  /** Nobody comes any more. */
  close(): void
}

/** How long a queue waits for its next owner: a reload stops one exporter and starts the next. */
const WAIT_MS = 30_000

/** Without a clock what is left waits until the end. */
export function createMemoryQueues(clock?: Clock): MemoryQueues {
  const leftByName = new Map<string, Left>()
  let lastId = 0

  function take(name: string): Left | undefined {
    const left = leftByName.get(name)
    leftByName.delete(name)
    left?.cancel()
    return left
  }

  return {
    take,
    open(name) {
      const rows: Rows = take(name)?.rows ?? new Map()
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
          take(name)?.abandoned()
          leftByName.set(name, {
            rows,
            abandoned,
            cancel: clock?.after(WAIT_MS, () => take(name)?.abandoned()) ?? (() => {}),
          })
        },
      }
    },
    close() {
      for (const name of leftByName.keys()) take(name)?.abandoned()
    },
  }
}

export function withoutBody(row: QueueChanges['added'][number]): QueuedRequest {
  const { body: _, ...request } = row
  return request
}
