/** The way of requests from the encoder to the destination: they wait, are sent by several consumers, and sent again. */
import { settledBy, timeLeft } from '../../pipeline/clock/deadline.ts'
import type { Host, QueuedRequest, QueueStore } from '../../pipeline/component.ts'
import { Backlog, createEntry, type Entry } from './backlog.ts'
import { Circuit, createDelay, type BackOffOptions } from './circuit.ts'
import { Keeper } from './keeper.ts'
import type { Payload, Sent } from './payload.ts'
import type { Report } from './report.ts'
import type { Send } from './send.ts'

export type DeliveryOptions = {
  readonly consumers: number
  /** By whether the queue survives the end of the process. */
  readonly maxBytes: (isPersistent: boolean) => number
  readonly maxRequests: number
  /** False: what is not taken at once is given up. */
  readonly retries: boolean
  readonly backOff: BackOffOptions
  /** Infinity: nothing is given up. */
  readonly maxElapsedMs: number
}

/** Who hears of requests that leave. */
export type Leaving = {
  /** Is given bodies that were accepted or dropped, and that nobody has any more. */
  recycle(body: Uint8Array): void
  /** An attempt is over. There may be room for more. */
  settled(): void
}

export type Delivery = {
  /** Sends what waits in the store, and whatever comes. */
  start(store: QueueStore): void
  /** Instead of `start`: puts what there is into the store, and sends nothing. */
  keep(store: QueueStore): void
  /** May be called before `start`. */
  add(payload: Payload): void
  /** Settles by the deadline: nothing is sent after it. What is left stays in the store. */
  stop(deadlineMs: number): Promise<void>
  status(): DeliveryStatus
}
export type DeliveryStatus = {
  readonly requests: number
  readonly bytes: number
  readonly maxBytes: number
  readonly points: number
  /** Of the points, those that survive the end of the process. */
  readonly safePoints: number
  readonly isCircuitOpen: boolean
}

/** What may be in memory only because the disk does not take it. Then what is oldest is dropped. */
const UNSAFE_BYTES = 64 * 2 ** 20
/** The same for a disk that works, and is slower than what comes at the moment. */
const BURST_BYTES = 256 * 2 ** 20
/** Of the time for stopping, what is left for the store. */
const CLOSING_MS = 500

