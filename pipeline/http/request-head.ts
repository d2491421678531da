/** What a request says about itself. */
import type { NetworkRequest } from '../component.ts'
import { HEADER_NAME, HEADER_VALUE } from './header-syntax.ts'
import type { Destination } from './url.ts'

/** The request's headers, with those that follow from its URL. Throws a sentence, without the value, if one cannot be sent. */
export function requestHeaders(request: NetworkRequest, destination: Destination): [string, string][] {
  const headers = Object.entries(request.headers ?? {})
  for (const [name, value] of headers) {
    if (!HEADER_NAME.test(name)) throw new Error(`"${name}" cannot be the name of a header`)
    if (!HEADER_VALUE.test(value)) throw new Error(`the value of header "${name}" has characters that cannot be sent`)
  }
  if (!hasHeader(headers, 'user-agent')) headers.push(['user-agent', 'gpucol'])
  if (destination.authorization !== undefined && !hasHeader(headers, 'authorization')) {
    headers.push(['authorization', destination.authorization])
  }
  return headers
}

/** Whether it does no harm if a server gets it twice. */
export function mayBeRepeated({ method = 'GET' }: NetworkRequest): boolean {
  return method === 'GET' || method === 'HEAD'
}

/** The bytes of a request up to its body, as latin1 text. */
export function renderRequest(request: NetworkRequest, destination: Destination): string {
  const { method = 'GET', body } = request
  let headers = requestHeaders(request, destination)
  if (body !== undefined || !mayBeRepeated(request)) {
    headers = headers.filter(([name]) => name.toLowerCase() !== 'content-length')
    headers.push(['content-length', `${body?.length ?? 0}`])
  }
  let text = `${method} ${destination.path} HTTP/1.1\r\n`
  if (!hasHeader(headers, 'host')) text += `host: ${destination.authority}\r\n`
  for (const [name, value] of headers) text += `${name}: ${value}\r\n`
  // Written in one piece: a text that was put together is looked for in its parts each time it is sent.
  return Buffer.from(`${text}\r\n`, 'latin1').toString('latin1')
}

function hasHeader(headers: readonly [string, string][], name: string): boolean {
  return headers.some(([known]) => known.toLowerCase() === name)
}
