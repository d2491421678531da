/** Sends a collection to one scraper, as fast as that reads. */
import type { ServerResponse } from 'node:http'
import { START, type Cursor } from '../../pipeline/formats/render-chunks.ts'
import type { Collection } from './collection.ts'
import { GZIP_HEADER, GzipTrailer } from './gzip.ts'

/** Between two turns of the event loop; a fast reader would otherwise have the process for itself. */
const PIECES_PER_TURN = 4

/** Resolves when everything is sent or the scraper went away. */
export async function send(response: ServerResponse, collection: Collection, gzip: boolean): Promise<void> {
  const trailer = new GzipTrailer()
  let open = !gzip || (await write(response, GZIP_HEADER))
  let cursor: Cursor | undefined = START
  for (let number = 0; open && cursor !== undefined; number++) {
    const piece = collection.piece(number, cursor)
    cursor = piece.next
    if (gzip) trailer.add(piece.bytes)
    else if (number === 0 && cursor === undefined) response.setHeader('content-length', piece.bytes.length)
    open = await write(response, gzip ? await piece.deflated() : piece.bytes)
    // After a broken connection somebody may still be reading the page.
    if (open) piece.release()
    if (number % PIECES_PER_TURN === PIECES_PER_TURN - 1) await new Promise(resolve => setImmediate(resolve))
  }
  if (open && gzip) open = await write(response, trailer.bytes())
  if (open) response.end()
}

/** Resolves to true when the bytes are out of our hands, to false when the connection is gone. */
function write(response: ServerResponse, bytes: Buffer): Promise<boolean> {
  return new Promise(resolve => {
    if (response.destroyed) return resolve(false)
    const closed = (): void => resolve(false)
    response.once('close', closed)
    response.write(bytes, error => {
      response.off('close', closed)
      resolve(error === null || error === undefined)
    })
  })
}
