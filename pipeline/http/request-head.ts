/** What a request says about itself. */
import type { NetworkRequest } from '../component.ts'
import { HEADER_NAME, HEADER_VALUE } from './header-syntax.ts'
import type { Destination } from './url.ts'

type Headers = Readonly<Record<string, string>>

const NO_HEADERS: Headers = {}

/** The request's headers, with those that follow from its URL. Throws a sentence, without the value, if one cannot be sent. */
export function requestHeaders(request: NetworkRequest, destination: Destination): [string, string][] {
  const headers = ownHeaders(request.headers ?? NO_HEADERS)
  const { authorization } = destination
  if (authorization !== undefined && !hasHeader(headers, 'authorization'))
    headers.push(['authorization', authorization])
  return headers
}

function ownHeaders(given: Headers): [string, string][] {
  const headers = Object.entries(given)
  for (const [name, value] of headers) {
    if (!HEADER_NAME.test(name)) throw new Error(`"${name}" cannot be the name of a header`)
    if (!HEADER_VALUE.test(value)) throw new Error(`the value of header "${name}" has characters that cannot be sent`)
  }
  if (!hasHeader(headers, 'user-agent')) headers.push(['user-agent', 'gpucol'])
  return headers
}

/** Whether it does no harm if a server gets it twice. */
export function mayBeRepeated({ method = 'GET' }: NetworkRequest): boolean {
  return method === 'GET' || method === 'HEAD'
}

/** Lines of headers, which thousands of requests may have in common. */
type HeaderLines = {
  readonly text: string
  readonly hasHost: boolean
  readonly hasAuthorization: boolean
  readonly hasLength: boolean
}
const knownLines = new WeakMap<Headers, HeaderLines>()

function knownHeaderLines(given: Headers): HeaderLines {
  let lines = knownLines.get(given)
  if (lines === undefined) knownLines.set(given, (lines = headerLines(given)))
  return lines
}

function headerLines(given: Headers): HeaderLines {
  const headers = ownHeaders(given)
  return {
    text: linesFrom(headers),
    hasHost: hasHeader(headers, 'host'),
    hasAuthorization: hasHeader(headers, 'authorization'),
    hasLength: hasHeader(headers, 'content-length'),
  }
}

/** The bytes of a request up to its body, as latin1 text. */
export function renderRequest(request: NetworkRequest, destination: Destination): string {
  const { method = 'GET', headers = NO_HEADERS, body } = request
  const { path, authority, authorization } = destination
  const hasNoLength = body === undefined && mayBeRepeated(request)
  let lines = knownHeaderLines(headers)
  // Whatever it says, there is one length.
  if (lines.hasLength && !hasNoLength) lines = headerLines(withoutLength(headers))
  const { text, hasHost, hasAuthorization } = lines
  let head = `${method} ${path} HTTP/1.1\r\n`
  if (!hasHost) head += `host: ${authority}\r\n`
  head += text
  if (!hasNoLength) head += `content-length: ${body?.length ?? 0}\r\n`
  if (authorization !== undefined && !hasAuthorization) head += `authorization: ${authorization}\r\n`
  return `${head}\r\n`
}

function withoutLength(headers: Headers): Headers {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => name.toLowerCase() !== 'content-length'))
}

function linesFrom(headers: readonly [string, string][]): string {
  const text = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  // In one piece, which none that was put together is.
  return Buffer.from(text, 'latin1').toString('latin1')
}

function hasHeader(headers: readonly [string, string][], name: string): boolean {
  return headers.some(([known]) => known.toLowerCase() === name)
}
