/** Sends a collection to one scraper, as fast as that reads. */
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { Clock } from '../../pipeline/component.ts'
import { START } from '../../pipeline/formats/render-chunks.ts'
import type { Collection, SharedPiece } from './collection.ts'
import type { ContentEncoding } from './content-encoding.ts'
import { createPacking, type Packing } from './packing.ts'

/** Between two turns of the event loop; a fast reader would otherwise have the process for itself. */
const PIECES_PER_TURN = 4

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
    // The next one is compressed while this one is sent.
    const following: SharedPiece | undefined = piece.next && collection.piece(number, piece.next)
    if (following !== undefined) packing.ahead?.(following)
    // After a broken connection the page may still be read by somebody, so it is left to the garbage collector.
    if (!(await write(response, await packing.pack(piece), clock))) return
    piece.release()
    piece = following
    if (number % PIECES_PER_TURN === 0) await new Promise(resolve => setImmediate(resolve))
  }
  response.end(await packing.end?.())
}

/** Resolves to true when the bytes are out of our hands, to false when the connection is gone. */
function write(response: ServerResponse, bytes: Buffer, clock: Clock): Promise<boolean> {
  return new Promise(resolve => {
    if (response.destroyed) return resolve(false)
    const cancel = clock.after(STALLED_MS, () => response.destroy())
    function done(isSent: boolean): void {
      cancel()
      response.off('close', closed)
      resolve(isSent)
    }
    function closed(): void {
      done(false)
    }
    response.once('close', closed)
    response.write(bytes, error => done(error === null || error === undefined))
  })
}
