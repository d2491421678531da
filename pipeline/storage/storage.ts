/** The embedded store: on disk where the config names a directory, otherwise in memory. */
import { resolve } from 'node:path'
import type { Clock, Log, QueueStore, StateStore, Storage } from '../component.ts'
import type { LastingWorker } from './lasting-worker.ts'
import { createMemoryQueues, withoutBody, type MemoryQueues } from './memory-queues.ts'
import { createMemoryStorage } from './memory-storage.ts'
import { packEntries, unpackEntries } from './packed-entries.ts'
import { createStoreDirectory, type StoreDirectory } from './store-directory.ts'

/**
 * `close` finishes what was written and gives the directories back; writing after it is an error. It may be called twice.
 */
export type OpenStorage = Storage & { close(): Promise<void> }

export type StorageOptions = { readonly maxBytes?: number }

const MAX_BYTES = 2 ** 30

/** Never fails: a directory that cannot be had is reported, and state is in memory. */
export async function openStorage(
  directory: string | undefined,
  log: Log,
  clock: Clock,
  { maxBytes = MAX_BYTES }: StorageOptions = {},
): Promise<OpenStorage> {
  const memoryQueues = createMemoryQueues(clock)
  const directories = new Map<string, StoreDirectory>()

  function directoryAt(path: string): StoreDirectory {
    const key = resolve(path)
    let found = directories.get(key)
    if (found === undefined) directories.set(key, (found = createStoreDirectory(path, log, clock)))
    return found
  }

  const named = directory === undefined ? undefined : directoryAt(directory)
  const state = await openState(named, memoryQueues, log, clock, maxBytes)
  // Whoever could not have it for state has said so, and does not wait for it again.
  const own = state.persistent ? named : undefined
  return {
    ...state,
    async queue(name, options) {
      const at = options.directory === undefined ? own : directoryAt(options.directory)
      const queue = await at?.queue(name, options.maxBytes)
      return queue === undefined ? memoryQueues.open(name) : takeOver(queue, memoryQueues, name)
    },
    async close() {
      memoryQueues.close()
      await Promise.all(Array.from(directories.values(), one => one.close()))
    },
  }
}

/** An exporter that had its queue in memory has it on disk after a reload. */
async function takeOver(queue: QueueStore, memory: MemoryQueues, name: string): Promise<QueueStore> {
  const left = memory.take(name)
  if (left === undefined) return queue
  const added = Array.from(left.rows.values(), row => ({ ...row, id: queue.nextId() }))
  try {
    await queue.write({ added, removed: [], tried: new Map() })
  } catch {
    // The owner that comes will meet the same, and say it.
    left.abandoned()
    return queue
  }
  return { ...queue, takeWaiting: () => [...queue.takeWaiting(), ...added.map(withoutBody)] }
}

async function openState(
  directory: StoreDirectory | undefined,
  queues: MemoryQueues,
  log: Log,
  clock: Clock,
  maxBytes: number,
): Promise<Storage> {
  if (directory === undefined) {
    log.info('state is in memory and ends with the process: service.storage is not set')
    return createMemoryStorage(clock, queues)
  }
  try {
    const worker = await directory.use('state')
    await worker.open('openState', { maxBytes, nowMs: clock.now() }, ({ movedAside }) => {
      if (movedAside === undefined) return
      log.warn(`state.db was damaged and is now ${movedAside}: starting without earlier state`)
    })
    return { ...createMemoryStorage(clock, queues), persistent: true, state: name => stateOf(worker, name) }
  } catch (error) {
    await directory.leave('state')
    log.error(`state is in memory and ends with the process: ${(error as Error).message}`)
    return createMemoryStorage(clock, queues)
  }
}

function stateOf(worker: LastingWorker, name: string): StateStore {
  return {
    async load() {
      const packed = await worker.ask('load', { name })
      return new Map(unpackEntries(packed) as Iterable<[string, Uint8Array]>)
    },
    write(changes) {
      return worker.ask('write', { name, changes: packEntries(changes) })
    },
  }
}
