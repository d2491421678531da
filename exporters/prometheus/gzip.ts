/**
 * gzip of pieces that are compressed each for itself, away from the main thread, and make one stream when they are sent one after
 * the other: header, blocks of every piece, an empty last block, checksum and length of it all (RFC 1952).
 */
import { promisify } from 'node:util'
import { constants, crc32, deflateRaw } from 'node:zlib'

const deflate = promisify<Buffer, object, Buffer>(deflateRaw)

export const GZIP_HEADER = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff])
const LAST_BLOCK = [0x03, 0x00]

/** Ends on a whole byte and leaves the stream open. The fastest level: this text has few surprises, and level 6 saves 6 % for twice the time. */
export function deflatePiece(bytes: Buffer): Promise<Buffer> {
  return deflate(bytes, {
    level: constants.Z_BEST_SPEED,
    finishFlush: constants.Z_SYNC_FLUSH,
    chunkSize: 32 * 1024,
  })
}

export class GzipTrailer {
  #checksum = 0
  #length = 0

  add(bytes: Buffer): void {
    this.#checksum = crc32(bytes, this.#checksum)
    this.#length += bytes.length
  }

  bytes(): Buffer {
    const trailer = Buffer.from([...LAST_BLOCK, 0, 0, 0, 0, 0, 0, 0, 0])
    trailer.writeUInt32LE(this.#checksum, 2)
    trailer.writeUInt32LE(this.#length % 2 ** 32, 6)
    return trailer
  }
}
