/** Connections that wait for their next request, by address. */
import type { Connection } from './connection.ts'

export class IdlePool {
  #maxIdle: number
  #maxPerAddress: number
  #byAddress = new Map<string, Connection[]>()
  /** The one that has waited longest is first. */
  #all = new Set<Connection>()

  constructor(maxIdle: number, maxPerAddress: number) {
    this.#maxIdle = maxIdle
    this.#maxPerAddress = maxPerAddress
  }

  /** The one used last: the others may then get old enough to be closed. */
  take(address: string): Connection | undefined {
    const connection = this.#byAddress.get(address)?.at(-1)
    if (connection !== undefined) this.remove(connection)
    return connection
  }

  /** Closes a connection, this one or an older, if there are too many. */
  add(connection: Connection): void {
    const { address } = connection.destination
    const idle = this.#byAddress.get(address)
    if (idle === undefined) this.#byAddress.set(address, [connection])
    else if (idle.length < this.#maxPerAddress) idle.push(connection)
    else return connection.close()
    this.#all.add(connection)
    if (this.#all.size > this.#maxIdle) this.#all.values().next().value!.close()
  }

  remove(connection: Connection): void {
    if (!this.#all.delete(connection)) return
    const { address } = connection.destination
    const idle = this.#byAddress.get(address)!
    if (idle.length === 1) this.#byAddress.delete(address)
    else idle.splice(idle.lastIndexOf(connection), 1)
  }
}
