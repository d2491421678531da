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
  return Array.from({ length: numbers.length / NUMBERS }, (_, i) => {
    const [id, points, bytes, shard, acceptedMs, isTried, noteAt] = numbers.subarray(i * NUMBERS, (i + 1) * NUMBERS)
    return {
      id: id!,
      points: points!,
      bytes: bytes!,
      ...(!Number.isNaN(shard) && { shard: shard! }),
      ...(noteAt !== NO_NOTE && { note: notes[noteAt!]! }),
      acceptedMs: acceptedMs!,
      isTried: isTried === 1,
    }
  })
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
