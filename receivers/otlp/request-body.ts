/** The body of a request as it was before it was compressed, up to a limit. */
import type { IncomingMessage } from 'node:http'
import { gunzip, gunzipSync, zstdDecompress, zstdDecompressSync } from 'node:zlib'
import { MalformedError } from '../../pipeline/formats/malformed.ts'

export type Compression = 'identity' | 'gzip' | 'zstd'

const COMPRESSIONS: Readonly<Record<string, Compression>> = {
  '': 'identity',
  identity: 'identity',
  gzip: 'gzip',
  'x-gzip': 'gzip',
  zstd: 'zstd',
}

/** Undefined if nobody here knows it. */
export function compressionOf(header: string | undefined): Compression | undefined {
  return COMPRESSIONS[header?.trim().toLowerCase() ?? '']
}

export class TooLargeError extends Error {
  override name = 'TooLargeError'
}

/** Counts the bytes of all bodies that are being read. Says false if there is no room for more. */
export type Room = { take(bytes: number): boolean; release(bytes: number): void }

export class GoneError extends Error {
  override name = 'GoneError'
}

export class NoRoomError extends Error {
  override name = 'NoRoomError'
}

/**
 * A client that is told while it still sends may never see the answer. So what is too large is read to its end and thrown away, unless
 * that is a great deal.
 */
const THROWN_AWAY_BYTES = 64 * 1024 * 1024

/** Rejects with `TooLargeError`, `NoRoomError`, or `GoneError` if the client went away. `release` has to be called with the body's length. */
export function readBody(request: IncomingMessage, limitBytes: number, room: Room): Promise<Buffer> {
  const pieces: Buffer[] = []
  let length = 0
  let failure: Error | undefined
  return new Promise((resolve, reject) => {
    function fail(error: Error): void {
      room.release(held())
      pieces.length = 0
      failure = error
    }

    function held(): number {
      return pieces.reduce((sum, piece) => sum + piece.length, 0)
    }

    request.on('data', (piece: Buffer) => {
      length += piece.length
      if (failure !== undefined) {
        if (length > limitBytes + THROWN_AWAY_BYTES) reject(failure)
      } else if (length > limitBytes) fail(tooLarge(limitBytes))
      else if (!room.take(piece.length)) fail(new NoRoomError('too much is being received at the same time'))
      else pieces.push(piece)
    })
    request.on('end', () => {
      if (failure !== undefined) reject(failure)
      else resolve(pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces))
    })
    request.on('close', () => {
      // After `end` this changes nothing.
      if (!request.readableEnded && failure === undefined) fail(new GoneError('the client went away'))
      if (failure !== undefined) reject(failure)
    })
    request.on('error', () => {})
  })
}

/** Up to here unpacking takes less time than asking another thread to do it. */
const QUICK_BYTES = 8 * 1024
const QUICK_RESULT_BYTES = 256 * 1024

type Unpack = (
  body: Buffer,
  options: { maxOutputLength: number },
  done: (error: Error | null, result: Buffer) => void,
) => void
const UNPACK: Readonly<Record<'gzip' | 'zstd', Unpack>> = { gzip: gunzip, zstd: zstdDecompress }
const UNPACK_QUICKLY = { gzip: gunzipSync, zstd: zstdDecompressSync }

/** Large ones on another thread. Rejects with `TooLargeError` and `MalformedError`. */
export async function unpack(body: Buffer, compression: Compression, limitBytes: number): Promise<Buffer> {
  if (compression === 'identity') return body
  if (body.length > QUICK_BYTES) return unpackElsewhere(body, compression, limitBytes)
  try {
    return UNPACK_QUICKLY[compression](body, { maxOutputLength: Math.min(limitBytes, QUICK_RESULT_BYTES) })
  } catch (error) {
    if (!isTooLarge(error as Error)) throw bad(compression, error as Error)
    return unpackElsewhere(body, compression, limitBytes)
  }
}

function unpackElsewhere(body: Buffer, compression: 'gzip' | 'zstd', limitBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    UNPACK[compression](body, { maxOutputLength: limitBytes }, (error, result) => {
      if (error === null) resolve(result)
      else reject(isTooLarge(error) ? tooLarge(limitBytes) : bad(compression, error))
    })
  })
}

function isTooLarge(error: Error): boolean {
  return (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE'
}

function tooLarge(limitBytes: number): TooLargeError {
  return new TooLargeError(`the request is larger than max_request_body_size, ${limitBytes} bytes`)
}

function bad(compression: string, cause: Error): MalformedError {
  return new MalformedError(`the body is not ${compression}: ${cause.message}`, { cause })
}
