/**
 * Plain HTTP over TCP, for what is asked for or sent over and over: scrapes, and what is pushed within a cluster.
 *
 * All connections read into one landing buffer. That is safe where the operating system says that a socket is readable and the
 * buffer is filled then (Linux, macOS), because what arrived is through before the next socket is looked at. And it is most of
 * why a scrape costs a fraction of what it costs with a general client: no stream, no allocation by the size of the body.
 */
import type { NetworkRequest } from '../component.ts'
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
  /** Throws if it has headers that cannot be sent. */
  prepare(request: NetworkRequest, destination: Destination): PreparedRequest
  /** The body must not change before the answer. */
  send(exchange: Exchange, prepared: PreparedRequest): void
  /** Closes all connections; requests under way fail. */
  close(): void
}

/** What can be found out once of a request that is sent again and again. */
export type PreparedRequest = {
  readonly destination: Destination
  /** Up to its body. */
  readonly text: string
  /** Connections that it may take. */
  idle: IdleConnections
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
    prepare: (request, destination) => ({
      destination,
      text: renderRequest(request, destination),
      idle: pool.of(destination.address),
    }),
    send(exchange, prepared) {
      const { destination, text } = prepared
      if (prepared.idle.isGone) prepared.idle = pool.of(destination.address)
      const connection = pool.take(prepared.idle) ?? openConnection(destination, prepared.idle)
      connection.send(exchange, text)
    },
    close() {
      for (const connection of open) connection.abort(closed())
    },
  }
}
