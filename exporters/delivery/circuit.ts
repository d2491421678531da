/**
 * Whether a destination is worth a request now.
 *
 * After some failures in a row the circuit is open: one request at a time finds out whether the destination is well again, at
 * growing intervals. So a dead one costs a connection now and then, not all consumers for the whole of a timeout each.
 */
import type { Clock } from '../../pipeline/component.ts'
import { createRandom } from '../../pipeline/kubernetes/back-off.ts'

export type BackOffOptions = {
  readonly initialMs: number
  readonly maxMs: number
  readonly multiplier: number
  /** By which part of it a delay is shorter or longer. */
  readonly randomization: number
}

/** How long to wait before an attempt, by how many failed before it, at least 1. */
export type Delay = (failures: number) => number

export function createDelay(options: BackOffOptions, clock: Clock, seed: string): Delay {
  const random = createRandom(clock, seed)
  const { initialMs, maxMs, multiplier, randomization } = options
  return failures => {
    const delayMs = Math.min(maxMs, initialMs * multiplier ** Math.min(failures - 1, 1000))
    return delayMs * (1 - randomization + 2 * randomization * random())
  }
}

/** So many failures in a row open the circuit. */
const FAILURES_TO_OPEN = 5

export class Circuit {
  #failures = 0
  /** Of probes in a row, and of the request that opened the circuit. */
  #failedProbes = 0
  #isProbing = false
  #probeMs = -Infinity
  /** Until when the destination asked to be left alone: that somebody else gets through meanwhile changes nothing. */
  #askedMs = -Infinity
  readonly #delay: Delay

  constructor(delay: Delay) {
    this.#delay = delay
  }

  /** Nothing is sent before this. */
  get notBeforeMs(): number {
    return Math.max(this.#probeMs, this.#askedMs)
  }

  get isOpen(): boolean {
    return this.#failures >= FAILURES_TO_OPEN
  }

  mayBegin(nowMs: number): boolean {
    return nowMs >= this.notBeforeMs && !(this.isOpen && this.#isProbing)
  }

  /** Returns whether the request is the one that finds out; `works`, `fails` or `leaves` must know. */
  begins(): boolean {
    if (this.isOpen) this.#isProbing = true
    return this.isOpen
  }

  /** The destination answered. */
  works(isProbe: boolean): void {
    this.leaves(isProbe)
    this.#failures = 0
    this.#failedProbes = 0
    this.#probeMs = -Infinity
  }

  /** `afterMs`: what the destination asked for. */
  fails(isProbe: boolean, nowMs: number, afterMs = 0): void {
    this.leaves(isProbe)
    const wasOpen = this.isOpen
    this.#failures++
    // Those that were under way when it opened say nothing new.
    const delayMs = this.isOpen && (isProbe || !wasOpen) ? this.#delay(++this.#failedProbes) : 0
    this.#probeMs = Math.max(this.#probeMs, nowMs + delayMs)
    this.#askedMs = Math.max(this.#askedMs, nowMs + afterMs)
  }

  /** It came to nothing for a reason of our own. */
  leaves(isProbe: boolean): void {
    if (isProbe) this.#isProbing = false
  }
}
