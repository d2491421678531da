/** Requests of a queue as few large things, which go from thread to thread without being copied piece by piece. */
import type { QueuedRequest } from '../component.ts'

export type PackedRequests = {
  /** Seven for each. */
  readonly numbers: Float64Array
  /** Each different one once; the first is that of requests without one. */
  readonly notes: readonly string[]
}

const NUMBERS = 7
const NO_NOTE = 0

export function packRequests(requests: Iterable<QueuedRequest>): PackedRequests {
  const notes = new Map<string | undefined, number>([[undefined, NO_NOTE]])
  const numbers: number[] = []
  for (const { id, points, bytes, shard = NaN, note, acceptedMs, isTried } of requests) {
    let noteAt = notes.get(note)
    if (noteAt === undefined) notes.set(note, (noteAt = notes.size))
    numbers.push(id, points, bytes, shard, acceptedMs, isTried ? 1 : 0, noteAt)
  }
  return { numbers: Float64Array.from(numbers), notes: Array.from(notes.keys(), note => note ?? '') }
}

export function unpackRequests({ numbers, notes }: PackedRequests): QueuedRequest[] {
  const requests: QueuedRequest[] = []
  for (let at = 0; at < numbers.length; at += NUMBERS) {
    const shard = numbers[at + 3]!
    const noteAt = numbers[at + 6]!
    const request = {
      id: numbers[at]!,
      points: numbers[at + 1]!,
      bytes: numbers[at + 2]!,
      acceptedMs: numbers[at + 4]!,
      isTried: numbers[at + 5] === 1,
    }
    // There may be hundreds of thousands: no object is made twice.
    if (!Number.isNaN(shard)) Object.assign(request, { shard })
    if (noteAt !== NO_NOTE) Object.assign(request, { note: notes[noteAt]! })
    requests.push(request)
  }
  return requests
}

/** One after the other. They are copied: the originals may still be needed. */
export function packBodies(requests: readonly { readonly body: Uint8Array }[]): Uint8Array<ArrayBuffer> {
  const packed = new Uint8Array(requests.reduce((sum, { body }) => sum + body.length, 0))
  let at = 0
  for (const { body } of requests) {
    packed.set(body, at)
    at += body.length
  }
  return packed
}
