/** The body of a response as it was before it was compressed, piece by piece, up to a limit. */
import { createGunzip } from 'node:zlib'

export type BodyHandler = {
  /** The bytes are valid until this returns. */
  chunk(bytes: Uint8Array): void
  end(): void
  failed(error: Error): void
}

export type ResponseBody = {
  readonly bytes: number
  readonly tooLarge: boolean
  /** Throws where the body cannot be what it should be. */
  chunk(bytes: Uint8Array): void
  end(): void
  cancel(): void
}

export function createResponseBody(
  encoding: string | undefined,
  limitBytes: number,
  handler: BodyHandler,
): ResponseBody {
  switch (encoding?.trim().toLowerCase() ?? '') {
    case '':
    case 'identity':
      return plainBody(limitBytes, handler)
    case 'gzip':
    case 'x-gzip':
      return gzippedBody(limitBytes, handler)
    default:
      throw new Error(`the body is encoded as "${encoding}", which nobody asked for`)
  }
}

function plainBody(limitBytes: number, handler: BodyHandler): ResponseBody {
  let bytes = 0
  return {
    get bytes() {
      return bytes
    },
    get tooLarge() {
      return bytes > limitBytes
    },
    chunk(piece) {
      bytes += piece.length
      if (bytes > limitBytes) throw tooLarge(limitBytes)
      handler.chunk(piece)
    },
    end: () => handler.end(),
    cancel() {},
  }
}

/** What arrives is unpacked outside this thread; what comes out is counted, so that a little that becomes a lot is stopped. */
function gzippedBody(limitBytes: number, handler: BodyHandler): ResponseBody {
  const plain = plainBody(limitBytes, handler)
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
      plain.chunk(piece)
    } catch (error) {
      fail(error as Error)
    }
  })
  gunzip.on('error', cause => fail(new Error(`the body is not gzip: ${cause.message}`, { cause })))
  gunzip.on('end', () => {
    if (over) return
    over = true
    try {
      plain.end()
    } catch (error) {
      handler.failed(error as Error)
    }
  })
  return {
    get bytes() {
      return plain.bytes
    },
    get tooLarge() {
      return plain.tooLarge
    },
    chunk(piece) {
      packedBytes += piece.length
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

function tooLarge(limitBytes: number): Error {
  return new Error(`the body is larger than body_size_limit, ${limitBytes} bytes`)
}
