/** State that lives as long as the process. */
import type { Clock, StateStore, Storage } from '../component.ts'
import { createMemoryQueues, type MemoryQueues } from './memory-queues.ts'

/** Queues that somebody else has, too, or of its own: those wait for their next owner by the clock, without one until the end. */
export function createMemoryStorage(clock?: Clock, queues: MemoryQueues = createMemoryQueues(clock)): Storage {
  const stores = new Map<string, StateStore>()
  return {
    persistent: false,
    queue: async name => queues.open(name),
    state(name) {
      let store = stores.get(name)
      if (store === undefined) stores.set(name, (store = createStore()))
      return store
    },
  }
}

/** Copies what goes in and what comes out, as a store on disk does: nobody shares bytes with it. */
function createStore(): StateStore {
  const entries = new Map<string, Uint8Array>()
  return {
    async load() {
      return new Map(Array.from(entries, ([key, value]) => [key, value.slice()]))
    },
    async write(changes) {
      for (const [key, value] of changes) {
        if (value === undefined) entries.delete(key)
        else entries.set(key, value.slice())
      }
    },
  }
}
