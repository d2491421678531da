/** The body of a compressed response as it was before, piece by piece. */
import { createGunzip } from 'node:zlib'

/** Takes what was unpacked. What it throws is told to `failed`. */
export type UnpackedHandler = {
  /** The bytes are valid until this returns. */
  chunk(bytes: Uint8Array): void
  end(): void
  failed(error: Error): void
}

export type Unpacker = {
  chunk(bytes: Uint8Array): void
  end(): void
  cancel(): void
}

/** For a body with this Content-Encoding; undefined where that is none. More packed bytes than `limitBytes` are never worth reading. */
export function unpackerFor(encoding: string, limitBytes: number, handler: UnpackedHandler): Unpacker | undefined {
  switch (encoding.trim().toLowerCase()) {
    case '':
    case 'identity':
      return undefined
    case 'gzip':
    case 'x-gzip':
      return createUnpacker(limitBytes, handler)
    default:
      throw new Error(`the body is encoded as "${encoding}", which nobody asked for`)
  }
}

/** What arrives is unpacked outside this thread. */
function createUnpacker(limitBytes: number, handler: UnpackedHandler): Unpacker {
  const gunzip = createGunzip()
  let over = false
  let packedBytes = 0

  function fail(error: Error): void {
    if (over) return
    over = true
    gunzip.destroy()
    handler.failed(error)
  }

  gunzip.on('data', (piece: Buffer) => {
    if (over) return
    try {
      handler.chunk(piece)
    } catch (error) {
      fail(error as Error)
    }
  })
  gunzip.on('error', cause => fail(new Error(`the body is not gzip: ${cause.message}`, { cause })))
  gunzip.on('end', () => {
    if (over) return
    over = true
    try {
      handler.end()
    } catch (error) {
      handler.failed(error as Error)
    }
  })
  return {
    chunk(piece) {
      packedBytes += piece.length
      // Packed, it is larger than unpacked only where somebody wants to waste our time.
      if (packedBytes > limitBytes) throw tooLarge(limitBytes)
      gunzip.write(Uint8Array.from(piece))
    },
    end: () => gunzip.end(),
    cancel() {
      over = true
      gunzip.destroy()
    },
  }
}

export function tooLarge(limitBytes: number): Error {
  return new Error(`the body is larger than body_size_limit, ${limitBytes} bytes`)
}
