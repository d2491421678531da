/**
 * Time limits of requests. Those of one length end in the order in which they began, so all of them need one timer: a scraper that asks a
 * thousand targets would set and cancel as many.
 */
import type { Clock } from '../component.ts'
import type { Exchange } from './exchange.ts'
import { timedOut } from './failure.ts'

export class TimeLimits {
  readonly #clock: Clock
  readonly #byLength = new Map<number, TimeLimit>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** The limit of this length, begun now; whoever gets it must end it. */
  begin(timeoutMs: number, exchange: Exchange): TimeLimit {
    let limit = this.#byLength.get(timeoutMs)
    if (limit === undefined) {
      limit = new TimeLimit(this.#clock, timeoutMs, () => this.#byLength.delete(timeoutMs))
      this.#byLength.set(timeoutMs, limit)
    }
    limit.begin(exchange)
    return limit
  }
}

/** The exchanges that have a limit of one length, in the order of their ends, linked by themselves. */
export class TimeLimit {
  readonly #clock: Clock
  readonly #timeoutMs: number
  readonly #isEmpty: () => void
  #first: Exchange | undefined
  #last: Exchange | undefined
  #cancelTimer: (() => void) | undefined

  constructor(clock: Clock, timeoutMs: number, isEmpty: () => void) {
    this.#clock = clock
    this.#timeoutMs = timeoutMs
    this.#isEmpty = isEmpty
  }

  begin(exchange: Exchange): void {
    exchange.endsMs = this.#clock.monotonic() + this.#timeoutMs
    exchange.before = this.#last
    if (this.#last === undefined) this.#first = exchange
    else this.#last.behind = exchange
    this.#last = exchange
    this.#cancelTimer ??= this.#clock.after(this.#timeoutMs, () => this.#expire())
  }

  end(exchange: Exchange): void {
    const { before, behind } = exchange
    if (before === undefined) this.#first = behind
    else before.behind = behind
    if (behind === undefined) this.#last = before
    else behind.before = before
    exchange.before = undefined
    exchange.behind = undefined
    if (this.#first !== undefined) return
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
    this.#isEmpty()
  }

  /** The timer is that of an exchange that may be over by now: it goes on for the first that is not. */
  #expire(): void {
    this.#cancelTimer = undefined
    const nowMs = this.#clock.monotonic()
    while (this.#first !== undefined && this.#first.endsMs <= nowMs) this.#first.fail(timedOut(this.#timeoutMs))
    if (this.#first === undefined) return
    const leftMs = this.#first.endsMs - this.#clock.monotonic()
    this.#cancelTimer ??= this.#clock.after(leftMs, () => this.#expire())
  }
}
