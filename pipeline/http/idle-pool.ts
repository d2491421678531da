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

export class IdlePool {
  readonly #options: IdlePoolOptions
  /** Of an address the one that has waited longest is first. An address stays until none of its connections is left. */
  readonly #byAddress = new Map<string, Connection[]>()
  #count = 0
  #isWatched = false

  constructor(options: IdlePoolOptions) {
    this.#options = options
  }

  /** The one used last: the others may then get old enough to be closed. */
  take(address: string): Connection | undefined {
    const last = this.#byAddress.get(address)?.pop()
    if (last !== undefined) this.#count--
    return last
  }

  /** Closes a connection, this one or an older, if there are too many. */
  add(connection: Connection): void {
    const { maxPerAddress, maxIdle } = this.#options
    const { address } = connection.destination
    connection.idleSinceMs = performance.now()
    const others = this.#byAddress.get(address)
    if (others === undefined) this.#byAddress.set(address, [connection])
    else if (others.length < maxPerAddress) others.push(connection)
    else return connection.close()
    if (++this.#count > maxIdle) this.#oldest()?.close()
    this.#watch()
  }

  /** It is closed. */
  remove(connection: Connection): void {
    const { address } = connection.destination
    const its = this.#byAddress.get(address)
    const at = its?.indexOf(connection) ?? -1
    if (at >= 0) {
      its!.splice(at, 1)
      this.#count--
    }
    if (its?.length === 0) this.#byAddress.delete(address)
  }

  #oldest(): Connection | undefined {
    let oldest: Connection | undefined
    for (const [first] of this.#byAddress.values()) {
      if (first !== undefined && (oldest === undefined || first.idleSinceMs < oldest.idleSinceMs)) oldest = first
    }
    return oldest
  }

  #watch(): void {
    if (this.#isWatched) return
    this.#isWatched = true
    setTimeout(() => {
      this.#isWatched = false
      this.#closeOld()
      if (this.#count > 0) this.#watch()
    }, this.#options.idleMs / 4).unref()
  }

  #closeOld(): void {
    const beforeMs = performance.now() - this.#options.idleMs
    const old = this.#byAddress.values().flatMap(all => all.filter(({ idleSinceMs }) => idleSinceMs <= beforeMs))
    // Closing takes them out of the lists.
    for (const connection of old.toArray()) connection.close()
  }
}
