/** The pieces of a collection as they go over the wire. */
import type { SharedPiece } from './collection.ts'
import type { ContentEncoding } from './content-encoding.ts'
import { GZIP_HEADER, GzipTrailer } from './gzip.ts'
import { createZstdFrame } from './zstd.ts'

/** One per response. */
export type Packing = {
  /** What stands before the first piece. */
  readonly head?: Buffer
  /** In order, each when the one before is done. */
  pack(piece: SharedPiece): Buffer | Promise<Buffer>
  /** Begins with a piece that will be asked for next. */
  ahead?(piece: SharedPiece): void
  /** What stands after the last piece. */
  end?(): Buffer | Promise<Buffer>
  /** In any case, also when nobody reads any more. */
  close?(): void
}

export function createPacking(encoding: ContentEncoding): Packing {
  if (encoding === 'gzip') return gzipPacking()
  if (encoding === 'identity') return { pack: ({ bytes }) => bytes }
  const frame = createZstdFrame()
  return { pack: ({ bytes }) => frame.compress(bytes), end: () => frame.end(), close: () => frame.close() }
}

function gzipPacking(): Packing {
  const trailer = new GzipTrailer()
  return {
    head: GZIP_HEADER,
    pack(piece) {
      trailer.add(piece.bytes)
      return piece.deflated()
    },
    ahead(piece) {
      piece.deflated().catch(() => {})
    },
    end: () => trailer.bytes(),
  }
}
