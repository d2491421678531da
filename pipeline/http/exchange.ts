/**
 * One request under way, whichever client sends it: keeps the promises of `Network.request`.
 *
 * Exactly one of `end` and `failed` reaches the handler, nothing reaches it after that or after a cancel, and the time limit
 * holds. A handler that throws fails its own request with what it threw, and nothing else.
 */
import type { NetworkRequest, ResponseHandler } from '../component.ts'
import type { TimeLimit, TimeLimits } from './time-limits.ts'

/** Of one that is through: whoever keeps it for the next request keeps nothing of the last. */
const NO_REQUEST: NetworkRequest = { url: '', timeoutMs: Infinity }

export class Exchange {
  request: NetworkRequest
  over = false
  /** Whether it came to its end: whoever sent it holds on to it no more. */
  isThrough = false
  /** Set by the client: what the request still holds, and gives up when it is over before its response is complete. */
  holder: { close(): void } | undefined
  /** Among those with the same time limit. */
  before: Exchange | undefined
  behind: Exchange | undefined
  endsMs = Infinity
  readonly limits: TimeLimits
  readonly #handler: ResponseHandler
  #limit: TimeLimit | undefined

  constructor(limits: TimeLimits, request: NetworkRequest, handler: ResponseHandler) {
    this.request = request
    this.limits = limits
    this.#handler = handler
    this.#begin()
  }

  /** The next request of its handler, when it is through. */
  again(request: NetworkRequest): void {
    this.request = request
    this.over = false
    this.isThrough = false
    this.#begin()
  }

  #begin(): void {
    const { timeoutMs } = this.request
    if (Number.isFinite(timeoutMs)) this.#limit = this.limits.begin(timeoutMs, this)
  }

  head(status: number, headers: ReadonlyMap<string, string>): void {
    if (this.over) return
    try {
      this.#handler.head(status, headers)
    } catch (error) {
      this.fail(error as Error)
    }
  }

  chunk(bytes: Uint8Array): void {
    if (this.over) return
    try {
      this.#handler.chunk(plain(bytes))
    } catch (error) {
      this.fail(error as Error)
    }
  }

  end(): void {
    if (this.over) return
    this.#finish()
    this.isThrough = true
    this.request = NO_REQUEST
    try {
      this.#handler.end()
    } catch (error) {
      this.#handler.failed(error as Error)
    }
  }

  fail(error: Error): void {
    if (this.over) return
    this.#finish()
    this.holder?.close()
    this.#handler.failed(error)
  }

  readonly cancel = (): void => {
    if (this.over) return
    this.#finish()
    this.holder?.close()
  }

  /** Who asked may hold on to this until the next request: what it needs no more must not get old with it. */
  #finish(): void {
    this.over = true
    this.#limit?.end(this)
    this.#limit = undefined
  }
}

/** `slice` of a Buffer is a view, of any other array of bytes a copy: whoever keeps a piece must be able to rely on the copy. */
function plain(bytes: Uint8Array): Uint8Array {
  return Buffer.isBuffer(bytes) ? new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength) : bytes
}
