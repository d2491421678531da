/** The threads of stores that a test lets start, to be killed. */
import type { Worker } from 'node:worker_threads'

export type StoreWorkers = {
  /** Ends the one that was started last, as if it had been killed; resolves when it is gone. */
  kill(): Promise<void>
  /** Lets it fail by a mistake of its own. */
  fail(): void
  readonly started: number
  /** Stops looking for them. */
  stop(): void
}

export function watchStoreWorkers(): StoreWorkers {
  const workers: Worker[] = []
  const add = (worker: Worker): void => void workers.push(worker)
  process.on('worker', add)
  return {
    async kill() {
      await workers.at(-1)!.terminate()
    },
    fail: () => workers.at(-1)!.postMessage(undefined),
    get started() {
      return workers.length
    },
    stop: () => void process.off('worker', add),
  }
}
