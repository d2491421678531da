/** Compression away from the main thread, at the fastest levels: metrics have few surprises, and more costs more than it saves. */
import { promisify } from 'node:util'
import { constants, gzip, gzipSync, zstdCompress, zstdCompressSync } from 'node:zlib'
import type { Clock } from '../../pipeline/component.ts'
import type { BodyPool } from './body-pool.ts'

/** `none`, a content encoding, or a function of the exporter's that is quick enough for the main thread. */
export type Compression = 'none' | 'gzip' | 'zstd' | ((body: Uint8Array) => Uint8Array)

/** The bytes that it is given may change as soon as it returns, unless they are kept. */
export type Compress = (body: Uint8Array, isKept: boolean) => Uint8Array | Promise<Uint8Array>

const GZIP = { level: constants.Z_BEST_SPEED }
const ZSTD = { params: { [constants.ZSTD_c_compressionLevel]: 1 } }
const gzipAside = promisify<Uint8Array, object, Buffer>(gzip)
const zstdAside = promisify<Uint8Array, object, Buffer>(zstdCompress)

export function createCompress(compression: Compression, clock: Clock, bodies: BodyPool): Compress {
  // A virtual clock sees nothing of other threads.
  const aside = clock.aligned !== true
  switch (compression) {
    case 'none':
      return (body, isKept) => (isKept ? body : bodies.copyOf(body))
    case 'gzip':
      return body => (aside ? withCopy(body, copy => gzipAside(copy, GZIP)) : gzipSync(body, GZIP))
    case 'zstd':
      return body => (aside ? withCopy(body, copy => zstdAside(copy, ZSTD)) : zstdCompressSync(body, ZSTD))
    default:
      return body => {
        const compressed = compression(body)
        return compressed.buffer === body.buffer ? bodies.copyOf(compressed) : compressed
      }
  }

  async function withCopy(body: Uint8Array, compress: (copy: Uint8Array) => Promise<Uint8Array>): Promise<Uint8Array> {
    const copy = bodies.copyOf(body)
    const compressed = await compress(copy)
    bodies.give(copy)
    return compressed
  }
}