export function createDelivery(
  host: Host,
  options: DeliveryOptions,
  send: Send,
  report: Report,
  leaving: Leaving,
): Delivery {
  const { clock } = host
  const delay = createDelay(options.backOff, clock, host.id)
  const circuit = new Circuit(delay)
  const backlog = new Backlog<Entry>()
  const held = { requests: 0, bytes: 0, points: 0 }
  const abandon = new AbortController()
  let keeper: Keeper | undefined
  let maxBytes = options.maxBytes(false)
  let lastOrder = 0
  let underWay = 0
  let isSending = false
  let isOver = false
  let wake: { readonly atMs: number; readonly cancel: () => void } | undefined
  let drained: PromiseWithResolvers<void> | undefined

  function keep(store: QueueStore): void {
    keeper = new Keeper(store, host)
    maxBytes = options.maxBytes(store.persistent)
    const earlier = backlog.all()
    const waiting = store.takeWaiting()
    const restored = waiting.map((request, i) => entryFrom(request, i - waiting.length))
    for (const entry of restored) count(entry, 1)
    keeper.restored(restored)
    backlog.addOlder(restored)
    for (const entry of earlier) keeper.save(entry)
    dropSurplus()
  }

  function start(store: QueueStore): void {
    if (isOver) {
      // It was stopped while it waited for the store.
      void store.close(() => {})
      return
    }
    keep(store)
    isSending = true
    pump()
  }

  function add({ body, points, shard, note }: Payload): void {
    const entry = createEntry({ points, bytes: body.length, shard, note, acceptedMs: clock.now(), order: ++lastOrder })
    entry.body = body
    backlog.add(entry)
    count(entry, 1)
    keeper?.save(entry)
    dropSurplus()
    pump()
  }

  function count({ bytes, points }: Entry, sign: 1 | -1): void {
    held.requests += sign
    held.bytes += sign * bytes
    held.points += sign * points
  }

  /** A request that is larger than the whole queue is sent all the same: it is the only one. */
  function dropSurplus(): void {
    while ((held.bytes > maxBytes || held.requests > options.maxRequests) && held.requests > 1) {
      if (!drop(backlog.dropOldest())) break
    }
    dropUnsafe()
  }

  /**
   * The disk has no room, or cannot keep up. What is oldest makes room there for what is new; if not even that helps, because nothing
   * can be taken away, memory is not filled with what nobody can save.
   */
  function dropUnsafe(): void {
    if (keeper === undefined) return
    const limitBytes = keeper.isFailing ? UNSAFE_BYTES : BURST_BYTES
    let surplusBytes = keeper.unsafeBytes - keeper.leavingBytes - limitBytes
    while (surplusBytes > 0) {
      const oldest = backlog.dropOldest()
      if (!drop(oldest)) break
      surplusBytes -= oldest!.bytes
    }
    while (keeper.unsafeBytes > 2 * limitBytes) {
      const oldest = keeper.oldestUnsafe()!
      if (oldest.isUnderWay) break
      oldest.isDropped = true
      drop(oldest)
    }
  }

  function drop(entry: Entry | undefined): boolean {
    if (entry === undefined) return false
    count(entry, -1)
    // What was tried once may still be on its way to the destination.
    if (entry.body !== undefined && entry.firstTriedMs === undefined && keeper?.store.persistent !== true) {
      leaving.recycle(entry.body)
    }
    keeper?.forget(entry)
    report.dropped(entry.points)
    return true
  }

  /** Begins whatever may begin now, and comes again when more may. */
  function pump(): void {
    if (isOver || !isSending || keeper === undefined) return
    const nowMs = clock.monotonic()
    while (underWay < options.consumers && circuit.mayBegin(nowMs)) {
      const entry = backlog.take(nowMs, clock.now(), circuit.isOpen)
      if (entry === undefined) break
      void deliver(entry, keeper)
    }
    if (held.requests === 0 || (circuit.isOpen && keeper.store.persistent)) drained?.resolve()
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

  async function deliver(entry: Entry, from: Keeper): Promise<void> {
    underWay++
    entry.isUnderWay = true
    const isProbe = circuit.begins()
    const sent = await attempt(entry, from)
    underWay--
    entry.isUnderWay = false
    if (isOver) return
    if (sent === 'unreadable') circuit.leaves(isProbe)
    else settle(entry, sent, isProbe)
    pump()
    leaving.settled()
  }

  async function attempt(entry: Entry, from: Keeper): Promise<Sent | 'unreadable'> {
    let body: Uint8Array | undefined
    try {
      body = await from.bodyOf(entry)
    } catch (error) {
      host.log.state('the queue on disk', 'failing', (error as Error).message)
      entry.notBeforeMs = clock.monotonic() + delay(++entry.attempts)
      if (!isOver) backlog.putBack(entry)
      return 'unreadable'
    }
    if (body === undefined) {
      report.lost(entry.points, 'damaged', 'the queue on disk does not have them as they were written')
      leave(entry)
      return 'unreadable'
    }
    entry.firstTriedMs ??= clock.monotonic()
    from.mark(entry)
    if (entry.mayHaveArrived) report.repeated(entry.points)
    const { points, shard, note } = entry
    const rest = { points, ...(shard !== undefined && { shard }), ...(note !== undefined && { note }) }
    const sent = await send({ body, ...rest }, abandon.signal)
    // What is on disk may still be on its way there.
    if (sent.outcome === 'accepted' && !from.store.persistent) leaving.recycle(body)
    return sent
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
      report.refused(entry.points, sent.message)
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
      report.lost(entry.points, 'gave_up', `given up: ${message}`)
      leave(entry)
      return
    }
    entry.notBeforeMs = nowMs + delayMs
    keeper?.mark(entry)
    backlog.putBack(entry)
    dropSurplus()
  }

  function leave(entry: Entry): void {
    backlog.done(entry)
    count(entry, -1)
    keeper?.forget(entry)
  }

  async function stop(deadlineMs: number): Promise<void> {
    if (isOver) return
    const marginMs = keeper?.store.persistent === true ? Math.min(CLOSING_MS, timeLeft(clock, deadlineMs) / 2) : 0
    drained ??= Promise.withResolvers()
    pump()
    const drainDeadlineMs = deadlineMs - marginMs
    if (isSending && timeLeft(clock, drainDeadlineMs) > 0) await settledBy(clock, drainDeadlineMs, drained.promise)
    if (isOver) return
    isOver = true
    wake?.cancel()
    abandon.abort(new Error('stopped'))
    const loses = (points: number): void => report.lost(points, 'stopped', 'they were not delivered before the end')
    if (keeper !== undefined) await keeper.close(deadlineMs, loses)
    else if (held.points > 0) loses(held.points)
  }

  return {
    start,
    keep,
    add,
    stop,
    status: () => ({
      ...held,
      maxBytes,
      safePoints: keeper?.safePoints ?? 0,
      isCircuitOpen: circuit.isOpen,
    }),
  }
}

type Retry = Extract<Sent, { outcome: 'retry' }>

function entryFrom({ id, points, bytes, shard, note, acceptedMs, isTried }: QueuedRequest, order: number): Entry {
  const entry = createEntry({ points, bytes, shard, note, acceptedMs, order })
  entry.id = id
  entry.isStored = true
  entry.isMarked = isTried
  entry.mayHaveArrived = isTried
  return entry
}
