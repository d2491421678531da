/** One request to a target, with what may lie between it and the answer: redirects, compression, limits. */
import type { Host, NetworkRequest, ResponseHandler } from '../../pipeline/component.ts'
import { dialectOf } from '../../pipeline/formats/exposition-format.ts'
import type { Exposition, TextReader } from '../../pipeline/formats/prometheus-text.ts'
import type { Dialect } from '../../pipeline/formats/sample-line.ts'
import { Requester, type Asked } from './follow-redirects.ts'
import { tooLarge, unpackerFor, type Unpacker } from './unpack-body.ts'

export type ExpositionOptions = {
  readonly bodyLimitBytes: number
  readonly followRedirects: boolean
  /** What a body without a Content-Type that is known is taken for; without this it is a failure. */
  readonly fallback: Dialect | undefined
}

/** Who asks. */
export type Asker = Asked & {
  /** `exposition` is undefined if the scrape failed. The body's size is that of what was unpacked; -1 if it was above the limit. */
  answered(exposition: Exposition | undefined, problem: string | undefined, bodyBytes: number): void
}

/** Asks one target, one request after the other. */
export class ExpositionClient implements ResponseHandler {
  readonly #options: ExpositionOptions
  readonly #reader: TextReader
  readonly #asker: Asker
  readonly #requester: Requester
  // A target says the same every time.
  #knownType: string | undefined
  #knownDialect: Dialect | undefined
  /** Of a compressed body. */
  #unpacker: Unpacker | undefined
  #bodyBytes = 0
  #isOver = true

  constructor(host: Pick<Host, 'network' | 'clock'>, options: ExpositionOptions, reader: TextReader, asker: Asker) {
    this.#options = options
    this.#reader = reader
    this.#asker = asker
    this.#requester = new Requester(host, options.followRedirects, this, asker)
    this.#knownDialect = options.fallback
  }

  /** Not while a request is under way. The asker hears once of it, unless it is cancelled; its timeout holds for all of it. */
  send(request: NetworkRequest): void {
    this.#isOver = false
    this.#unpacker = undefined
    this.#bodyBytes = 0
    this.#requester.send(request)
  }

  cancel(): void {
    this.#isOver = true
    this.#requester.cancel()
    this.#unpacker?.cancel()
  }

  head(status: number, headers: ReadonlyMap<string, string>): void {
    if (status !== 200) throw new Error(`the target answered with status ${status}, 200 is expected`)
    const contentType = headers.get('content-type')
    if (contentType !== this.#knownType) {
      this.#knownType = contentType
      this.#knownDialect = dialectOf(contentType) ?? this.#options.fallback
    }
    if (this.#knownDialect === undefined) {
      throw new Error(
        contentType === undefined ? 'the Content-Type is missing' : `unknown Content-Type "${contentType}"`,
      )
    }
    this.#reader.begin(this.#knownDialect)
    const encoding = headers.get('content-encoding')
    if (encoding !== undefined) this.#unpacker = unpackerFor(encoding, this.#options.bodyLimitBytes, this.#unpacked())
  }

  chunk(bytes: Uint8Array): void {
    if (this.#unpacker === undefined) this.#read(bytes)
    else this.#unpacker.chunk(bytes)
  }

  end(): void {
    if (this.#unpacker === undefined) this.#finish(this.#reader.finish(), undefined)
    else this.#unpacker.end()
  }

  failed(error: Error): void {
    this.#finish(undefined, error.message)
  }

  #unpacked() {
    return {
      chunk: (bytes: Uint8Array) => this.#read(bytes),
      end: () => this.#finish(this.#reader.finish(), undefined),
      failed: (error: Error) => {
        this.#requester.cancel()
        this.failed(error)
      },
    }
  }

  #read(bytes: Uint8Array): void {
    const { bodyLimitBytes } = this.#options
    this.#bodyBytes += bytes.length
    if (this.#bodyBytes > bodyLimitBytes) throw tooLarge(bodyLimitBytes)
    this.#reader.push(bytes)
  }

  #finish(exposition: Exposition | undefined, problem: string | undefined): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#unpacker?.cancel()
    const isTooLarge = this.#bodyBytes > this.#options.bodyLimitBytes
    this.#asker.answered(exposition, problem, isTooLarge ? -1 : this.#bodyBytes)
  }
}
