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

/** The body of a response with this Content-Encoding, where `plain` takes what is not compressed. */
export function bodyOf(encoding: string | undefined, plain: PlainBody): ResponseBody {
  switch (encoding?.trim().toLowerCase() ?? '') {
    case '':
    case 'identity':
      return plain
    case 'gzip':
    case 'x-gzip':
      return gzippedBody(plain)
    default:
      throw new Error(`the body is encoded as "${encoding}", which nobody asked for`)
  }
}

/** One for all responses of a target, one after the other. */
export class PlainBody implements ResponseBody {
  readonly limitBytes: number
  readonly handler: BodyHandler
  bytes = 0

  constructor(limitBytes: number, handler: BodyHandler) {
    this.limitBytes = limitBytes
    this.handler = handler
  }

  get tooLarge(): boolean {
    return this.bytes > this.limitBytes
  }

  reset(): void {
    this.bytes = 0
  }

  chunk(piece: Uint8Array): void {
    this.bytes += piece.length
    if (this.tooLarge) throw tooLarge(this.limitBytes)
    this.handler.chunk(piece)
  }

  end(): void {
    this.handler.end()
  }

  cancel(): void {}
}

/** What arrives is unpacked outside this thread; what comes out is counted, so that a little that becomes a lot is stopped. */
function gzippedBody(plain: PlainBody): ResponseBody {
  const { limitBytes, handler } = plain
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
