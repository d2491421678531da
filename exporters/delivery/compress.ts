/** Compression away from the main thread, at the fastest levels: metrics have few surprises, and more costs more than it saves. */
import { promisify } from 'node:util'
import { constants, gzip, gzipSync, zstdCompress, zstdCompressSync } from 'node:zlib'
import type { Clock } from '../../pipeline/component.ts'

/** `none`, a content encoding, or a function of the exporter's that is quick enough for the main thread. */
export type Compression = 'none' | 'gzip' | 'zstd' | ((body: Uint8Array) => Uint8Array)

/** The bytes that it is given may change as soon as it returns. */
export type Compress = (body: Uint8Array) => Uint8Array | Promise<Uint8Array>

const GZIP = { level: constants.Z_BEST_SPEED }
const ZSTD = { params: { [constants.ZSTD_c_compressionLevel]: 1 } }
const gzipAside = promisify<Uint8Array, object, Buffer>(gzip)
const zstdAside = promisify<Uint8Array, object, Buffer>(zstdCompress)

export function createCompress(compression: Compression, clock: Clock): Compress {
  // A virtual clock sees nothing of other threads.
  const aside = clock.aligned !== true
  switch (compression) {
    case 'none':
      return body => copyOf(body)
    case 'gzip':
      return body => (aside ? gzipAside(copyOf(body), GZIP) : gzipSync(body, GZIP))
    case 'zstd':
      return body => (aside ? zstdAside(copyOf(body), ZSTD) : zstdCompressSync(body, ZSTD))
    default:
      return body => {
        const compressed = compression(body)
        return compressed.buffer === body.buffer ? copyOf(compressed) : compressed
      }
  }
}

/** Not `slice`, which is a view where the bytes are a Buffer. */
function copyOf(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(bytes)
}
