/** What the main thread and the worker of a directory say to each other. Every request has one reply. */
import type { PackedEntries } from './packed-entries.ts'
import type { PackedRequests } from './packed-requests.ts'
import type { PackedChanges, QueueContents } from './queue-database.ts'

/** What can be asked, and what comes back. */
export type WorkerCalls = {
  /** Locks the directory. */
  open: { readonly ask: { readonly directory: string }; readonly answer: { readonly busy: boolean } }
  openState: {
    readonly ask: { readonly maxBytes: number; readonly nowMs: number }
    readonly answer: { readonly movedAside: string | undefined }
  }
  load: { readonly ask: { readonly name: string }; readonly answer: PackedEntries }
  write: { readonly ask: { readonly name: string; readonly changes: PackedEntries }; readonly answer: undefined }
  openQueue: {
    readonly ask: { readonly name: string; readonly maxBytes: number }
    readonly answer: { readonly waiting: PackedRequests; readonly nextId: number }
  }
  writeQueue: { readonly ask: { readonly name: string; readonly changes: PackedChanges }; readonly answer: undefined }
  readQueue: { readonly ask: { readonly id: number }; readonly answer: Uint8Array | undefined }
  queueContents: { readonly ask: object; readonly answer: readonly QueueContents[] }
  dropQueued: { readonly ask: { readonly name: string; readonly acceptedMs: number }; readonly answer: number }
  close: { readonly ask: object; readonly answer: undefined }
}

export type WorkerCall = { [K in keyof WorkerCalls]: { readonly kind: K } & WorkerCalls[K]['ask'] }[keyof WorkerCalls]
export type WorkerAnswer = WorkerCalls[keyof WorkerCalls]['answer']

export type WorkerRequest = { readonly id: number; readonly call: WorkerCall }
export type WorkerReply =
  | { readonly id: number; readonly result: WorkerAnswer }
  | { readonly id: number; readonly error: string }
  /** Comes without being asked for. */
  | { readonly notice: string }
