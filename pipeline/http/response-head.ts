/** The head of an HTTP/1.x response: its lines, and what they say about where the body ends. */
import { HEADER_NAME } from './header-syntax.ts'

/** How the end of a body is found. `bytes` is its length where that is known, and 0 otherwise. */
export type Framing = { readonly kind: 'none' | 'sized' | 'chunked' | 'until close'; readonly bytes: number }

const NO_BODY: Framing = { kind: 'none', bytes: 0 }
const CHUNKED: Framing = { kind: 'chunked', bytes: 0 }
const UNTIL_CLOSE: Framing = { kind: 'until close', bytes: 0 }

const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: .*)?$/
// oxlint-disable-next-line no-control-regex
const CONTROL_CHARACTER = /[\0-\x08\x0a-\x1f\x7f]/

/** A server says the same about itself with every response, and the same as others of its kind. */
const KNOWN_LINES = new Map<string, readonly [name: string, value: string]>()
const MAX_KNOWN_LINES = 1000
const MAX_KNOWN_LENGTH = 200

export class HeaderReader {
  status = 0
  /** Names are lower case; values of repeated headers are joined. Without the date, which is all that a head differs in from the last. */
  readonly headers = new Map<string, string>()
  #minorVersion = 0
  #lastName: string | undefined

  /** Takes the next line; returns whether it was the last of the head. Throws a sentence if it has no business there. */
  takeLine(line: string): boolean {
    if (this.status === 0) {
      this.#takeStatusLine(line)
      return false
    }
    if (line === '') return true
    const known = KNOWN_LINES.get(line)
    if (known !== undefined) {
      this.#add(known[0], known[1])
      return false
    }
    if (CONTROL_CHARACTER.test(line)) throw new Error('malformed response: a header with control characters')
    if (line.startsWith(' ') || line.startsWith('\t')) this.#takeContinuation(line.trim())
    else this.#takeHeader(line)
    return false
  }

  /** Whether the server lets another request follow on the connection. */
  get keepsAlive(): boolean {
    const options = this.headers.get('connection')?.toLowerCase()
    if (options === undefined) return this.#minorVersion === 1
    if (options === 'keep-alive') return true
    const list = options.split(',').map(option => option.trim())
    return list.includes('close') ? false : this.#minorVersion === 1 || list.includes('keep-alive')
  }

  get isVersion10(): boolean {
    return this.#minorVersion === 0
  }

  #takeStatusLine(line: string): void {
    if (line === 'HTTP/1.1 200 OK') {
      this.#minorVersion = 1
      this.status = 200
      return
    }
    const match = STATUS_LINE.exec(line)
    if (match === null) {
      const shown = line.length > 40 ? `${line.slice(0, 40)}...` : line
      throw new Error(`the server does not speak HTTP/1.1: it answered ${JSON.stringify(shown)}`)
    }
    this.#minorVersion = Number(match[1])
    this.status = Number(match[2])
  }

  #takeHeader(line: string): void {
    const colon = line.indexOf(':')
    const name = line.slice(0, Math.max(0, colon)).toLowerCase()
    if (!HEADER_NAME.test(name)) throw new Error('malformed response: a header line without a name')
    const value = line.slice(colon + 1).trim()
    if (line.length <= MAX_KNOWN_LENGTH) {
      if (KNOWN_LINES.size >= MAX_KNOWN_LINES) KNOWN_LINES.clear()
      KNOWN_LINES.set(line, [name, value])
    }
    this.#add(name, value)
  }

  #add(name: string, value: string): void {
    this.#lastName = name
    if (name === 'date') return
    const before = this.headers.get(name)
    this.headers.set(name, before === undefined ? value : `${before}, ${value}`)
  }

  /** An old way to write long headers: the line goes on after a blank. */
  #takeContinuation(text: string): void {
    if (this.#lastName === 'date') return
    if (this.#lastName === undefined) throw new Error('malformed response: a header line without a name')
    this.headers.set(this.#lastName, `${this.headers.get(this.#lastName)} ${text}`.trim())
  }
}

/** RFC 9112, section 6.3. What two readers could understand differently is refused. */
export function bodyFraming(head: HeaderReader, method: string | undefined): Framing {
  const { status, headers } = head
  if (method === 'HEAD' || status === 204 || status === 304) return NO_BODY
  const encoding = headers.get('transfer-encoding')
  const length = headers.get('content-length')
  if (encoding !== undefined) {
    if (length !== undefined) throw new Error('malformed response: both Content-Length and Transfer-Encoding')
    if (encoding.toLowerCase() !== 'chunked' || head.isVersion10) {
      throw new Error(`malformed response: Transfer-Encoding ${JSON.stringify(encoding)} is not expected`)
    }
    return CHUNKED
  }
  if (length === undefined) return UNTIL_CLOSE
  const bytes = parseLength(length)
  return bytes === 0 ? NO_BODY : { kind: 'sized', bytes }
}

/** Equal repetitions are one. */
function parseLength(text: string): number {
  const [first, ...others] = text.split(',').map(part => part.trim())
  const bytes = Number(first)
  if (!/^\d+$/.test(first!) || !Number.isSafeInteger(bytes) || others.some(other => other !== first)) {
    throw new Error(`malformed response: Content-Length ${JSON.stringify(text)}`)
  }
  return bytes
}
