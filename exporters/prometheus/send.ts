/** Sends a collection to one scraper, as fast as that reads. */
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { Clock } from '../../pipeline/component.ts'
import { START } from '../../pipeline/formats/render-chunks.ts'
import type { Collection, SharedPiece } from './collection.ts'
import type { ContentEncoding } from './content-encoding.ts'
import { createPacking, type Packing } from './packing.ts'

/** Between two turns of the event loop: a millisecond or two. A fast reader would otherwise have the process for itself. */
const PIECES_PER_TURN = 16

/** A scraper that reads nothing for so long has given up; until it is dropped it keeps a whole collection in memory. */
const STALLED_MS = 60_000
/** However it reads, what it gets by then is of no use to anybody. */
const LONGEST_MS = 600_000

/** Resolves when everything is sent or the scraper went away. */
export async function send(
  response: ServerResponse,
  headers: OutgoingHttpHeaders,
  collection: Collection,
  { encoding, clock }: { readonly encoding: ContentEncoding; readonly clock: Clock },
): Promise<void> {
  const packing = createPacking(encoding)
  const cancel = clock.after(LONGEST_MS, () => response.destroy())
  try {
    await sendPieces(response, headers, collection, packing, clock)
  } finally {
    cancel()
    packing.close?.()
  }
}

async function sendPieces(
  response: ServerResponse,
  headers: OutgoingHttpHeaders,
  collection: Collection,
  packing: Packing,
  clock: Clock,
): Promise<void> {
  let piece: SharedPiece | undefined = collection.piece(0, START)
  const isAll = packing.end === undefined && piece.next === undefined
  response.writeHead(200, isAll ? { ...headers, 'content-length': piece.bytes.length } : headers)
  if (packing.head !== undefined) response.write(packing.head)
  for (let number = 1; piece !== undefined; number++) {
    const { next }: SharedPiece = piece
    // The next one is compressed while this one is sent.
    let following: SharedPiece | undefined
    if (next !== undefined && packing.ahead !== undefined) {
      following = collection.piece(number, next)
      packing.ahead(following)
    }
    const packed = packing.pack(piece)
    const bytes = Buffer.isBuffer(packed) ? packed : await packed
    const isSent = write(response, bytes, next === undefined && packing.end === undefined, clock)
    // After a broken connection the page may still be read by somebody, so it is left to the garbage collector.
    if (isSent !== true && !(await isSent)) return
    piece.release()
    if (next !== undefined && number % PIECES_PER_TURN === 0) await new Promise(resolve => setImmediate(resolve))
    piece = next === undefined ? undefined : (following ?? collection.piece(number, next))
  }
  if (packing.end !== undefined) response.end(await packing.end())
}

/**
 * True when the bytes are out of our hands, which they mostly are at once; else a promise of whether they are when the reader has gone
 * on, or the connection is gone.
 */
function write(response: ServerResponse, bytes: Buffer, isLast: boolean, clock: Clock): boolean | Promise<boolean> {
  const { socket } = response
  if (response.destroyed || socket?.destroyed === true) return false
  let taken = (_isSent: boolean): void => {}
  // With what stands around them in one system call, and now, not at the end of the turn.
  socket?.cork()
  response.write(bytes, error => taken(error === null || error === undefined))
  if (isLast) response.end()
  socket?.uncork()
  if (socket?.writableLength === 0) return !socket.destroyed
  return new Promise(resolve => {
    const cancel = clock.after(STALLED_MS, () => response.destroy())
    function closed(): void {
      taken(false)
    }
    taken = isSent => {
      cancel()
      response.off('close', closed)
      resolve(isSent)
    }
    response.once('close', closed)
  })
}
