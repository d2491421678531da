/**
 * Reads HTTP/1.x responses (RFC 9112) from the bytes of a connection, as they arrive.
 *
 *     response   = status-line *( header-line ) empty-line body
 *     line       = *bytes [ CR ] LF                         a bare LF is accepted
 *     body       = Content-Length bytes | chunks | all bytes until the connection ends | nothing
 *     chunks     = *( 1*HEXDIG [ ; extension ] line-end bytes line-end ) "0" line-end *( trailer-line ) empty-line
 *
 * Lines are looked at byte by byte and are limited; the bytes of a body are never looked at, only handed on as views of the
 * buffer they came in. The pieces of several chunks in one buffer are moved together first, so that whoever reads lines finds
 * few of them torn.
 */
import type { Exchange } from './exchange.ts'
import { HEAD_LIMIT_BYTES, headersTooLarge } from './failure.ts'
import { isHeadAt, rememberHead, type KnownHead } from './known-heads.ts'
import { bodyFraming, HeaderReader, type Framing } from './response-head.ts'

/** The hexadecimal number and its extensions, which nobody uses. */
const CHUNK_LINE_LIMIT_BYTES = 1024

const LF = 10
const CR = 13
const SEMICOLON = 59

type State = 'head' | 'sized' | 'until close' | 'chunk size' | 'chunk extension' | 'chunk' | 'chunk end' | 'trailer'

const NO_HEAD = new HeaderReader()

/** Reads one response after the other, of whatever connection. */
export class ResponseParser {
  /** Once complete: whether another request may follow on the connection. */
  reusable = false
  /** Once complete: how many bytes came after the end. */
  surplus = 0
  /** The head of the last response, where that may come again. */
  known: KnownHead | undefined

  #exchange: Exchange | undefined
  #state: State = 'head'
  #head = NO_HEAD
  /** The beginning of a line whose end has not arrived. */
  #tornLine = ''
  #headBytes = 0
  /** Of the body or of the chunk. */
  #bytesLeft = 0
  #chunkLineBytes = 0
  #chunkDigits = 0
  #position = 0

  /**
   * The next response is the answer to this; what is `known` is from the last one of the server. The one before, if there was any, is
   * complete and done with: `rest` was called.
   */
  begin(exchange: Exchange, known: KnownHead | undefined): void {
    this.#exchange = exchange
    this.known = known
  }

  /** Nothing of the last response is kept until the next. */
  rest(): void {
    this.known = undefined
    this.#exchange = undefined
    this.reusable = false
    this.surplus = 0
    this.#state = 'head'
    this.#head = NO_HEAD
    this.#tornLine = ''
    this.#headBytes = 0
    this.#bytesLeft = 0
    this.#chunkLineBytes = 0
    this.#chunkDigits = 0
  }

  /**
   * Takes the first `length` bytes of `buffer`, which it may shift about in. Returns whether the response is complete; who asked
   * hears of everything but its end. Throws a sentence if this is not HTTP.
   */
  feed(buffer: Buffer, length: number): boolean {
    this.#position = 0
    if (this.#state === 'head') {
      const framing = this.#readHead(buffer, length)
      if (framing === undefined) return false
      if (framing.kind === 'none') return this.#complete(length)
      this.#state = framing.kind === 'chunked' ? 'chunk size' : framing.kind
      this.#bytesLeft = framing.bytes
    }
    switch (this.#state) {
      case 'sized':
        return this.#readSized(buffer, length)
      case 'until close':
        this.#deliver(buffer, this.#position, length)
        return false
      default:
        return this.#readChunks(buffer, length)
    }
  }

  /** The connection ended: returns whether that completes the response. */
  ended(): boolean {
    return this.#state === 'until close'
  }

