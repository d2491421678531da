/** Requests that go where they are sent. */
import type { Host, NetworkRequest, ResponseHandler } from '../../pipeline/component.ts'

/** As many as Go's client follows. */
const MAX_REDIRECTS = 10
/** What must not be shown to another host than the one it was meant for. */
const PRIVATE_HEADERS = new Set(['authorization', 'cookie'])

/**
 * As `network.request`, but the handler sees only the answer that is no redirect. The timeout of the request holds for all of it.
 */
export function requestFollowing(
  { network, clock }: Pick<Host, 'network' | 'clock'>,
  request: NetworkRequest,
  handler: ResponseHandler,
): () => void {
  const deadlineMs = clock.monotonic() + request.timeoutMs
  let cancel: () => void = () => {}
  let redirects = 0

  function send(current: NetworkRequest): void {
    let redirect: NetworkRequest | undefined
    cancel = network.request(current, {
      head(status, headers) {
        const location = headers.get('location')
        if (location === undefined || !isRedirect(status)) return handler.head(status, headers)
        if (++redirects > MAX_REDIRECTS) throw new Error(`the target redirects more than ${MAX_REDIRECTS} times`)
        redirect = redirected(current, location)
      },
      chunk(bytes) {
        if (redirect === undefined) handler.chunk(bytes)
      },
      end() {
        if (redirect === undefined) handler.end()
        else send({ ...redirect, timeoutMs: Math.max(1, deadlineMs - clock.monotonic()) })
      },
      failed: error => handler.failed(error),
    })
  }

  send(request)
  return () => cancel()
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
