/** Requests on their way through compression: several at once, and out in the order in which they came in. */
import type { Compress } from './compress.ts'
import type { Payload, Request } from './payload.ts'

export type CompressQueue = {
  /** False if too much is on its way already: the machine cannot keep up. `isKept` where the bytes stay as they are. */
  add(request: Request, isKept: boolean): boolean
  /** Settles when all that came before is through. */
  settled(): Promise<void>
  /** On their way. */
  readonly points: number
  /** The same in bytes, as they came. */
  readonly bytes: number
}

const MAX_BYTES = 256 * 2 ** 20

export function createCompressQueue(
  compress: Compress,
  next: (payload: Payload) => void,
  failed: (points: number, error: Error) => void,
): CompressQueue {
  let points = 0
  let bytes = 0
  let last: Promise<void> = Promise.resolve()

  async function pass(request: Request, compressing: Promise<Uint8Array>, before: Promise<void>): Promise<void> {
    const { points: its } = request
    const rawBytes = request.body.length
    // Not the bytes as they were: they are written over.
    const rest = restOf(request)
    let compressed: Uint8Array | undefined
    try {
      compressed = await compressing
    } catch (error) {
      failed(its, error as Error)
    }
    await before
    points -= its
    bytes -= rawBytes
    if (compressed !== undefined) next({ body: compressed, ...rest })
  }

  return {
    add(request, isKept) {
      if (bytes + request.body.length > MAX_BYTES && bytes > 0) return false
      let compressed
      try {
        compressed = compress(request.body, isKept)
      } catch (error) {
        failed(request.points, error as Error)
        return true
      }
      if (compressed instanceof Promise) {
        points += request.points
        bytes += request.body.length
        last = pass(request, compressed, last)
      } else {
        // Without waiting for the end of the turn, in which all of a cluster may be encoded: who takes it has a limit. One
        // compression makes all of them so, or none, so that there is nothing before it.
        next({ body: compressed, ...restOf(request) })
      }
      return true
    },
    settled: () => last,
    get points() {
      return points
    },
    get bytes() {
      return bytes
    },
  }
}

function restOf({ points, shard, note }: Request): Omit<Payload, 'body'> {
  return { points, ...(shard !== undefined && { shard }), ...(note !== undefined && { note }) }
}
