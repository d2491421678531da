/** The main thread's side of the worker that owns the database. */
import { Worker } from 'node:worker_threads'
import { packEntries, unpackEntries, type PackedEntries } from './packed-entries.ts'
import type { StateOptions } from './state-database.ts'
import type { OpenReply, WorkerCall, WorkerReply } from './worker-messages.ts'

export type WorkerClient = {
  open(options: StateOptions): Promise<OpenReply>
  load(name: string): Promise<Map<string, Uint8Array>>
  write(name: string, changes: ReadonlyMap<string, Uint8Array | undefined>): Promise<void>
  /** Finishes what was asked for before, then ends the worker. */
  close(): Promise<void>
}

/** `died` is told once, if the worker ends by itself; all calls are rejected then. */
export function startWorker(died: (error: Error) => void): WorkerClient {
  // From source and from dist: the extension is the one this file has.
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
  const worker = new Worker(new URL(`./state-worker.${extension}`, import.meta.url))
  const pending = new Map<number, PromiseWithResolvers<unknown>>()
  let lastId = 0
  let ended: Error | undefined
  let closing: Promise<void> | undefined

  function end(error: Error): void {
    if (ended !== undefined) return
    ended = error
    for (const { reject } of pending.values()) reject(error)
    pending.clear()
    if (closing === undefined) died(error)
  }
  worker.on('error', error => end(new Error(`the store failed: ${String(error)}`, { cause: error })))
  worker.on('exit', () => end(new Error('the store is closed')))
  worker.on('message', (reply: WorkerReply) => {
    const call = pending.get(reply.id)
    pending.delete(reply.id)
    if (pending.size === 0) worker.unref()
    if ('error' in reply) call?.reject(new Error(reply.error))
    else call?.resolve(reply.result)
  })
  // It keeps the process alive only while somebody waits for it.
  worker.unref()

  function ask<T>(call: WorkerCall, transfer: ArrayBuffer[] = []): Promise<T> {
    if (ended !== undefined) return Promise.reject(ended)
    const answer = Promise.withResolvers<unknown>()
    const id = ++lastId
    pending.set(id, answer)
    worker.ref()
    worker.postMessage({ id, call }, transfer)
    return answer.promise as Promise<T>
  }

  return {
    open: options => ask({ kind: 'open', ...options }),
    async load(name) {
      const packed = await ask<PackedEntries>({ kind: 'load', name })
      return new Map(unpackEntries(packed) as Iterable<[string, Uint8Array]>)
    },
    write(name, changes) {
      const packed = packEntries(changes)
      return ask({ kind: 'write', name, changes: packed }, [packed.bytes.buffer])
    },
    close() {
      closing ??= ask<void>({ kind: 'close' })
        .catch(() => {})
        .then(async () => void (await worker.terminate()))
      return closing
    },
  }
}
