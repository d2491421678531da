/** The embedded store: on disk where the config names a directory, otherwise in memory. */
import { resolve } from 'node:path'
import type { Clock, Log, StateStore, Storage } from '../component.ts'
import { createMemoryQueues, type MemoryQueues } from './memory-queues.ts'
import { createMemoryStorage } from './memory-storage.ts'
import { packEntries, unpackEntries } from './packed-entries.ts'
import { createStoreDirectory, type StoreDirectory } from './store-directory.ts'
import type { WorkerClient } from './worker-client.ts'

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
      return (await at?.queue(name, options.maxBytes)) ?? memoryQueues.open(name)
    },
    async close() {
      memoryQueues.close()
      await Promise.all(Array.from(directories.values(), one => one.close()))
    },
  }
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
    const { movedAside } = await worker.ask('openState', { maxBytes, nowMs: clock.now() })
    if (movedAside !== undefined) {
      log.warn(`state.db was damaged and is now ${movedAside}: starting without earlier state`)
    }
    return { ...createMemoryStorage(clock, queues), persistent: true, state: name => stateOf(worker, name) }
  } catch (error) {
    await directory.leave('state')
    log.error(`state is in memory and ends with the process: ${(error as Error).message}`)
    return createMemoryStorage(clock, queues)
  }
}

function stateOf(worker: WorkerClient, name: string): StateStore {
  return {
    async load() {
      const packed = await worker.ask('load', { name })
      return new Map(unpackEntries(packed) as Iterable<[string, Uint8Array]>)
    },
    write(changes) {
      const packed = packEntries(changes)
      return worker.ask('write', { name, changes: packed }, [packed.bytes.buffer])
    },
  }
}
