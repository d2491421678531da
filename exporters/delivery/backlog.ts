/**
 * What waits to be sent, and which is next.
 *
 * A shard gives its oldest, and nothing else before that is through. What has no shard is taken from the oldest end; while there
 * is a backlog, every second one is taken from the newest end, so that what is fresh does not wait until hours are sent.
 */
import { Deque } from './deque.ts'

/** A request, where its bytes are, and what became of it so far. */
export type Entry = {
  readonly points: number
  /** Of the body. */
  readonly bytes: number
  readonly shard?: number
  readonly note?: string
  /** Wall clock when it was accepted. */
  readonly acceptedMs: number
  /** Earlier ones have smaller numbers. */
  readonly order: number
  /** Not in memory where it is in the store and there is no room for it. */
  body: Uint8Array | undefined
  /** In the store, from the moment it is written there. */
  id: number | undefined
  isStored: boolean
  /** Whether the store says that it may have arrived. */
  isMarked: boolean
  attempts: number
  /** Monotonic, like all moments here. */
  firstTriedMs: number | undefined
  notBeforeMs: number
  isUnderWay: boolean
  /** It is not wanted any more, wherever in the queue it is. */
  isDropped: boolean
  /** An attempt ended without anybody knowing whether it was taken. */
  mayHaveArrived: boolean
}

/** What has waited so long is a backlog. */
const BACKLOG_MS = 10_000

type Shard<E> = { readonly waiting: Deque<E>; isBusy: boolean }

export class Backlog<E extends Entry> {
  readonly #unordered = new Deque<E>()
  /** Those without a shard that were tried and wait for another attempt: few, compared with the rest. */
  readonly #tried = new Set<E>()
  readonly #shards = new Map<number, Shard<E>>()
  #nextShard = 0
  #newestFirst = false

  add(entry: E): void {
    if (entry.shard === undefined) this.#unordered.push(entry)
    else this.#shard(entry.shard).waiting.push(entry)
  }

  /** Puts what is older than everything here in front of it; oldest first. */
  addOlder(entries: readonly E[]): void {
    for (const entry of entries.toReversed()) {
      if (entry.shard === undefined) this.#unordered.unshift(entry)
      else this.#shard(entry.shard).waiting.unshift(entry)
    }
  }

  /**
   * The next to be sent, if there is one that may be sent now; `done` or `putBack` says what became of it. With `impatient` also
   * one whose time has not come: whoever tries whether a destination is well again waits by a measure of its own.
   */
  take(nowMs: number, wallMs: number, impatient = false): E | undefined {
    for (;;) {
      const entry = this.#takeFromShards(nowMs, impatient) ?? this.#takeUnordered(nowMs, wallMs, impatient)
      if (entry?.isDropped !== true) return entry
      this.done(entry)
    }
  }

  done(entry: E): void {
    if (entry.shard === undefined) return
    const shard = this.#shard(entry.shard)
    shard.isBusy = false
    if (shard.waiting.length === 0) this.#shards.delete(entry.shard)
  }

  putBack(entry: E): void {
    if (entry.shard === undefined) {
      this.#tried.add(entry)
      return
    }
    const shard = this.#shard(entry.shard)
    shard.isBusy = false
    shard.waiting.unshift(entry)
  }

  /** The oldest of all that is not being sent, which is then not here any more. */
  dropOldest(): E | undefined {
    for (;;) {
      const entry = this.#removeOldest()
      if (entry?.isDropped !== true) return entry
    }
  }

  /** When something can be taken: never, if nothing waits. */
  nextMs(): number {
    if (this.#unordered.length > 0) return -Infinity
    let next = Infinity
    for (const { notBeforeMs } of this.#tried) next = Math.min(next, notBeforeMs)
    for (const { waiting, isBusy } of this.#shards.values()) {
      if (!isBusy && waiting.first !== undefined) next = Math.min(next, waiting.first.notBeforeMs)
    }
    return next
  }

  /** Everything that waits, oldest first. */
  all(): E[] {
    const entries = [...this.#unordered, ...this.#tried]
    for (const { waiting } of this.#shards.values()) entries.push(...waiting)
    return entries.filter(({ isDropped }) => !isDropped).sort((a, b) => a.order - b.order)
  }

  #removeOldest(): E | undefined {
    let oldest = this.#unordered.first
    for (const entry of this.#tried) if (oldest === undefined || entry.order < oldest.order) oldest = entry
    for (const { waiting } of this.#shards.values()) {
      if (waiting.first !== undefined && (oldest === undefined || waiting.first.order < oldest.order)) {
        oldest = waiting.first
      }
    }
    if (oldest === undefined) return undefined
    if (oldest.shard !== undefined) {
      const shard = this.#shard(oldest.shard)
      shard.waiting.shift()
      if (shard.waiting.length === 0 && !shard.isBusy) this.#shards.delete(oldest.shard)
    } else if (!this.#tried.delete(oldest)) {
      this.#unordered.shift()
    }
    return oldest
  }

  #shard(id: number): Shard<E> {
    let shard = this.#shards.get(id)
    if (shard === undefined) this.#shards.set(id, (shard = { waiting: new Deque(), isBusy: false }))
    return shard
  }

  /** In turn: the one that was asked last is asked last again. */
  #takeFromShards(nowMs: number, impatient: boolean): E | undefined {
    if (this.#shards.size === 0) return undefined
    const ids = [...this.#shards.keys()]
    for (let i = 0; i < ids.length; i++) {
      const at = (this.#nextShard + i) % ids.length
      const shard = this.#shards.get(ids[at]!)!
      const { first } = shard.waiting
      if (shard.isBusy || first === undefined || (!impatient && first.notBeforeMs > nowMs)) continue
      this.#nextShard = at + 1
      shard.isBusy = true
      return shard.waiting.shift()
    }
    return undefined
  }

  #takeUnordered(nowMs: number, wallMs: number, impatient: boolean): E | undefined {
    const tried = this.#oldestTried(nowMs, impatient)
    const { first } = this.#unordered
    const oldest = tried ?? first
    if (oldest === undefined) return undefined
    const isBacklog = first !== undefined && wallMs - oldest.acceptedMs > BACKLOG_MS
    this.#newestFirst = isBacklog && !this.#newestFirst
    if (this.#newestFirst) return this.#unordered.pop()
    if (tried === undefined) return this.#unordered.shift()
    this.#tried.delete(tried)
    return tried
  }

  #oldestTried(nowMs: number, impatient: boolean): E | undefined {
    let oldest: E | undefined
    for (const entry of this.#tried) {
      if (!impatient && entry.notBeforeMs > nowMs) continue
      if (oldest === undefined || entry.order < oldest.order) oldest = entry
    }
    return oldest
  }
}