  #complete(length: number): boolean {
    this.surplus = length - this.#position
    this.reusable = this.#head.keepsAlive && this.surplus === 0
    return true
  }

  /** Reads up to the end of the head; undefined while that has not arrived, or when nobody listens any more. */
  #readHead(buffer: Buffer, length: number): Framing | undefined {
    const exchange = this.#exchange!
    const { method } = exchange.request
    const isFirst = this.#headBytes === 0
    if (isFirst) {
      const { known } = this
      if (known !== undefined && method === known.method && isHeadAt(known, buffer, length)) {
        this.#head = known.head
        this.#position = known.bytes.length
        exchange.head(known.head.status, known.head.headers)
        return exchange.over ? undefined : known.framing
      }
      this.#head = new HeaderReader()
    }
    let isWhole = isFirst
    for (;;) {
      const line = this.#readLine(buffer, length)
      if (line === undefined) return undefined
      if (!this.#head.takeLine(line)) continue
      const { status } = this.#head
      if (status < 200) {
        if (status === 101) throw new Error('the server switched to another protocol unasked')
        this.#head = new HeaderReader()
        isWhole = false
        continue
      }
      const framing = bodyFraming(this.#head, method)
      this.known = isWhole ? rememberHead(buffer, this.#position, method, this.#head, framing) : undefined
      exchange.head(status, this.#head.headers)
      return exchange.over ? undefined : framing
    }
  }

  #readSized(buffer: Buffer, length: number): boolean {
    const from = this.#position
    const taken = Math.min(this.#bytesLeft, length - from)
    this.#position += taken
    this.#bytesLeft -= taken
    this.#deliver(buffer, from, from + taken)
    return this.#bytesLeft === 0 && this.#complete(length)
  }

  #readChunks(buffer: Buffer, length: number): boolean {
    // The pieces of body found so far are between these two.
    let bodyFrom = 0
    let bodyTo = 0
    while (this.#position < length) {
      if (this.#state === 'chunk') {
        const from = this.#position
        const taken = Math.min(this.#bytesLeft, length - from)
        if (bodyTo === 0) {
          bodyFrom = from
          bodyTo = from
        } else {
          buffer.copyWithin(bodyTo, from, from + taken)
        }
        bodyTo += taken
        this.#position += taken
        this.#bytesLeft -= taken
        if (this.#bytesLeft === 0) this.#state = 'chunk end'
      } else if (this.#state === 'trailer') {
        const line = this.#readLine(buffer, length)
        if (line === '') {
          this.#deliver(buffer, bodyFrom, bodyTo)
          return this.#complete(length)
        }
      } else {
        this.#readBetweenChunks(buffer[this.#position++]!)
      }
    }
    this.#deliver(buffer, bodyFrom, bodyTo)
    return false
  }

  /** Takes one byte of the line ends and chunk sizes between the pieces of a body. */
  #readBetweenChunks(byte: number): void {
    if (++this.#chunkLineBytes > CHUNK_LINE_LIMIT_BYTES) throw new Error('malformed response: endless chunk size')
    if (this.#state === 'chunk end') {
      if (byte === LF) this.#state = 'chunk size'
      else if (byte !== CR) throw new Error('malformed response: a chunk is longer than its size says')
    } else if (byte === LF) {
      if (this.#chunkDigits === 0) throw new Error('malformed response: a chunk without a size')
      this.#state = this.#bytesLeft === 0 ? 'trailer' : 'chunk'
      this.#chunkDigits = 0
      this.#chunkLineBytes = 0
    } else if (this.#state === 'chunk size' && byte !== CR) {
      const digit = hexadecimalDigit(byte)
      if (digit >= 0) {
        this.#chunkDigits++
        this.#bytesLeft = this.#bytesLeft * 16 + digit
        if (this.#bytesLeft > Number.MAX_SAFE_INTEGER) throw new Error('malformed response: a chunk size out of range')
      } else if (this.#chunkDigits > 0 && (byte === SEMICOLON || byte === 32 || byte === 9)) {
        this.#state = 'chunk extension'
      } else {
        throw new Error('malformed response: a chunk size that is no hexadecimal number')
      }
    }
  }

  #deliver(buffer: Buffer, from: number, to: number): void {
    // Not a Buffer: who takes it wants plain bytes.
    if (to > from) this.#exchange!.chunk(new Uint8Array(buffer.buffer, buffer.byteOffset + from, to - from))
  }

  /** The next line without its end; undefined while that has not arrived. */
  #readLine(buffer: Buffer, length: number): string | undefined {
    const from = this.#position
    let at = from
    while (at < length && buffer[at] !== LF) at++
    this.#headBytes += at - from + 1
    if (this.#headBytes > HEAD_LIMIT_BYTES) {
      throw new Error(headersTooLarge())
    }
    const text = this.#tornLine + buffer.toString('latin1', from, at)
    if (at === length) {
      this.#headBytes--
      this.#position = length
      this.#tornLine = text
      return undefined
    }
    this.#position = at + 1
    this.#tornLine = ''
    return text.endsWith('\r') ? text.slice(0, -1) : text
  }
}

function hexadecimalDigit(byte: number): number {
  if (byte >= 48 && byte <= 57) return byte - 48
  const letter = byte | 32
  return letter >= 97 && letter <= 102 ? letter - 87 : -1
}
