/** A directory on disk and the worker that has it, as long as somebody keeps something there. */
import { sleep } from '../clock/sleep.ts'
import type { Clock, Log, QueueStore } from '../component.ts'
import { openDiskQueue, type Ids } from './disk-queue.ts'
import { watchForgottenQueues } from './forgotten-queues.ts'
import { startWorker, type WorkerClient } from './worker-client.ts'

export type StoreDirectory = {
  /** The worker, once the directory is locked. Rejects with a sentence if it cannot be had; `leave` also then. */
  use(user: string): Promise<WorkerClient>
  /** When nobody uses it any more, it is given back. */
  leave(user: string): Promise<void>
  /** Undefined, and a line in the log, if it cannot be had. */
  queue(name: string, maxBytes: number): Promise<QueueStore | undefined>
  /** Gives it back, whoever uses it. */
  close(): Promise<void>
}

/** How long the process that had the directory before may take to end. */
const LOCK_WAIT_MS = 30_000
const LOCK_RETRY_MS = 250

export function createStoreDirectory(path: string, log: Log, clock: Clock): StoreDirectory {
  const users = new Set<string>()
  const queueNames = new Set<string>()
  const ids: Ids = { next: 1 }
  let opened: Promise<WorkerClient> | undefined
  let closing: Promise<void> = Promise.resolve()
  let unwatch: (() => void) | undefined

  async function open(): Promise<WorkerClient> {
    let isOpen = false
    const worker = startWorker({
      died(error) {
        if (isOpen) log.error(`nothing is kept in ${path} any more: ${error.message}`)
      },
      notice: message => log.warn(message),
    })
    try {
      await lock(worker, path, log, clock)
      isOpen = true
      return worker
    } catch (error) {
      await worker.close()
      throw error
    }
  }

  async function leave(user: string): Promise<void> {
    users.delete(user)
    if (users.size === 0) await close()
  }

  function close(): Promise<void> {
    unwatch?.()
    unwatch = undefined
    users.clear()
    queueNames.clear()
    const ending = opened
    opened = undefined
    closing = Promise.all([closing, ending?.then(worker => worker.close()).catch(() => {})]).then(() => {})
    return closing
  }

  function use(user: string): Promise<WorkerClient> {
    users.add(user)
    // Whoever comes back waits until the worker before has left.
    opened ??= closing.then(open)
    return opened
  }

  return {
    use,
    leave,
    close,
    async queue(name, maxBytes) {
      const user = `queue ${name}`
      try {
        const worker = await use(user)
        queueNames.add(name)
        const queue = await openDiskQueue(worker, name, maxBytes, ids, async () => {
          queueNames.delete(name)
          await leave(user)
        })
        unwatch ??= watchForgottenQueues(worker, path, queueNames, log, clock)
        return queue
      } catch (error) {
        queueNames.delete(name)
        await leave(user)
        log.error(`the queue of ${name} is in memory and ends with the process: ${(error as Error).message}`)
        return undefined
      }
    },
  }
}

/** Waits for a process that still has it. */
async function lock(worker: WorkerClient, path: string, log: Log, clock: Clock): Promise<void> {
  const deadlineMs = clock.monotonic() + LOCK_WAIT_MS
  for (let waited = false; ; waited = true) {
    const { busy } = await worker.ask('open', { directory: path })
    if (!busy) return
    if (!waited) log.info(`waiting for another process to leave ${path}`)
    if (clock.monotonic() >= deadlineMs) throw new Error(`another process uses ${path}`)
    await sleep(clock, LOCK_RETRY_MS)
  }
}
