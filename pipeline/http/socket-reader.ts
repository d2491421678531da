/**
 * Plain HTTP over TCP, for what is asked for or sent over and over: scrapes, and what is pushed within a cluster.
 *
 * All connections read into one landing buffer. That is safe where the operating system says that a socket is readable and the
 * buffer is filled then (Linux, macOS), because what arrived is through before the next socket is looked at. And it is most of
 * why a scrape costs a fraction of what it costs with a general client: no stream, no allocation by the size of the body.
 */
import { landing } from '../landing.ts'
import { Connection, type ConnectionOwner } from './connection.ts'
import type { Exchange } from './exchange.ts'
import { closed } from './failure.ts'
import { IdlePool, type IdleConnections } from './idle-pool.ts'
import { renderRequest } from './request-head.ts'
import type { Destination } from './url.ts'

export type SocketReaderOptions = {
  /** How long a connection waits for its next request. The default is longer than most scrape intervals. */
  readonly idleMs?: number
  readonly maxIdle?: number
  readonly maxIdlePerAddress?: number
}

export type SocketReader = {
  /** What requests to the same address share. */
  connectionsTo(destination: Destination): IdleConnections
  /**
   * The body must not change before the answer. Returns the connections for the next request to the same address. Throws if there are
   * headers that cannot be sent.
   */
  send(exchange: Exchange, destination: Destination, idle: IdleConnections): IdleConnections
  /** Closes all connections; requests under way fail. */
  close(): void
}

export function createSocketReader(options: SocketReaderOptions = {}): SocketReader {
  const { idleMs = 90_000, maxIdle = 16_384, maxIdlePerAddress = 16 } = options
  const pool = new IdlePool({ idleMs, maxIdle, maxPerAddress: maxIdlePerAddress })
  const open = new Set<Connection>()

  const owner: ConnectionOwner = {
    landing,
    idle: connection => pool.add(connection),
    closed(connection) {
      pool.remove(connection)
      open.delete(connection)
    },
    // On a new connection, so this happens once.
    lost(exchange, { destination, idle }) {
      openConnection(destination, idle).send(exchange, renderRequest(exchange.request, destination))
    },
  }

  function openConnection(destination: Destination, idle: IdleConnections): Connection {
    const connection = new Connection(destination, idle, owner)
    open.add(connection)
    return connection
  }

  return {
    connectionsTo: ({ address }) => pool.of(address),
    send(exchange, destination, idle) {
      const text = renderRequest(exchange.request, destination)
      const current = idle.isGone ? pool.of(destination.address) : idle
      const connection = pool.take(current) ?? openConnection(destination, current)
      connection.send(exchange, text)
      return current
    },
    close() {
      for (const connection of open) connection.abort(closed())
    },
  }
}
