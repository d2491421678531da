/**
 * Connections that wait for their next request, by address. Looked after as a whole now and then: a timer of each connection would be set
 * anew with every byte.
 */
import type { Connection } from './connection.ts'

export type IdlePoolOptions = {
  /** How long a connection waits before it is closed; it may be a quarter longer. */
  readonly idleMs: number
  readonly maxIdle: number
  readonly maxPerAddress: number
}

/** Those of one address, each linked to the one that has waited longer. */
export type IdleConnections = {
  last: Connection | undefined
  count: number
  /** It has no connections any more, and whoever needs it again asks for another. */
  isGone: boolean
}

/** How often in `idleMs` it is looked for those that are to be closed. */
const LOOKS = 4

export class IdlePool {
  readonly #options: IdlePoolOptions
  /** An address stays until none of its connections is left. */
  readonly #byAddress = new Map<string, IdleConnections>()
  #count = 0
  #isWatched = false
  /** Counts connections that begin to wait: who has a smaller number has waited longer. A look at the clock for each would cost more. */
  #lastNumber = 0
  /** What the last number was at the last looks, the oldest first. */
  readonly #looks = Array.from({ length: LOOKS }, () => 0)

  constructor(options: IdlePoolOptions) {
    this.#options = options
  }

  of(address: string): IdleConnections {
    let its = this.#byAddress.get(address)
    if (its === undefined) this.#byAddress.set(address, (its = { last: undefined, count: 0, isGone: false }))
    return its
  }

  /** The one used last: the others may then get old enough to be closed. */
  take(its: IdleConnections): Connection | undefined {
    const { last } = its
    if (last === undefined) return undefined
    its.last = last.older
    last.older = undefined
    its.count--
    this.#count--
    return last
  }

  /** Closes a connection, this one or an older, if there are too many. */
  add(connection: Connection): void {
    const { maxPerAddress, maxIdle } = this.#options
    if (connection.idle.isGone) connection.idle = this.of(connection.destination.address)
    const { idle } = connection
    if (idle.count >= maxPerAddress) return connection.close()
    connection.idleNumber = ++this.#lastNumber
    connection.older = idle.last
    idle.last = connection
    idle.count++
    if (++this.#count > maxIdle) this.#oldest()?.close()
    if (!this.#isWatched) this.#watch()
  }

  /** It is closed. */
  remove(connection: Connection): void {
    const { idle, destination } = connection
    if (unlink(idle, connection)) this.#count--
    if (idle.count > 0 || idle.isGone) return
    idle.isGone = true
    this.#byAddress.delete(destination.address)
  }

  #oldest(): Connection | undefined {
    let oldest: Connection | undefined
    for (const its of this.#byAddress.values()) {
      for (const one of newestFirst(its)) if (oldest === undefined || one.idleNumber < oldest.idleNumber) oldest = one
    }
    return oldest
  }

  #watch(): void {
    this.#isWatched = true
    setTimeout(() => {
      this.#isWatched = false
      this.#closeOld()
      if (this.#count > 0) this.#watch()
    }, this.#options.idleMs / LOOKS).unref()
  }

  #closeOld(): void {
    const lastOld = this.#looks.shift()!
    this.#looks.push(this.#lastNumber)
    const old = this.#byAddress
      .values()
      .flatMap(its => newestFirst(its).filter(({ idleNumber }) => idleNumber <= lastOld))
    // Closing takes them out of the lists.
    for (const connection of old.toArray()) connection.close()
  }
}

function* newestFirst({ last }: IdleConnections): Generator<Connection> {
  for (let one = last; one !== undefined; one = one.older) yield one
}

/** Returns whether it was among them; there are few. */
function unlink(its: IdleConnections, connection: Connection): boolean {
  let newer: Connection | undefined
  for (const one of newestFirst(its)) {
    if (one === connection) {
      if (newer === undefined) its.last = one.older
      else newer.older = one.older
      one.older = undefined
      its.count--
      return true
    }
    newer = one
  }
  return false
}
