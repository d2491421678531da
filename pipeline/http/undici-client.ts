/** Requests that need more than a plain connection: TLS and proxies. */
import { createSecureContext, type SecureContext } from 'node:tls'
import { Agent, buildConnector, ProxyAgent, type Dispatcher } from 'undici'
import type { Clock, NetworkRequest, TlsOptions } from '../component.ts'
import type { Exchange } from './exchange.ts'
import { describeFailure, HEAD_LIMIT_BYTES, isCertificateCode } from './failure.ts'
import { mayBeRepeated, requestHeaders } from './request-head.ts'
import { originOf, parseProxy, type Destination } from './url.ts'

export type UndiciClient = {
  /** Throws if the request cannot be sent at all. */
  send(exchange: Exchange, destination: Destination): void
  /** Breaks off what is under way. */
  close(): Promise<void>
}

/** Agents with different certificates or proxies; a rotated certificate makes a new one. */
const MAX_AGENTS = 64
const UNUSED_AGENT_MS = 5 * 60_000

type KnownAgent = { readonly dispatcher: Dispatcher; lastUsedMs: number }

export function createUndiciClient(clock: Clock): UndiciClient {
  // The one used last is last.
  const agents = new Map<string, KnownAgent>()

  function dispatcherFor({ tls = {}, proxyUrl }: NetworkRequest): Dispatcher {
    const key = JSON.stringify([tls.ca, tls.cert, tls.key, tls.serverName, tls.insecureSkipVerify ?? false, proxyUrl])
    const known = agents.get(key)
    const nowMs = clock.monotonic()
    const agent = known ?? { dispatcher: createDispatcher(tls, proxyUrl), lastUsedMs: nowMs }
    agent.lastUsedMs = nowMs
    agents.delete(key)
    agents.set(key, agent)
    if (known === undefined) closeUnused(nowMs)
    return agent.dispatcher
  }

  function closeUnused(nowMs: number): void {
    for (const [key, { dispatcher, lastUsedMs }] of agents) {
      if (agents.size <= MAX_AGENTS && nowMs - lastUsedMs < UNUSED_AGENT_MS) break
      agents.delete(key)
      // Requests under way are finished first.
      void dispatcher.close()
    }
  }

  return {
    send(exchange, destination) {
      const { proxyUrl } = exchange.request
      if (proxyUrl !== undefined) parseProxy(proxyUrl)
      const headers = requestHeaders(exchange.request, destination).flat()
      dispatch(dispatcherFor(exchange.request), exchange, destination, headers, true)
    },
    async close() {
      await Promise.all(Array.from(agents.values(), ({ dispatcher }) => dispatcher.destroy()))
      agents.clear()
    },
  }
}

function createDispatcher(tls: TlsOptions, proxyUrl: string | undefined): Dispatcher {
  const connection = {
    // Made once: reading a bundle of certificates takes milliseconds.
    secureContext: secureContextFrom(tls),
    rejectUnauthorized: tls.insecureSkipVerify !== true,
  }
  const server = { ...connection, ...(tls.serverName !== undefined && { servername: tls.serverName }) }
  const common = {
    // One request per connection, so that cancelling one closes it.
    allowH2: false,
    maxHeaderSize: HEAD_LIMIT_BYTES,
    // As long as the socket reader's.
    keepAliveTimeout: 90_000,
    // The exchange watches the time.
    headersTimeout: 0,
    bodyTimeout: 0,
  }
  if (proxyUrl === undefined) return new Agent({ ...common, connect: connector(server) })
  return new ProxyAgent({ ...common, uri: proxyUrl, requestTls: server, proxyTls: connection })
}

/**
 * A server that does not like our certificate says so when the handshake is over for us, and hangs up. Undici would only tell that it hung
 * up; a socket that is destroyed at once does not get so far.
 */
function connector(options: buildConnector.BuildOptions): buildConnector.connector {
  const connect = buildConnector({ ...options, allowH2: false })
  return (target, done) =>
    connect(target, (...outcome) => {
      const [, socket] = outcome
      socket?.once('error', () => socket.destroy())
      done(...outcome)
    })
}

function secureContextFrom({ ca, cert, key }: TlsOptions): SecureContext {
  try {
    return createSecureContext({
      ...(ca !== undefined && { ca }),
      ...(cert !== undefined && { cert }),
      ...(key !== undefined && { key }),
    })
  } catch (error) {
    throw new Error(`the TLS certificate or key cannot be used: ${(error as Error).message}`, { cause: error })
  }
}

function dispatch(
  dispatcher: Dispatcher,
  exchange: Exchange,
  destination: Destination,
  headers: string[],
  mayRetry: boolean,
): void {
  const { method = 'GET', body, tls } = exchange.request
  let started = false
  const options = {
    origin: originOf(destination),
    path: destination.path,
    method,
    headers,
    ...(body !== undefined && { body }),
    // Not in the types: without it a Host header would decide whose certificate is expected.
    ...(tls?.serverName !== undefined && { servername: tls.serverName }),
  }
  dispatcher.dispatch(options, {
    onRequestStart(controller) {
      const abort = (): void => controller.abort(new Error('cancelled'))
      if (exchange.over) abort()
      else exchange.holder = { close: abort }
    },
    onResponseStart(_, status, itsHeaders) {
      if (status < 200) return
      started = true
      exchange.head(status, headerMap(itsHeaders))
    },
    onResponseData: (_, chunk) => exchange.chunk(chunk),
    onResponseEnd: () => exchange.end(),
    onResponseError(_, error) {
      // The server closed a connection that it had kept open, at the moment the request was sent.
      if (mayRetry && !started && !exchange.over && mayBeRepeated(exchange.request) && isLost(error)) {
        dispatch(dispatcher, exchange, destination, headers, false)
      } else {
        exchange.fail(describe(error, exchange.request, destination))
      }
    },
  })
}

function isLost(error: Error): boolean {
  const { code } = error as NodeJS.ErrnoException
  return code === 'UND_ERR_SOCKET' || code === 'ECONNRESET' || code === 'EPIPE'
}

function headerMap(headers: Readonly<Record<string, string | string[] | undefined>>): Map<string, string> {
  const map = new Map<string, string>()
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) map.set(name.toLowerCase(), Array.isArray(value) ? value.join(', ') : value)
  }
  return map
}

/** Connections go to the proxy, so it is the proxy that refuses them; certificates are the server's. */
function describe(error: Error, { proxyUrl }: NetworkRequest, destination: Destination): Error {
  if (proxyUrl === undefined) return describeFailure(error, destination)
  const proxy = parseProxy(proxyUrl)
  const status = /^Proxy response \((\d+)\)|\((407)\)$/.exec(error.message)
  if (status !== null) {
    return new Error(`the proxy ${proxy.address} answered ${status[1] ?? status[2]} for ${destination.address}`, {
      cause: error,
    })
  }
  const { code } = error as NodeJS.ErrnoException
  if (code !== undefined && isCertificateCode(code)) return describeFailure(error, destination)
  return describeFailure(code?.startsWith('UND_ERR_PRX') ? error.cause : error, proxy)
}
