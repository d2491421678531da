/** Targets from a URL that answers with target groups in JSON. */
import type { Host, NetworkRequest, ResponseHandler } from '../../../pipeline/component.ts'
import { duration, url } from '../../../pipeline/config/fields.ts'
import type { Credentials } from '../../../pipeline/http/credentials.ts'
import { Requester } from '../follow-redirects.ts'
import { keepKnown, type DiscoveredTarget, type Discovery } from './discovery.ts'
import { groupsFromJson } from './target-groups.ts'

/** What every spelling of it has; credentials come beside them. */
export const httpSdFields = {
  url: url('Where to ask. The answer is a JSON list of target groups.'),
  refresh_interval: duration('Time from one request to the next.', '60s'),
} as const

export type HttpDiscoveryOptions = {
  readonly url: string
  readonly refreshMs: number
  readonly headers: Readonly<Record<string, string>>
  readonly credentials: Credentials
  readonly proxyUrl?: string
  readonly followRedirects: boolean
}

/** Hundreds of thousands of targets. */
const BODY_LIMIT_BYTES = 64 * 1024 * 1024
const MAX_TIMEOUT_MS = 30_000

export function createHttpDiscovery(
  options: HttpDiscoveryOptions,
  host: Pick<Host, 'clock' | 'log' | 'network'>,
): Discovery {
  const { clock, log } = host
  const { url, refreshMs } = options
  let known: readonly DiscoveredTarget[] | undefined
  let cancelTimer: (() => void) | undefined
  let cancelRequest: (() => void) | undefined

  function fail(problem: string): void {
    log.state(url, 'failing', known === undefined ? problem : `the targets stay as they were: ${problem}`)
  }

  return {
    start(update) {
      const refresh = (): void => {
        cancelTimer = clock.after(refreshMs, refresh)
        cancelRequest?.()
        try {
          cancelRequest = ask(host, options, take, fail)
        } catch (error) {
          // A file with credentials cannot be read.
          fail((error as Error).message)
        }
      }
      const take = (text: string): void => {
        const found = keepKnown(known ?? [], groupsFromJson(text, { __meta_url: url }))
        log.state(url, 'ok')
        if (found === known) return
        known = found
        update(found)
      }
      refresh()
    },
    stop() {
      cancelTimer?.()
      cancelRequest?.()
      log.state(url, 'gone')
    },
  }
}

/** Calls one of the two, unless the returned function is called first. */
function ask(
  host: Pick<Host, 'clock' | 'network'>,
  options: HttpDiscoveryOptions,
  take: (text: string) => void,
  fail: (problem: string) => void,
): () => void {
  const tls = options.credentials.tls()
  const request: NetworkRequest = {
    url: options.url,
    headers: {
      accept: 'application/json',
      'user-agent': 'gpucol',
      'x-prometheus-refresh-interval-seconds': String(options.refreshMs / 1000),
      ...options.headers,
      ...options.credentials.headers(),
    },
    timeoutMs: Math.min(MAX_TIMEOUT_MS, options.refreshMs),
    ...(tls && { tls }),
    ...(options.proxyUrl !== undefined && { proxyUrl: options.proxyUrl }),
  }
  const pieces: Uint8Array[] = []
  let length = 0
  const handler: ResponseHandler = {
    head(status, headers) {
      if (status !== 200) throw new Error(`it answered with status ${status}, 200 is expected`)
      const contentType = headers.get('content-type') ?? ''
      if (!/^application\/json *(;|$)/i.test(contentType)) {
        throw new Error(`the Content-Type is "${contentType}", application/json is expected`)
      }
    },
    chunk(bytes) {
      length += bytes.length
      if (length > BODY_LIMIT_BYTES) throw new Error(`the answer is larger than ${BODY_LIMIT_BYTES} bytes`)
      pieces.push(bytes.slice())
    },
    end: () => take(Buffer.concat(pieces).toString('utf8')),
    failed: error => fail(error.message),
  }
  const requester = new Requester(handler)
  requester.send(host, request, options.followRedirects, host.clock.monotonic() + request.timeoutMs)
  return () => requester.cancel()
}
