/** One request to a target, with what may lie between it and the answer: redirects, compression, limits. */
import type { Host, NetworkRequest } from '../../pipeline/component.ts'
import { dialectOf } from '../../pipeline/formats/exposition-format.ts'
import type { Exposition, TextReader } from '../../pipeline/formats/prometheus-text.ts'
import type { Dialect } from '../../pipeline/formats/sample-line.ts'
import { createResponseBody, type ResponseBody } from './response-body.ts'

export type ExpositionOptions = {
  readonly bodyLimitBytes: number
  readonly followRedirects: boolean
  /** What a body without a Content-Type that is known is taken for; without this it is a failure. */
  readonly fallback: Dialect | undefined
}

export type Answer = {
  /** Undefined if the scrape failed. */
  readonly exposition?: Exposition
  readonly problem?: string
  /** Uncompressed; -1 if that was above the limit. */
  readonly bodyBytes: number
}

/** As many as Go's client follows. */
const MAX_REDIRECTS = 10
/** What must not be shown to another host than the one it was meant for. */
const PRIVATE_HEADERS = ['authorization', 'cookie']

/** Calls `done` once, unless the returned function is called first. The timeout of the request holds for all of it. */
export function requestExposition(
  { network, clock }: Pick<Host, 'network' | 'clock'>,
  request: NetworkRequest,
  options: ExpositionOptions,
  reader: TextReader,
  done: (answer: Answer) => void,
): () => void {
  const deadlineMs = clock.monotonic() + request.timeoutMs
  let cancelRequest: () => void = () => {}
  let body: ResponseBody | undefined
  let redirects = 0
  let over = false

  function finish(exposition: Exposition | undefined, problem?: string): void {
    if (over) return
    over = true
    body?.cancel()
    const bodyBytes = body === undefined ? 0 : body.tooLarge ? -1 : body.bytes
    done({ bodyBytes, ...(exposition && { exposition }), ...(problem !== undefined && { problem }) })
  }

  function send(current: NetworkRequest): void {
    let redirect: NetworkRequest | undefined
    cancelRequest = network.request(current, {
      head(status, headers) {
        const location = headers.get('location')
        if (options.followRedirects && location !== undefined && isRedirect(status)) {
          if (++redirects > MAX_REDIRECTS) throw new Error(`the target redirects more than ${MAX_REDIRECTS} times`)
          redirect = redirected(current, location)
          return
        }
        if (status !== 200) throw new Error(`the target answered with status ${status}, 200 is expected`)
        const contentType = headers.get('content-type')
        const dialect = dialectOf(contentType) ?? options.fallback
        if (dialect === undefined) {
          throw new Error(
            contentType === undefined ? 'the Content-Type is missing' : `unknown Content-Type "${contentType}"`,
          )
        }
        reader.begin(dialect)
        body = createResponseBody(headers.get('content-encoding'), options.bodyLimitBytes, {
          chunk: bytes => reader.push(bytes),
          end: () => finish(reader.finish()),
          failed(error) {
            cancelRequest()
            finish(undefined, error.message)
          },
        })
      },
      chunk(bytes) {
        body?.chunk(bytes)
      },
      end() {
        if (redirect === undefined) body?.end()
        else send({ ...redirect, timeoutMs: Math.max(1, deadlineMs - clock.monotonic()) })
      },
      failed: error => finish(undefined, error.message),
    })
  }

  send(request)
  return () => {
    over = true
    cancelRequest()
    body?.cancel()
  }
}

function isRedirect(status: number): boolean {
  return status === 301 || status === 302 || status === 303 || status === 307 || status === 308
}

function redirected(request: NetworkRequest, location: string): NetworkRequest {
  const url = URL.parse(location, request.url)
  if (url === null) throw new Error(`the target redirects to "${location}", which is no URL`)
  if (url.origin === URL.parse(request.url)?.origin) return { ...request, url: url.href }
  const headers = Object.entries(request.headers ?? {}).filter(
    ([name]) => !PRIVATE_HEADERS.includes(name.toLowerCase()),
  )
  return { ...request, url: url.href, headers: Object.fromEntries(headers) }
}
