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

/** Those of one address, the one that has waited longest first. */
export type IdleConnections = {
  readonly connections: Connection[]
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
  readonly #looks = new Array<number>(LOOKS).fill(0)

  constructor(options: IdlePoolOptions) {
    this.#options = options
  }

  of(address: string): IdleConnections {
    let its = this.#byAddress.get(address)
    if (its === undefined) this.#byAddress.set(address, (its = { connections: [], isGone: false }))
    return its
  }

  /** The one used last: the others may then get old enough to be closed. */
  take(its: IdleConnections): Connection | undefined {
    const last = its.connections.pop()
    if (last !== undefined) this.#count--
    return last
  }

  /** Closes a connection, this one or an older, if there are too many. */
  add(connection: Connection): void {
    const { maxPerAddress, maxIdle } = this.#options
    if (connection.idle.isGone) connection.idle = this.of(connection.destination.address)
    const { connections } = connection.idle
    if (connections.length >= maxPerAddress) return connection.close()
    connection.idleNumber = ++this.#lastNumber
    connections.push(connection)
    if (++this.#count > maxIdle) this.#oldest()?.close()
    if (!this.#isWatched) this.#watch()
  }

  /** It is closed. */
  remove(connection: Connection): void {
    const { idle, destination } = connection
    const at = idle.connections.indexOf(connection)
    if (at >= 0) {
      idle.connections.splice(at, 1)
      this.#count--
    }
    if (idle.connections.length > 0 || idle.isGone) return
    idle.isGone = true
    this.#byAddress.delete(destination.address)
  }

  #oldest(): Connection | undefined {
    let oldest: Connection | undefined
    for (const { connections } of this.#byAddress.values()) {
      const [first] = connections
      if (first !== undefined && (oldest === undefined || first.idleNumber < oldest.idleNumber)) oldest = first
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
      .flatMap(({ connections }) => connections.filter(({ idleNumber }) => idleNumber <= lastOld))
    // Closing takes them out of the lists.
    for (const connection of old.toArray()) connection.close()
  }
}
