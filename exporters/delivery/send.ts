/** One attempt to send a request by HTTP. Never rejects: whatever happens is an outcome. */
import type { Host, Network, NetworkRequest } from '../../pipeline/component.ts'
import { parseDuration } from '../../pipeline/config/fields.ts'
import { createCredentials } from '../../pipeline/http/credentials.ts'
import { environmentProxy } from '../../pipeline/http/environment-proxy.ts'
import { neverArrived } from '../../pipeline/http/failure.ts'
import { createOAuth2 } from './oauth2.ts'
import type { Payload, Sent } from './payload.ts'
import type { PushConfig } from './push-config.ts'
import { retryAfterMs } from './retry-after.ts'

export type HttpAnswer = {
  readonly status: number
  readonly headers: ReadonlyMap<string, string>
  /** As it came, at most its beginning. */
  readonly body: Uint8Array
}

export type HttpParts = {
  /** Where and how a payload is sent. */
  request(payload: Payload): HttpRequest
  /** What the answer means by the protocol's rules. Retry-After is read by whoever calls this where it gives no `afterMs`. */
  judge(answer: HttpAnswer, payload: Payload, request: HttpRequest): Sent
}

/** URL, content type, content encoding and further headers; a body only if it is not the payload's. */
export type HttpRequest = {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Uint8Array
}

/** A request but for its body, which must not be there for longer than it is under way. */
type Common = Omit<NetworkRequest, 'body' | 'headers'> & Required<Pick<NetworkRequest, 'headers'>>

export type Send = (payload: Payload, signal: AbortSignal) => Promise<Sent>

/** No protocol has more to say. */
const ANSWER_LIMIT_BYTES = 64 * 1024

export function createSend(host: Host, config: PushConfig, { request, judge }: HttpParts): Send {
  const { clock, network } = host
  const timeoutMs = parseDuration(config.timeout)
  const credentials = createCredentials({ ...config, http_headers: headerValues(config) }, clock)
  const oauth2 = config.oauth2 && createOAuth2(host, config.oauth2, config.proxy_url)

  /** What requests have in common: all of an exporter are mostly alike but for their bodies. */
  let common: { readonly given: HttpRequest['headers']; readonly own: object; readonly request: Common } | undefined

  async function prepare({ url, headers }: HttpRequest, signal: AbortSignal): Promise<Common> {
    const authorization = await oauth2?.authorization(signal)
    const own = credentials.headers()
    const tls = credentials.tls()
    const known = common?.request
    if (
      known !== undefined &&
      known.url === url &&
      common!.given === headers &&
      common!.own === own &&
      known.tls === tls &&
      (oauth2 === undefined || known.headers['authorization'] === authorization)
    ) {
      return known
    }
    const proxyUrl = config.proxy_url ?? environmentProxy(url)
    const request: Common = {
      url,
      method: 'POST',
      headers: {
        ...lowerCaseNames(headers),
        ...own,
        ...(authorization !== undefined && { authorization }),
      },
      timeoutMs,
      ...(tls !== undefined && { tls }),
      ...(proxyUrl !== undefined && { proxyUrl }),
    }
    common = { given: headers, own, request }
    return request
  }

  async function attempt(payload: Payload, signal: AbortSignal, mayRepeat: boolean): Promise<Sent> {
    const asked = request(payload)
    let prepared: Common
    try {
      prepared = await prepare(asked, signal)
    } catch (error) {
      return { outcome: 'retry', message: (error as Error).message }
    }
    let answer: HttpAnswer
    try {
      answer = await exchange(network, prepared, asked.body ?? payload.body, signal)
    } catch (error) {
      const { message } = error as Error
      return { outcome: 'retry', message, ...(!neverArrived(error) && { mayHaveArrived: true as const }) }
    }
    if (answer.status === 401 && oauth2 !== undefined && mayRepeat) {
      oauth2.forget(prepared.headers['authorization']!)
      return attempt(payload, signal, false)
    }
    const sent = judge(answer, payload, asked)
    if (sent.outcome === 'retry' && sent.atOnce === true && mayRepeat) return attempt(payload, signal, false)
    if (sent.outcome !== 'retry' || sent.afterMs !== undefined) return sent
    const afterMs = retryAfterMs(answer.headers.get('retry-after'), clock.now())
    return afterMs === undefined ? sent : { ...sent, afterMs }
  }

  return async (payload, signal) => {
    const startMs = clock.monotonic()
    let sent: Sent
    try {
      sent = await attempt(payload, signal, true)
    } catch (error) {
      // Nothing of the outside world: a mistake in `judge` or `request` would come again each time.
      sent = { outcome: 'refused', message: `the answer cannot be understood: ${String(error)}` }
    }
    if (!signal.aborted) {
      const seconds = (clock.monotonic() - startMs) / 1000
      host.counters.record('gpucol_exporter_request_duration_seconds', seconds, { outcome: sent.outcome })
    }
    return sent
  }
}

function exchange(network: Network, common: Common, body: Uint8Array, signal: AbortSignal): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted()
    const pieces: Uint8Array[] = []
    let left = ANSWER_LIMIT_BYTES
    let head: Pick<HttpAnswer, 'status' | 'headers'> = { status: 0, headers: new Map() }
    function abort(): void {
      cancel()
      reject(signal.reason as Error)
    }
    const request: NetworkRequest = { ...common, body }
    const cancel = network.request(request, {
      head: (status, headers) => (head = { status, headers }),
      chunk(bytes) {
        if (left > 0) pieces.push(bytes.slice(0, left))
        left = Math.max(0, left - bytes.length)
      },
      end() {
        signal.removeEventListener('abort', abort)
        resolve({ ...head, body: Buffer.concat(pieces) })
      },
      failed(error) {
        signal.removeEventListener('abort', abort)
        reject(error)
      },
    })
    // For the next one, which need not look at its URL again.
    common.memo = request.memo
    signal.addEventListener('abort', abort, { once: true })
  })
}

function headerValues({ headers = {}, headers_files }: PushConfig) {
  return Object.fromEntries([
    ...Object.entries(headers).map(([name, value]) => [name, { secrets: [value] }] as const),
    ...Object.entries(headers_files).map(([name, file]) => [name, { files: [file] }] as const),
  ])
}

function lowerCaseNames(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
}
