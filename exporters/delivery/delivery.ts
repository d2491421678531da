/** The way of requests from the encoder to the destination: they wait, are sent by several consumers, and sent again. */
import { settledBy, timeLeft } from '../../pipeline/clock/deadline.ts'
import type { Host } from '../../pipeline/component.ts'
import { Backlog, type Entry } from './backlog.ts'
import { Circuit, createDelay, type BackOffOptions } from './circuit.ts'
import type { Payload, Sent } from './payload.ts'
import type { Report } from './report.ts'
import type { Send } from './send.ts'

export type DeliveryOptions = {
  readonly consumers: number
  readonly maxBytes: number
  readonly maxRequests: number
  /** False: what is not taken at once is given up. */
  readonly retries: boolean
  readonly backOff: BackOffOptions
  /** Infinity: nothing is given up. */
  readonly maxElapsedMs: number
}

export type Delivery = {
  add(payload: Payload): void
  /** Settles by the deadline: nothing is sent after it. */
  stop(deadlineMs: number): Promise<void>
  size(): DeliverySize
  isCircuitOpen(): boolean
}
export type DeliverySize = { readonly requests: number; readonly bytes: number; readonly points: number }

export function createDelivery(host: Host, options: DeliveryOptions, send: Send, report: Report): Delivery {
  const { clock } = host
  const delay = createDelay(options.backOff, clock, host.id)
  const circuit = new Circuit(delay)
  const backlog = new Backlog<Entry>()
  const held = { requests: 0, bytes: 0, points: 0 }
  const abandon = new AbortController()
  let lastOrder = 0
  let underWay = 0
  let isOver = false
  let wake: { readonly atMs: number; readonly cancel: () => void } | undefined
  let drained: PromiseWithResolvers<void> | undefined

  function add(payload: Payload): void {
    const { body, points, shard, note } = payload
    const entry: Entry = {
      points,
      bytes: body.length,
      ...(shard !== undefined && { shard }),
      ...(note !== undefined && { note }),
      acceptedMs: clock.now(),
      order: ++lastOrder,
      body,
      attempts: 0,
      firstTriedMs: undefined,
      notBeforeMs: -Infinity,
      mayHaveArrived: false,
    }
    backlog.add(entry)
    count(entry, 1)
    dropSurplus()
    pump()
  }

  function count({ bytes, points }: Entry, sign: 1 | -1): void {
    held.requests += sign
    held.bytes += sign * bytes
    held.points += sign * points
  }

  function dropSurplus(): void {
    while (held.bytes > options.maxBytes || held.requests > options.maxRequests) {
      const oldest = backlog.dropOldest()
      if (oldest === undefined) return
      count(oldest, -1)
      report.dropped(oldest.points)
    }
  }

  /** Begins whatever may begin now, and comes again when more may. */
  function pump(): void {
    if (isOver) return
    const nowMs = clock.monotonic()
    while (underWay < options.consumers && circuit.mayBegin(nowMs)) {
      const entry = backlog.take(nowMs, clock.now(), circuit.isOpen)
      if (entry === undefined) break
      void deliver(entry)
    }
    if (held.requests === 0) drained?.resolve()
    if (underWay < options.consumers) wakeAt(circuit.isOpen ? circuit.notBeforeMs : nextMs())
  }

  function nextMs(): number {
    return Math.max(backlog.nextMs(), circuit.notBeforeMs)
  }

  function wakeAt(atMs: number): void {
    if (wake !== undefined && wake.atMs === atMs) return
    wake?.cancel()
    wake = undefined
    const delayMs = atMs - clock.monotonic()
    // What could begin now has begun, or waits for something that calls `pump` itself.
    if (!Number.isFinite(atMs) || delayMs <= 0) return
    const cancel = clock.after(delayMs, () => {
      wake = undefined
      pump()
    })
    wake = { atMs, cancel }
  }

  async function deliver(entry: Entry): Promise<void> {
    underWay++
    const isProbe = circuit.begins()
    entry.firstTriedMs ??= clock.monotonic()
    if (entry.mayHaveArrived) report.repeated(entry.points)
    const { points, shard, note } = entry
    const payload: Payload = {
      body: entry.body!,
      points,
      ...(shard !== undefined && { shard }),
      ...(note !== undefined && { note }),
    }
    const sent = await send(payload, abandon.signal)
    underWay--
    if (isOver) return
    settle(entry, sent, isProbe)
    pump()
  }

  function settle(entry: Entry, sent: Sent, isProbe: boolean): void {
    const nowMs = clock.monotonic()
    if (sent.outcome === 'retry') {
      circuit.fails(isProbe, nowMs, sent.afterMs)
      retryLater(entry, sent, nowMs)
      return
    }
    circuit.works(isProbe)
    if (sent.outcome === 'accepted') {
      report.accepted(entry.points, Math.min(sent.rejectedPoints ?? 0, entry.points), sent.message)
    } else {
      report.lost(entry.points, 'refused', sent.message)
    }
    leave(entry)
  }

  function retryLater(entry: Entry, { message, afterMs = 0, mayHaveArrived }: Retry, nowMs: number): void {
    entry.attempts++
    if (mayHaveArrived === true) entry.mayHaveArrived = true
    const delayMs = Math.max(delay(entry.attempts), afterMs)
    const elapsedMs = nowMs + delayMs - entry.firstTriedMs!
    report.retried(message)
    if (!options.retries || elapsedMs > options.maxElapsedMs) {
      report.lost(entry.points, 'gave_up', message)
      leave(entry)
      return
    }
    entry.notBeforeMs = nowMs + delayMs
    backlog.putBack(entry)
  }

  function leave(entry: Entry): void {
    backlog.done(entry)
    count(entry, -1)
  }

  return {
    add,
    size: () => held,
    isCircuitOpen: () => circuit.isOpen,
    async stop(deadlineMs) {
      if (isOver) return
      drained ??= Promise.withResolvers()
      pump()
      if (timeLeft(clock, deadlineMs) > 0) await settledBy(clock, deadlineMs, drained.promise)
      isOver = true
      wake?.cancel()
      abandon.abort(new Error('stopped'))
      if (held.points > 0) report.lost(held.points, 'stopped', 'they were not delivered before the end')
    },
  }
}

type Retry = Extract<Sent, { outcome: 'retry' }>
