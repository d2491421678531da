/** HTTP servers: the exporter's endpoint, own metrics, health, the web page, OTLP in. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Server as TlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Clock, Listener, ListenOptions, TlsOptions } from '../component.ts'
import { settledBy } from '../clock/deadline.ts'
import { describeListenFailure } from './failure.ts'

// Not by `import`: that reads everything that `node:http` exports, and with it loads a client and web sockets, 15 MB of them.
const { createServer } = process.getBuiltinModule('node:http')

type Handle = (request: IncomingMessage, response: ServerResponse) => void

/** Generous for a slow client, and short enough that those who never finish do not pile up. */
const LIMITS = {
  headersTimeout: 15_000,
  requestTimeout: 120_000,
  keepAliveTimeout: 90_000,
  connectionsCheckingInterval: 10_000,
  maxHeaderSize: 64 * 1024,
}

export async function listen(
  clock: Clock,
  endpoint: string,
  handle: Handle,
  options: ListenOptions | (() => ListenOptions) = {},
): Promise<Listener> {
  const { host, port } = parseEndpoint(endpoint)
  const { tls, authorize } = typeof options === 'function' ? options() : options
  const server = tls === undefined ? createServer(LIMITS) : createSecureServer(tls, endpoint)
  let closing: Promise<void> | undefined

  server.on('request', (request, response) => {
    // Of a handler that goes on writing after the end.
    response.on('error', () => {})
    // After `close`, a connection ends with the response it was busy with.
    response.on('close', () => {
      if (closing !== undefined) server.closeIdleConnections()
    })
    const challenges = authorize?.(request)
    if (challenges === undefined) answer(handle, request, response)
    else refuse(response, challenges)
  })
  await bind(server, host, port, endpoint)
  // Whatever goes wrong with a listener later concerns one connection only.
  server.on('error', () => {})

  return {
    address: `${endpoint.slice(0, endpoint.lastIndexOf(':'))}:${(server.address() as AddressInfo).port}`,
    async close(deadlineMs) {
      closing ??= new Promise(resolve => server.close(() => resolve()))
      server.closeIdleConnections()
      if (await settledBy(clock, deadlineMs, closing)) return
      server.closeAllConnections()
      await closing
    },
  }
}

/** `host:port`; without a host all addresses of the machine, IPv6 in brackets. */
function parseEndpoint(endpoint: string): { host: string | undefined; port: number } {
  const match = /^(?:\[([^\]]+)\]|([^:[\]]*)):(\d{1,5})$/.exec(endpoint)
  const port = Number(match?.[3])
  if (match === null || port > 65535)
    throw new Error(`"${endpoint}" is not an address to listen on: expected host:port`)
  return { host: match[1] ?? (match[2] || undefined), port }
}

function createSecureServer(tls: TlsOptions | (() => TlsOptions), endpoint: string): Server {
  const options = typeof tls === 'function' ? tls() : tls
  const { ca, cert, key } = options
  // TLS takes 9 MB: only who listens with it loads it.
  const https = process.getBuiltinModule('node:https')
  if (cert === undefined || key === undefined) throw new Error(`TLS on ${endpoint} needs a certificate and a key`)
  try {
    // With a CA, clients must show a certificate.
    const server = https.createServer({ ...LIMITS, cert, key, ...(ca !== undefined && { ca, requestCert: true }) })
    if (typeof tls === 'function') replaceCertificates(server, tls, options)
    return server
  } catch (error) {
    throw new Error(`the TLS certificate or key of ${endpoint} cannot be used: ${(error as Error).message}`, {
      cause: error,
    })
  }
}

/** Connections that are open stay as they are. */
function replaceCertificates(server: TlsServer, read: () => TlsOptions, first: TlsOptions): void {
  let known = first
  // Before the listener that begins the handshake.
  server.prependListener('connection', () => {
    const now = read()
    if (now === known) return
    known = now
    server.setSecureContext({ cert: now.cert, key: now.key, ca: now.ca })
  })
}

function bind(server: Server, host: string | undefined, port: number, endpoint: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', error => reject(describeListenFailure(error, endpoint)))
    server.listen({ port, ...(host !== undefined && { host }) }, () => {
      server.removeAllListeners('error')
      resolve()
    })
  })
}

/** A handler that throws, or whose promise rejects, costs its own request. */
function answer(handle: Handle, request: IncomingMessage, response: ServerResponse): void {
  function giveUp(): void {
    if (response.headersSent) response.destroy()
    else response.writeHead(500, { 'content-type': 'text/plain', connection: 'close' }).end('internal error\n')
  }
  try {
    Promise.resolve(handle(request, response) as unknown).catch(giveUp)
  } catch {
    giveUp()
  }
}

/** Of a body that comes along nothing is read. */
function refuse(response: ServerResponse, challenges: readonly string[]): void {
  response.writeHead(401, { 'content-type': 'text/plain', connection: 'close', 'www-authenticate': [...challenges] })
  response.end('not authorized\n')
}
