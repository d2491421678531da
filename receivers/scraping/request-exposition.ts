/** One request to a target, with what may lie between it and the answer: redirects, compression, limits. */
import type { Host, NetworkRequest, ResponseHandler } from '../../pipeline/component.ts'
import { dialectOf } from '../../pipeline/formats/exposition-format.ts'
import type { Exposition, TextReader } from '../../pipeline/formats/prometheus-text.ts'
import type { Dialect } from '../../pipeline/formats/sample-line.ts'
import { createFollower } from './follow-redirects.ts'
import { bodyOf, PlainBody, type BodyHandler, type ResponseBody } from './response-body.ts'

export type ExpositionOptions = {
  readonly bodyLimitBytes: number
  readonly followRedirects: boolean
  /** What a body without a Content-Type that is known is taken for; without this it is a failure. */
  readonly fallback: Dialect | undefined
}

export type Answer = {
  /** Undefined if the scrape failed. */
  readonly exposition: Exposition | undefined
  readonly problem: string | undefined
  /** Uncompressed; -1 if that was above the limit. */
  readonly bodyBytes: number
}

/** Asks one target, one request after the other. */
export type ExpositionClient = {
  /** Not while a request is under way. `done` is called once for it, unless it is cancelled; its timeout holds for all of it. */
  send(request: NetworkRequest): void
  cancel(): void
}

export function createExpositionClient(
  host: Pick<Host, 'network' | 'clock'>,
  options: ExpositionOptions,
  reader: TextReader,
  done: (answer: Answer) => void,
): ExpositionClient {
  let cancelRequest: () => void = () => {}
  let body: ResponseBody | undefined
  let isOver = true
  // A target says the same every time.
  let knownType: string | undefined
  let knownDialect = options.fallback

  function finish(exposition: Exposition | undefined, problem?: string): void {
    if (isOver) return
    isOver = true
    body?.cancel()
    const bodyBytes = body === undefined ? 0 : body.tooLarge ? -1 : body.bytes
    done({ exposition, problem, bodyBytes })
  }

  const read: BodyHandler = {
    chunk: bytes => reader.push(bytes),
    end: () => finish(reader.finish()),
    failed(error) {
      cancelRequest()
      finish(undefined, error.message)
    },
  }
  const plain = new PlainBody(options.bodyLimitBytes, read)

  const handler: ResponseHandler = {
    head(status, headers) {
      if (status !== 200) throw new Error(`the target answered with status ${status}, 200 is expected`)
      const contentType = headers.get('content-type')
      if (contentType !== knownType) {
        knownType = contentType
        knownDialect = dialectOf(contentType) ?? options.fallback
      }
      if (knownDialect === undefined) {
        throw new Error(
          contentType === undefined ? 'the Content-Type is missing' : `unknown Content-Type "${contentType}"`,
        )
      }
      reader.begin(knownDialect)
      body = bodyOf(headers.get('content-encoding'), plain)
    },
    chunk: bytes => body?.chunk(bytes),
    end: () => body?.end(),
    failed: error => finish(undefined, error.message),
  }
  const request = options.followRedirects
    ? createFollower(host, handler)
    : (one: NetworkRequest) => host.network.request(one, handler)

  return {
    send(one) {
      isOver = false
      body = undefined
      plain.reset()
      cancelRequest = request(one)
    },
    cancel() {
      isOver = true
      cancelRequest()
      body?.cancel()
    },
  }
}
