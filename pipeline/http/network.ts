/** The one way out of the process: picks who sends a request. */
import type { Clock, Network, NetworkRequest } from '../component.ts'
import { Exchange } from './exchange.ts'
import { listen } from './listen.ts'
import { createResolver } from './resolve.ts'
import { createSocketReader, type SocketReaderOptions } from './socket-reader.ts'
import type { UndiciClient } from './undici-client.ts'
import { parseDestination, type Destination } from './url.ts'

/** `close` fails the requests that are under way and closes all connections, not the listeners. */
export type SystemNetwork = Network & { close(): Promise<void> }

export function createNetwork(clock: Clock, options: SocketReaderOptions = {}): SystemNetwork {
  const socketReader = createSocketReader(options)
  // Who asks the same again and again does so with the same object.
  const destinations = new WeakMap<NetworkRequest, Destination>()
  // Takes a tenth of a second and 25 MB to load, and a config in which all is plain HTTP never needs it.
  let undiciClient: Promise<UndiciClient> | undefined

  function loadUndiciClient(): Promise<UndiciClient> {
    return import('./undici-client.ts').then(({ createUndiciClient }) => createUndiciClient(clock))
  }

  function destinationOf(request: NetworkRequest): Destination {
    let destination = destinations.get(request)
    if (destination === undefined) destinations.set(request, (destination = parseDestination(request.url)))
    return destination
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
      const exchange = new Exchange(clock, request, handler)
      try {
        const destination = destinationOf(request)
        if (isPlain(request, destination)) socketReader.send(exchange, destination)
        else void sendByUndici(exchange, destination)
      } catch (error) {
        // The handler hears nothing from inside this call.
        clock.after(0, () => exchange.fail(error as Error))
      }
      return () => exchange.cancel()
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
