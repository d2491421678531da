/** One request to a target, with what may lie between it and the answer: redirects, compression, limits. */
import type { Host, NetworkRequest, ResponseHandler } from '../../pipeline/component.ts'
import { dialectOf } from '../../pipeline/formats/exposition-format.ts'
import type { Exposition, TextReader } from '../../pipeline/formats/prometheus-text.ts'
import type { Dialect } from '../../pipeline/formats/sample-line.ts'
import { Requester } from './follow-redirects.ts'
import { tooLarge, unpackerFor, type Unpacker } from './unpack-body.ts'

export type ExpositionOptions = {
  readonly bodyLimitBytes: number
  readonly followRedirects: boolean
  /** What a body without a Content-Type that is known is taken for; without this it is a failure. */
  readonly fallback: Dialect | undefined
}

/** A scrape that has begun. */
export type Begun = { readonly timeMs: number; readonly startMs: number }

/** Who asks. */
export type Asker = {
  /** For what is answered. */
  readonly reader: TextReader
  /** `exposition` is undefined if the scrape failed. The body's size is that of what was unpacked; -1 if it was above the limit. */
  answered(begun: Begun, exposition: Exposition | undefined, problem: string | undefined, bodyBytes: number): void
}

/**
 * More than are scraped together where there are thousands of targets: there are never more than were under way at some time. One that
 * is made for a scrape is old when that is over, and its memory is taken until garbage is looked for in the whole heap.
 */
const MOST_UNUSED = 4096
const unused: ExpositionClient[] = []

/**
 * Asks for an exposition, and can be told to cancel that. The asker hears once of it, unless it is cancelled; the timeout of the request
 * holds for all of it.
 */
export function requestExposition(
  host: Pick<Host, 'network' | 'clock'>,
  options: ExpositionOptions,
  request: NetworkRequest,
  asker: Asker,
): ExpositionClient {
  const client = unused.pop() ?? new ExpositionClient()
  client.send(host, options, request, asker)
  return client
}

/**
 * Asks for one exposition after the other, whoever asks: there are thousands of targets, and few scrapes under way. What a scrape makes
 * anew is garbage, and what each target had for itself would be far from the processor by its next.
 */
export class ExpositionClient implements ResponseHandler, Begun {
  timeMs = NaN
  startMs = NaN
  readonly #requester = new Requester(this)
  #options: ExpositionOptions | undefined
  #asker: Asker | undefined
  /** Of a compressed body. */
  #unpacker: Unpacker | undefined
  #bodyBytes = 0

  /** Not while a request is under way. */
  send(host: Pick<Host, 'network' | 'clock'>, options: ExpositionOptions, request: NetworkRequest, asker: Asker): void {
    this.timeMs = host.clock.now()
    this.startMs = host.clock.monotonic()
    this.#options = options
    this.#asker = asker
    this.#bodyBytes = 0
    this.#requester.send(host, request, options.followRedirects, this.startMs + request.timeoutMs)
  }

  /** Whoever asked does not hold on to this. */
  cancel(): void {
    this.#asker = undefined
    this.#requester.cancel()
    this.#unpacker?.cancel()
  }

  head(status: number, headers: ReadonlyMap<string, string>): void {
    if (status !== 200) throw new Error(`the target answered with status ${status}, 200 is expected`)
    const { fallback, bodyLimitBytes } = this.#options!
    const contentType = headers.get('content-type')
    const dialect = dialectOf(contentType) ?? fallback
    if (dialect === undefined) {
      throw new Error(
        contentType === undefined ? 'the Content-Type is missing' : `unknown Content-Type "${contentType}"`,
      )
    }
    this.#asker!.reader.begin(dialect)
    const encoding = headers.get('content-encoding')
    if (encoding !== undefined) this.#unpacker = unpackerFor(encoding, bodyLimitBytes, this.#unpacked())
  }

  chunk(bytes: Uint8Array): void {
    if (this.#unpacker === undefined) this.#read(bytes)
    else this.#unpacker.chunk(bytes)
  }

  end(): void {
    if (this.#unpacker === undefined) this.#finish(this.#asker!.reader.finish(), undefined)
    else this.#unpacker.end()
  }

  failed(error: Error): void {
    this.#finish(undefined, error.message)
  }

  #unpacked() {
    return {
      chunk: (bytes: Uint8Array) => this.#read(bytes),
      end: () => this.#finish(this.#asker!.reader.finish(), undefined),
      failed: (error: Error) => {
        this.#requester.cancel()
        this.failed(error)
      },
    }
  }

  #read(bytes: Uint8Array): void {
    const { bodyLimitBytes } = this.#options!
    this.#bodyBytes += bytes.length
    if (this.#bodyBytes > bodyLimitBytes) throw tooLarge(bodyLimitBytes)
    this.#asker!.reader.push(bytes)
  }

  #finish(exposition: Exposition | undefined, problem: string | undefined): void {
    const asker = this.#asker
    if (asker === undefined) return
    this.#asker = undefined
    this.#unpacker?.cancel()
    this.#unpacker = undefined
    const isTooLarge = this.#bodyBytes > this.#options!.bodyLimitBytes
    try {
      asker.answered(this, exposition, problem, isTooLarge ? -1 : this.#bodyBytes)
    } finally {
      // What is not used for long must not keep a receiver that is no more.
      this.#options = undefined
      this.#requester.rest()
      // Not before: nothing may reach the next through this, also if the asker throws.
      if (unused.length < MOST_UNUSED) unused.push(this)
    }
  }
}
