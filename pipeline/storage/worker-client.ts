/** The main thread's side of the worker that owns a directory. */
import { Worker } from 'node:worker_threads'
import type { WorkerCall, WorkerCalls, WorkerReply, WorkerRequest } from './worker-messages.ts'

export type WorkerClient = {
  ask<K extends keyof WorkerCalls>(
    kind: K,
    ask: WorkerCalls[K]['ask'],
    transfer?: ArrayBuffer[],
  ): Promise<WorkerCalls[K]['answer']>
  /** Finishes what was asked for before, then ends the worker. */
  close(): Promise<void>
}

export type WorkerEvents = {
  /** Told once, if the worker ends by itself; all calls are rejected then. */
  died(error: Error): void
  /** Something happened to a file. */
  notice(message: string): void
}

export function startWorker({ died, notice }: WorkerEvents): WorkerClient {
  // From source and from dist: the extension is the one this file has.
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
  const worker = new Worker(new URL(`./store-worker.${extension}`, import.meta.url))
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
    if ('notice' in reply) {
      notice(reply.notice)
      return
    }
    const call = pending.get(reply.id)
    pending.delete(reply.id)
    if (pending.size === 0) worker.unref()
    if ('error' in reply) call?.reject(new Error(reply.error))
    else call?.resolve(reply.result)
  })
  // It keeps the process alive only while somebody waits for it.
  worker.unref()

  function post(call: WorkerCall, transfer: ArrayBuffer[]): Promise<unknown> {
    if (ended !== undefined) return Promise.reject(ended)
    const answer = Promise.withResolvers<unknown>()
    const request: WorkerRequest = { id: ++lastId, call }
    pending.set(request.id, answer)
    worker.ref()
    worker.postMessage(request, transfer)
    return answer.promise
  }

  return {
    ask: <K extends keyof WorkerCalls>(kind: K, ask: WorkerCalls[K]['ask'], transfer: ArrayBuffer[] = []) =>
      post({ kind, ...ask } as WorkerCall, transfer) as Promise<WorkerCalls[K]['answer']>,
    close() {
      closing ??= post({ kind: 'close' }, [])
        .catch(() => {})
        .then(async () => void (await worker.terminate()))
      return closing
    },
  }
}
