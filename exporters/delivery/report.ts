/** What a destination makes of requests, as operators see it: counts always, lines when something is new. */
import type { Host } from '../../pipeline/component.ts'

/** What is said again and again is said once in this time. */
const SAID_AGAIN_MS = 600_000

const REFUSALS_TO_FAIL = 5

/** Why points are lost. */
export type Loss =
  /** The destination will never take them. */
  | 'refused'
  /** Tried for `max_elapsed_time`, or `retry_on_failure` is off. */
  | 'gave_up'
  /** Still in memory when the process ended. */
  | 'stopped'
  /** What the disk gave back is not what was written. */
  | 'damaged'
  /** A mistake of our own. */
  | 'failed'

export class Report {
  readonly #host: Host
  readonly #subject: string
  #refusals = 0
  readonly #saidMs = new Map<string, number>()

  constructor(host: Host, subject: string) {
    this.#host = host
    this.#subject = subject
  }

  accepted(points: number, rejectedPoints: number, message: string | undefined): void {
    const { counters, log } = this.#host
    this.#refusals = 0
    log.state(this.#subject, 'ok')
    counters.add('gpucol_exporter_sent_metric_points', points - rejectedPoints)
    if (rejectedPoints > 0) counters.add('gpucol_exporter_rejected_metric_points', rejectedPoints)
    if (rejectedPoints > 0) {
      this.#sayOnce(`${this.#subject} rejected points: ${message ?? 'it does not say why'}`, { points: rejectedPoints })
    } else if (message !== undefined) {
      // A partial success that rejects nothing is a warning (OTLP specification).
      this.#sayOnce(`${this.#subject} warns: ${message}`)
    }
  }

  retried(message: string): void {
    this.#host.counters.add('gpucol_exporter_retries', 1)
    this.#host.log.state(this.#subject, 'failing', message)
  }

  /** An attempt after one that may have arrived. */
  repeated(points: number): void {
    this.#host.counters.add('gpucol_exporter_possible_repeat_metric_points', points)
  }

  /** One bad request is a matter of its own; several in a row are a destination that takes nothing. */
  refused(points: number, message: string): void {
    this.lost(points, 'refused', message)
    if (++this.#refusals >= REFUSALS_TO_FAIL) this.#host.log.state(this.#subject, 'failing', message)
  }

  lost(points: number, reason: Loss, message: string): void {
    this.#host.counters.add('gpucol_exporter_send_failed_metric_points', points, { reason })
    this.#sayOnce(`points are lost: ${message}`, { points }, 'error')
  }

  dropped(points: number): void {
    this.#host.counters.add('gpucol_exporter_enqueue_failed_metric_points', points)
    this.#sayOnce(`the queue for ${this.#subject} is full: the oldest points are dropped`, { points }, 'error')
  }

  /** Numbers in a message are mostly counts: another one is nothing new. */
  #sayOnce(message: string, fields: { points?: number } = {}, level: 'warn' | 'error' = 'warn'): void {
    const { clock, log } = this.#host
    const key = message.replace(/\d+/g, '0')
    const nowMs = clock.monotonic()
    for (const [said, atMs] of this.#saidMs) if (nowMs - atMs >= SAID_AGAIN_MS) this.#saidMs.delete(said)
    if (this.#saidMs.has(key) || this.#saidMs.size >= MOST_MESSAGES) return
    this.#saidMs.set(key, nowMs)
    log[level](message, fields)
  }
}

/** A destination that says something else each time does not fill the log. */
const MOST_MESSAGES = 20
