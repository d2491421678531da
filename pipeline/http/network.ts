/** The one way out of the process: picks who sends a request. */
import type { Clock, Network, NetworkRequest, ResponseHandler } from '../component.ts'
import { Exchange } from './exchange.ts'
import { listen } from './listen.ts'
import { createResolver } from './resolve.ts'
import type { IdleConnections } from './idle-pool.ts'
import { createSocketReader, type SocketReaderOptions } from './socket-reader.ts'
import { TimeLimits } from './time-limits.ts'
import type { UndiciClient } from './undici-client.ts'
import { parseDestination, type Destination } from './url.ts'

/** `close` fails the requests that are under way and closes all connections, not the listeners. */
export type SystemNetwork = Network & { close(): Promise<void> }

/**
 * Where a request goes, and the connections that it may take if that is plain HTTP. It does not hold on to the request, and so to its body:
 * connections are there for longer.
 */
type Way = Destination & {
  readonly owner: object
  readonly url: string
  idle: IdleConnections | undefined
}

export function createNetwork(clock: Clock, options: SocketReaderOptions = {}): SystemNetwork {
  const socketReader = createSocketReader(options)
  const limits = new TimeLimits(clock)
  // Takes a tenth of a second and 25 MB to load, and a config in which all is plain HTTP never needs it.
  let undiciClient: Promise<UndiciClient> | undefined

  function loadUndiciClient(): Promise<UndiciClient> {
    return import('./undici-client.ts').then(({ createUndiciClient }) => createUndiciClient(clock))
  }

  function wayOf(request: NetworkRequest): Way {
    const memo = request.memo as Way | undefined
    // Whoever changes a request copies it, and this with it.
    if (memo?.owner === limits && memo.url === request.url && isPlain(request, memo) === (memo.idle !== undefined)) {
      return memo
    }
    const destination = parseDestination(request.url)
    const { secure, host, port, address, authority, path, authorization } = destination
    const idle = isPlain(request, destination) ? socketReader.connectionsTo(destination) : undefined
    // Not by `...`, which makes two objects of so many fields.
    const way: Way = {
      secure,
      host,
      port,
      address,
      authority,
      path,
      authorization,
      owner: limits,
      url: request.url,
      idle,
    }
    request.memo = way
    return way
  }

  /** Thousands of targets are asked together: what is made for each then is old when it has answered. */
  function exchangeFor(request: NetworkRequest, handler: ResponseHandler, { idle }: Way): Exchange {
    const { memo } = handler
    // Others may hold on to one that is over.
    if (idle === undefined) return new Exchange(limits, request, handler)
    if (memo instanceof Exchange && memo.isThrough && memo.limits === limits) {
      memo.again(request)
      return memo
    }
    const exchange = new Exchange(limits, request, handler)
    if ('memo' in handler) handler.memo = exchange
    return exchange
  }

  /** The handler hears nothing from inside the call. */
  function failLater(exchange: Exchange, error: Error): () => void {
    clock.after(0, () => exchange.fail(error))
    return exchange.cancel
  }

  async function sendByUndici(exchange: Exchange, destination: Destination): Promise<void> {
    try {
      undiciClient ??= loadUndiciClient()
      const client = await undiciClient
      if (!exchange.over) client.send(exchange, destination)
    } catch (error) {
      exchange.fail(error as Error)
    }
  }

  return {
    request(request, handler) {
      let exchange: Exchange | undefined
      try {
        const way = wayOf(request)
        exchange = exchangeFor(request, handler, way)
        if (way.idle === undefined) void sendByUndici(exchange, way)
        else way.idle = socketReader.send(exchange, way, way.idle)
        return exchange.cancel
      } catch (error) {
        return failLater(exchange ?? new Exchange(limits, request, handler), error as Error)
      }
    },
    resolve: createResolver(),
    listen: (endpoint, handle, listenOptions) => listen(clock, endpoint, handle, listenOptions),
    async close() {
      socketReader.close()
      const client = await undiciClient
      undiciClient = undefined
      await client?.close()
    },
  }
}

function isPlain({ proxyUrl }: NetworkRequest, { secure }: Destination): boolean {
  return !secure && proxyUrl === undefined
}
