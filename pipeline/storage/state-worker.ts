/** The thread that owns the database, which is synchronous. Started by `worker-client.ts`. */
import { parentPort } from 'node:worker_threads'
import { openState, type StateDatabase } from './state-database.ts'
import type { WorkerCall, WorkerReply, WorkerRequest } from './worker-messages.ts'

const port = parentPort!
let database: StateDatabase | undefined

port.on('message', ({ id, call }: WorkerRequest) => {
  let reply: WorkerReply
  try {
    reply = { id, result: perform(call) }
  } catch (error) {
    reply = { id, error: (error as Error).message }
  }
  port.postMessage(reply)
})

function perform(call: WorkerCall): Extract<WorkerReply, { result: unknown }>['result'] {
  if (call.kind === 'open') {
    const opened = openState(call)
    if (opened.busy) return { busy: true }
    database = opened.database
    return { busy: false, movedAside: opened.movedAside }
  }
  if (call.kind === 'close') {
    database?.close()
    database = undefined
    return undefined
  }
  if (database === undefined) throw new Error('the store is closed')
  if (call.kind === 'load') return database.load(call.name)
  database.write(call.name, call.changes)
  return undefined
}
