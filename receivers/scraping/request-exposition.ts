/** One request to a target, with what may lie between it and the answer: redirects, compression, limits. */
import type { Host, NetworkRequest, ResponseHandler } from '../../pipeline/component.ts'
import { dialectOf } from '../../pipeline/formats/exposition-format.ts'
import type { Exposition, TextReader } from '../../pipeline/formats/prometheus-text.ts'
import type { Dialect } from '../../pipeline/formats/sample-line.ts'
import { requestFollowing } from './follow-redirects.ts'
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

/** Calls `done` once, unless the returned function is called first. The timeout of the request holds for all of it. */
export function requestExposition(
  host: Pick<Host, 'network' | 'clock'>,
  request: NetworkRequest,
  options: ExpositionOptions,
  reader: TextReader,
  done: (answer: Answer) => void,
): () => void {
  let cancelRequest: () => void = () => {}
  let body: ResponseBody | undefined
  let over = false

  function finish(exposition: Exposition | undefined, problem?: string): void {
    if (over) return
    over = true
    body?.cancel()
    const bodyBytes = body === undefined ? 0 : body.tooLarge ? -1 : body.bytes
    done({ bodyBytes, ...(exposition && { exposition }), ...(problem !== undefined && { problem }) })
  }

  const handler: ResponseHandler = {
    head(status, headers) {
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
    chunk: bytes => body?.chunk(bytes),
    end: () => body?.end(),
    failed: error => finish(undefined, error.message),
  }

  cancelRequest = options.followRedirects
    ? requestFollowing(host, request, handler)
    : host.network.request(request, handler)
  return () => {
    over = true
    cancelRequest()
    body?.cancel()
  }
}
