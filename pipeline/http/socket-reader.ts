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
import { IdlePool } from './idle-pool.ts'
import { renderRequest } from './request-head.ts'
import type { Destination } from './url.ts'

export type SocketReaderOptions = {
  /** How long a connection waits for its next request. The default is longer than most scrape intervals. */
  readonly idleMs?: number
  readonly maxIdle?: number
  readonly maxIdlePerAddress?: number
}

export type SocketReader = {
  /** Throws if it has headers that cannot be sent. The body must not change before the answer. */
  send(exchange: Exchange, destination: Destination): void
  /** Closes all connections; requests under way fail. */
  close(): void
}

export function createSocketReader(options: SocketReaderOptions = {}): SocketReader {
  const { idleMs = 90_000, maxIdle = 16_384, maxIdlePerAddress = 16 } = options
  const pool = new IdlePool({ idleMs, maxIdle, maxPerAddress: maxIdlePerAddress })
  const open = new Set<Connection>()
  const texts = new WeakMap<NetworkRequest, string>()

  const owner: ConnectionOwner = {
    landing,
    idle: connection => pool.add(connection),
    closed(connection) {
      pool.remove(connection)
      open.delete(connection)
    },
    // On a new connection, so this happens once.
    lost: (exchange, destination) => openConnection(destination).send(exchange, textOf(exchange.request, destination)),
  }

  function textOf(request: NetworkRequest, destination: Destination): string {
    let text = texts.get(request)
    if (text === undefined) texts.set(request, (text = renderRequest(request, destination)))
    return text
  }

  function openConnection(destination: Destination): Connection {
    const connection = new Connection(destination, owner)
    open.add(connection)
    return connection
  }

  return {
    send(exchange, destination) {
      const text = textOf(exchange.request, destination)
      const connection = pool.take(destination.address) ?? openConnection(destination)
      connection.send(exchange, text)
    },
    close() {
      for (const connection of open) connection.abort(closed())
    },
  }
}
