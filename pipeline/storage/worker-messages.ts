/** What the main thread and the worker of the store say to each other. Every request has one reply. */
import type { PackedEntries } from './packed-entries.ts'
import type { StateOptions } from './state-database.ts'

export type WorkerCall =
  | ({ readonly kind: 'open' } & StateOptions)
  | { readonly kind: 'load'; readonly name: string }
  | { readonly kind: 'write'; readonly name: string; readonly changes: PackedEntries }
  | { readonly kind: 'close' }

export type OpenReply = { readonly busy: boolean; readonly movedAside?: string | undefined }

export type WorkerRequest = { readonly id: number; readonly call: WorkerCall }
export type WorkerReply =
  | { readonly id: number; readonly result: OpenReply | PackedEntries | undefined }
  | { readonly id: number; readonly error: string }
