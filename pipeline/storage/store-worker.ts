/** The thread that owns a directory and its databases, which are synchronous. Started by `worker-client.ts`. */
import { parentPort } from 'node:worker_threads'
import { describeFailure, lockDirectory } from './directory.ts'
import { openQueues, type QueueDatabase } from './queue-database.ts'
import type { Database } from './sqlite.ts'
import { openState, type StateDatabase } from './state-database.ts'
import type { WorkerAnswer, WorkerCall, WorkerReply, WorkerRequest } from './worker-messages.ts'

const port = parentPort!
let directory = ''
let lock: Database | undefined
let state: StateDatabase | undefined
let queues: QueueDatabase | undefined

port.on('message', ({ id, call }: WorkerRequest) => {
  try {
    const result = perform(call)
    const bytes = result instanceof Uint8Array ? result : undefined
    say({ id, result }, bytes === undefined ? [] : [bytes.buffer as ArrayBuffer])
  } catch (error) {
    say({ id, error: (error as Error).message })
  }
})

function say(reply: WorkerReply, transfer: ArrayBuffer[] = []): void {
  port.postMessage(reply, transfer)
}

function perform(call: WorkerCall): WorkerAnswer {
  switch (call.kind) {
    case 'open':
      return open(call.directory)
    case 'openState': {
      const opened = openState({ directory, maxBytes: call.maxBytes, nowMs: call.nowMs })
      state = opened.database
      return { movedAside: opened.movedAside }
    }
    case 'load':
      return there(state).load(call.name)
    case 'write':
      there(state).write(call.name, call.changes)
      return undefined
    case 'openQueue': {
      if (lock === undefined) throw new Error('the store is closed')
      queues ??= openQueues({ directory, now: Date.now, notice: notice => say({ notice }) })
      return { waiting: queues.open(call.name, call.maxBytes), nextId: queues.nextId() }
    }
    case 'writeQueue':
      there(queues).write(call.name, call.changes)
      return undefined
    case 'readQueue':
      return there(queues).read(call.id)
    case 'queueContents':
      return there(queues).contents()
    case 'dropQueued':
      return there(queues).dropBefore(call.name, call.acceptedMs)
    case 'close':
      return close()
  }
}

function open(path: string): { busy: boolean } {
  directory = path
  try {
    lock = lockDirectory(path)
    return { busy: lock === undefined }
  } catch (error) {
    throw describeFailure(error, 'state', 'lock.db', path)
  }
}

function close(): undefined {
  state?.close()
  queues?.close()
  lock?.close()
  state = queues = lock = undefined
}

function there<T>(database: T | undefined): T {
  if (database === undefined) throw new Error('the store is closed')
  return database
}
