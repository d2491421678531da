/** The main thread's side of the worker that owns a directory. */
import type { WorkerCall, WorkerCalls, WorkerReply, WorkerRequest } from './worker-messages.ts'

export type WorkerClient = {
  /** What is asked is copied, and still there for whoever wants to ask another worker. */
  ask<K extends keyof WorkerCalls>(kind: K, ask: WorkerCalls[K]['ask']): Promise<WorkerCalls[K]['answer']>
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
  // Loaded where there is something on disk.
  const { Worker } = process.getBuiltinModule('node:worker_threads')
  // From source and from dist: the extension is the one this file has.
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
  const worker = new Worker(new URL(`./store-worker.${extension}`, import.meta.url))
  const pending = new Map<number, PromiseWithResolvers<unknown>>()
  let lastId = 0
  let failure: Error | undefined
  let ended: Error | undefined
  let closing: Promise<void> | undefined

  function end(error: Error): void {
    if (ended !== undefined) return
    ended = error
    for (const { reject } of pending.values()) reject(error)
    pending.clear()
    if (closing === undefined) died(error)
  }
  worker.on('error', error => (failure = error as Error))
  // Only now it has given its files back.
  worker.on('exit', () => {
    if (failure !== undefined) end(new Error(`the store failed: ${failure.toString()}`, { cause: failure }))
    else end(new Error(closing === undefined ? 'the store failed: its thread ended' : 'the store is closed'))
  })
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

  function post(call: WorkerCall): Promise<unknown> {
    if (ended !== undefined) return Promise.reject(ended)
    const answer = Promise.withResolvers<unknown>()
    const request: WorkerRequest = { id: ++lastId, call }
    pending.set(request.id, answer)
    worker.ref()
    worker.postMessage(request)
    return answer.promise
  }

  return {
    ask: <K extends keyof WorkerCalls>(kind: K, ask: WorkerCalls[K]['ask']) =>
      post({ kind, ...ask } as WorkerCall) as Promise<WorkerCalls[K]['answer']>,
    close() {
      closing ??= post({ kind: 'close' })
        .catch(() => {})
        .then(async () => void (await worker.terminate()))
      return closing
    },
  }
}
