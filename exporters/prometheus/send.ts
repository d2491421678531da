/** Sends a collection to one scraper, as fast as that reads. */
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { Clock } from '../../pipeline/component.ts'
import { START } from '../../pipeline/formats/render-chunks.ts'
import type { Collection, SharedPiece } from './collection.ts'
import { GZIP_HEADER, GzipTrailer } from './gzip.ts'

/** Between two turns of the event loop; a fast reader would otherwise have the process for itself. */
const PIECES_PER_TURN = 4

/** A scraper that reads nothing for so long has given up; until it is dropped it keeps a whole collection in memory. */
const STALLED_MS = 60_000

/** Resolves when everything is sent or the scraper went away. */
export async function send(
  response: ServerResponse,
  headers: OutgoingHttpHeaders,
  collection: Collection,
  { gzip, clock }: { readonly gzip: boolean; readonly clock: Clock },
): Promise<void> {
  const trailer = new GzipTrailer()
  let piece: SharedPiece | undefined = collection.piece(0, START)
  const isAll = !gzip && piece.next === undefined
  if (!gzip) response.writeHead(200, isAll ? { ...headers, 'content-length': piece.bytes.length } : headers)
  else response.writeHead(200, headers).write(GZIP_HEADER)
  for (let number = 1; piece !== undefined; number++) {
    // The next one is compressed while this one is sent.
    const following: SharedPiece | undefined = piece.next && collection.piece(number, piece.next)
    if (gzip) {
      trailer.add(piece.bytes)
      following?.deflated().catch(() => {})
    }
    // After a broken connection the page may still be read by somebody, so it is left to the garbage collector.
    if (!(await write(response, gzip ? await piece.deflated() : piece.bytes, clock))) return
    piece.release()
    piece = following
    if (number % PIECES_PER_TURN === 0) await new Promise(resolve => setImmediate(resolve))
  }
  response.end(gzip ? trailer.bytes() : undefined)
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
