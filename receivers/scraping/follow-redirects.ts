/** Requests that go where they are sent. */
import type { Host, NetworkRequest, ResponseHandler } from '../../pipeline/component.ts'

const NOTHING = (): void => {}
/** As many as Go's client follows. */
const MAX_REDIRECTS = 10
/** What must not be shown to another host than the one it was meant for. */
const PRIVATE_HEADERS = new Set(['authorization', 'cookie'])

/**
 * As `network.request` with this handler, one request after the other, but the handler sees only the answer that is no redirect. The
 * timeout of the request holds for all of it.
 */
export function createFollower(
  { network, clock }: Pick<Host, 'network' | 'clock'>,
  handler: ResponseHandler,
): (request: NetworkRequest) => () => void {
  let cancel = NOTHING
  let current: NetworkRequest
  let redirect: NetworkRequest | undefined
  let redirects = 0
  /** In an object a number is written in its place; of a variable each value is an object of its own, and gets old until the next. */
  const deadline = { ms: NaN }

  // One for all requests: a scrape costs no object that need not be.
  const following: ResponseHandler = {
    head(status, headers) {
      const location = isRedirect(status) ? headers.get('location') : undefined
      if (location === undefined) return handler.head(status, headers)
      if (++redirects > MAX_REDIRECTS) throw new Error(`the target redirects more than ${MAX_REDIRECTS} times`)
      redirect = redirected(current, location)
    },
    chunk(bytes) {
      if (redirect === undefined) handler.chunk(bytes)
    },
    end() {
      cancel = NOTHING
      if (redirect === undefined) handler.end()
      else send({ ...redirect, timeoutMs: Math.max(1, deadline.ms - clock.monotonic()) })
    },
    failed(error) {
      cancel = NOTHING
      handler.failed(error)
    },
  }

  function send(request: NetworkRequest): void {
    current = request
    redirect = undefined
    cancel = network.request(request, following)
  }

  const cancelCurrent = (): void => cancel()
  return request => {
    redirects = 0
    deadline.ms = clock.monotonic() + request.timeoutMs
    send(request)
    return cancelCurrent
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
