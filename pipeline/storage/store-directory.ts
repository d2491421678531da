/** A directory on disk and the worker that has it, as long as somebody keeps something there. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Clock, Log, QueueStore } from '../component.ts'
import { openDiskQueue, type Ids } from './disk-queue.ts'
import { watchForgottenQueues } from './forgotten-queues.ts'
import { openLastingWorker, type LastingWorker } from './lasting-worker.ts'

export type StoreDirectory = {
  /** The worker, once the directory is locked. Rejects with a sentence if it cannot be had; `leave` also then. */
  use(user: string): Promise<LastingWorker>
  /** When nobody uses it any more, it is given back. */
  leave(user: string): Promise<void>
  /** Undefined, and a line in the log, if it cannot be had. */
  queue(name: string, maxBytes: number): Promise<QueueStore | undefined>
  /** Gives it back, whoever uses it. */
  close(): Promise<void>
}

export function createStoreDirectory(path: string, log: Log, clock: Clock): StoreDirectory {
  const users = new Set<string>()
  const queueNames = new Set<string>()
  const ids: Ids = { next: 1 }
  let opened: Promise<LastingWorker> | undefined
  let closing: Promise<void> = Promise.resolve()
  let unwatch: (() => void) | undefined

  async function open(): Promise<LastingWorker> {
    const worker = await openLastingWorker(path, log, clock)
    // Also where nobody has a queue any more.
    if (existsSync(join(path, 'queue.db'))) watch(worker)
    return worker
  }

  function watch(worker: LastingWorker): void {
    unwatch ??= watchForgottenQueues(worker, path, queueNames, log, clock)
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

  function use(user: string): Promise<LastingWorker> {
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
        watch(worker)
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
