/** The embedded store: on disk where the config names a directory, otherwise in memory. */
import { sleep } from '../clock/sleep.ts'
import type { Clock, Log, StateStore, Storage } from '../component.ts'
import { createMemoryStorage } from './memory-storage.ts'
import { startWorker, type WorkerClient } from './worker-client.ts'
import type { OpenReply } from './worker-messages.ts'

/** `close` finishes what was written and gives the directory back; writing after it is an error. It may be called twice. */
export type OpenStorage = Storage & { close(): Promise<void> }

export type StorageOptions = { readonly maxBytes?: number }

/** How long the process that had the directory before may take to end. */
const LOCK_WAIT_MS = 30_000
const LOCK_RETRY_MS = 250
const MAX_BYTES = 2 ** 30

/** Never fails: a directory that cannot be had is reported, and state is in memory. */
export async function openStorage(
  directory: string | undefined,
  log: Log,
  clock: Clock,
  { maxBytes = MAX_BYTES }: StorageOptions = {},
): Promise<OpenStorage> {
  if (directory === undefined) {
    log.info('state is in memory and ends with the process: service.storage is not set')
    return inMemory()
  }
  let opened = false
  const worker = startWorker(error => {
    if (opened) log.error(`state is not kept any more: ${error.message}`)
  })
  const open = (): Promise<OpenReply> => worker.open({ directory, maxBytes, nowMs: clock.now() })
  try {
    let reply = await open()
    if (reply.busy) {
      log.info(`waiting for another process to leave ${directory}`)
      const deadlineMs = clock.monotonic() + LOCK_WAIT_MS
      while (reply.busy && clock.monotonic() < deadlineMs) {
        await sleep(clock, LOCK_RETRY_MS)
        reply = await open()
      }
    }
    if (reply.busy) throw new Error(`another process uses ${directory}`)
    if (reply.movedAside !== undefined) {
      log.warn(`state.db was damaged and is now ${reply.movedAside}: starting without earlier state`)
    }
    opened = true
    return onDisk(worker)
  } catch (error) {
    await worker.close()
    log.error(`state is in memory and ends with the process: ${(error as Error).message}`)
    return inMemory()
  }
}

function inMemory(): OpenStorage {
  return { ...createMemoryStorage(), close: async () => {} }
}

function onDisk(worker: WorkerClient): OpenStorage {
  return {
    persistent: true,
    state: (name): StateStore => ({
      load: () => worker.load(name),
      write: changes => worker.write(name, changes),
    }),
    close: () => worker.close(),
  }
}
