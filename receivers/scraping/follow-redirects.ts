/** Requests that go where they are sent. */
import type { Host, NetworkRequest, ResponseHandler } from '../../pipeline/component.ts'

const NOTHING = (): void => {}
/** As many as Go's client follows. */
const MAX_REDIRECTS = 10
/** What must not be shown to another host than the one it was meant for. */
const PRIVATE_HEADERS = new Set(['authorization', 'cookie'])

/**
 * As `network.request` with this handler, one request after the other, but where redirects are followed the handler sees only the answer
 * that is none. The timeout of the request holds for all of it.
 */
export class Requester implements ResponseHandler {
  /** As `cancel` stands for nothing after the end. */
  memo: unknown = undefined
  readonly #handler: ResponseHandler
  #host: Pick<Host, 'network' | 'clock'> | undefined
  #follows = false
  #deadlineMs = NaN
  #cancel = NOTHING
  #current: NetworkRequest | undefined
  #redirect: NetworkRequest | undefined
  #redirects = 0

  constructor(handler: ResponseHandler) {
    this.#handler = handler
  }

  /** Not while one is under way. The deadline is on the monotonic clock. */
  send(host: Pick<Host, 'network' | 'clock'>, request: NetworkRequest, follows: boolean, deadlineMs: number): void {
    this.#host = host
    this.#follows = follows
    this.#deadlineMs = deadlineMs
    this.#redirects = 0
    this.#send(request)
  }

  cancel(): void {
    this.#cancel()
  }

  /** Holds on to nothing until the next request. */
  rest(): void {
    this.#host = undefined
    this.#current = undefined
    this.#redirect = undefined
  }

  head(status: number, headers: ReadonlyMap<string, string>): void {
    const location = this.#follows && isRedirect(status) ? headers.get('location') : undefined
    if (location === undefined) return this.#handler.head(status, headers)
    if (++this.#redirects > MAX_REDIRECTS) throw new Error(`the target redirects more than ${MAX_REDIRECTS} times`)
    this.#redirect = redirected(this.#current!, location)
  }

  chunk(bytes: Uint8Array): void {
    if (this.#redirect === undefined) this.#handler.chunk(bytes)
  }

  end(): void {
    this.#cancel = NOTHING
    if (this.#redirect === undefined) return this.#handler.end()
    const leftMs = this.#deadlineMs - this.#host!.clock.monotonic()
    this.#send({ ...this.#redirect, timeoutMs: Math.max(1, leftMs) })
  }

  failed(error: Error): void {
    this.#cancel = NOTHING
    this.#handler.failed(error)
  }

  #send(request: NetworkRequest): void {
    this.#current = request
    this.#redirect = undefined
    this.#cancel = this.#host!.network.request(request, this)
  }
}

function isRedirect(status: number): boolean {
  return status === 301 || status === 302 || status === 303 || status === 307 || status === 308
}

function redirected(request: NetworkRequest, location: string): NetworkRequest {
  const url = URL.parse(location, request.url)
  if (url === null) throw new Error(`the target redirects to "${location}", which is no URL`)
  if (url.origin === URL.parse(request.url)?.origin) return { ...request, url: url.href }
  const headers = Object.entries(request.headers ?? {}).filter(([name]) => !PRIVATE_HEADERS.has(name.toLowerCase()))
  return { ...request, url: url.href, headers: Object.fromEntries(headers) }
}
