/** One TCP connection to an HTTP server, for one request after the other. */
import { connect, type Socket } from 'node:net'
import type { Exchange } from './exchange.ts'
import { describeFailure } from './failure.ts'
import type { IdleConnections } from './idle-pool.ts'
import type { KnownHead } from './known-heads.ts'
import { mayBeRepeated } from './request-head.ts'
import { ResponseParser } from './response-parser.ts'
import type { Destination } from './url.ts'

/**
 * Of a request that must not arrive twice, and so is better not sent at all than too late. Others wait for as long as their time limit
 * says.
 */
const CONNECT_MS = 10_000

export type ConnectionOwner = {
  /** The buffer that all connections read into. */
  readonly landing: Buffer
  /** The connection can take another request. */
  idle(connection: Connection): void
  /** It is closed, or about to be, and takes nothing any more. */
  closed(connection: Connection): void
  /** The server had closed the connection before the request reached it. */
  lost(exchange: Exchange, connection: Connection): void
}

/** Node calls all listeners of a socket with it as `this`: one of each for all connections, instead of one of each for every one. */
type OwnSocket = Socket & { [CONNECTION]: Connection }
const CONNECTION = Symbol('connection')

const LISTENERS = {
  error(this: OwnSocket, error: Error): void {
    this[CONNECTION].broken(describeFailure(error, this[CONNECTION].destination))
  },
  end(this: OwnSocket): void {
    this[CONNECTION].ended()
  },
  close(this: OwnSocket): void {
    this[CONNECTION].close()
  },
}

/** Where the time for connecting is limited. */
const CONNECTING_LISTENERS = {
  timeout(this: OwnSocket): void {
    this[CONNECTION].broken(notAccepted(this[CONNECTION].destination))
  },
  connect(this: OwnSocket): void {
    this.setTimeout(0)
  },
}

function receive(this: OwnSocket, length: number): boolean {
  this[CONNECTION].receive(length)
  return true
}

/** Few, since one is needed only from the first bytes of an answer to the last. */
const MOST_UNUSED = 256
const unusedParsers: ResponseParser[] = []

export class Connection {
  readonly destination: Destination
  /** For whoever keeps those that are idle: where it waits, since when, and who there has waited longer. */
  idle: IdleConnections
  idleNumber = 0
  older: Connection | undefined
  readonly #owner: ConnectionOwner
  readonly #socket: OwnSocket
  #exchange: Exchange | undefined
  /** While an answer arrives: many requests wait for theirs. */
  #parser: ResponseParser | undefined
  #known: KnownHead | undefined
  /** Whether a request was answered before. */
  #reused = false

  constructor(destination: Destination, idle: IdleConnections, owner: ConnectionOwner) {
    this.destination = destination
    this.idle = idle
    this.#owner = owner
    const { landing } = owner
    this.#socket = connect({
      host: destination.host,
      port: destination.port,
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay: 60_000,
      onread: { buffer: landing, callback: receive as (length: number) => boolean },
    }) as OwnSocket
    this.#socket[CONNECTION] = this
    // A connection that nobody uses does not keep the process alive, and the time limit of a request does.
    this.#socket.unref()
    // Its own listener sees to it that nothing is written after the end: at the end this closes it, and a list of two is a list too many.
    for (const own of this.#socket.listeners('end')) this.#socket.off('end', own as () => void)
    this.#listen(LISTENERS)
  }

  #listen(listeners: Readonly<Record<string, (this: OwnSocket, error: Error) => void>>): void {
    for (const [event, listener] of Object.entries(listeners)) this.#socket.on(event, listener)
  }

  /** Only when idle. `text` is the request up to its body. */
  send(exchange: Exchange, text: string): void {
    this.#exchange = exchange
    exchange.holder = this
    const { body, timeoutMs } = exchange.request
    if (timeoutMs === Infinity) this.#socket.ref()
    if (this.#socket.connecting && !mayBeRepeated(exchange.request)) {
      this.#listen(CONNECTING_LISTENERS)
      this.#socket.setTimeout(CONNECT_MS)
    }
    if (body === undefined || body.length === 0) {
      this.#socket.write(text, 'latin1')
      return
    }
    // In one piece.
    this.#socket.cork()
    this.#socket.write(text, 'latin1')
    this.#socket.write(body)
    this.#socket.uncork()
  }

  /** Breaks off the request that is under way, if there is one. */
  abort(error: Error): void {
    if (this.#exchange === undefined) this.close()
    else this.#exchange.fail(error)
  }

  close(): void {
    this.#exchange = undefined
    this.#socket.destroy()
    this.#owner.closed(this)
  }

  /** So much has landed. */
  receive(length: number): void {
    const exchange = this.#exchange
    // Bytes that nobody asked for: whatever comes next on this connection is not to be trusted.
    if (exchange === undefined) return this.close()
    const parser = (this.#parser ??= this.#begin(exchange))
    let complete
    try {
      complete = parser.feed(this.#owner.landing, length)
    } catch (error) {
      return exchange.fail(error as Error)
    }
    // A server that answers before it has read everything may not mean to read it.
    if (complete && !exchange.over) {
      this.#complete(exchange, parser, parser.reusable && this.#socket.writableLength === 0)
    }
  }

  #begin(exchange: Exchange): ResponseParser {
    const parser = unusedParsers.pop() ?? new ResponseParser()
    parser.begin(exchange, this.#known)
    return parser
  }

  /** The connection is free before the handler hears of the end, which may well send the next request. */
  #complete(exchange: Exchange, parser: ResponseParser, reusable: boolean): void {
    exchange.holder = undefined
    this.#known = parser.known
    this.#parser = undefined
    parser.rest()
    if (unusedParsers.length < MOST_UNUSED) unusedParsers.push(parser)
    if (reusable) {
      this.#reused = true
      this.#exchange = undefined
      if (exchange.request.timeoutMs === Infinity) this.#socket.unref()
      this.#owner.idle(this)
    } else {
      this.close()
    }
    exchange.end()
  }

  /** The server sends no more. */
  ended(): void {
    const { address } = this.destination
    if (this.#exchange !== undefined && this.#parser?.ended()) this.#complete(this.#exchange, this.#parser, false)
    else this.broken(new Error(`${address} closed the connection before its answer was complete`))
  }

  broken(error: Error): void {
    const exchange = this.#exchange
    if (exchange === undefined) return this.close()
    const retry = this.#reused && this.#parser === undefined && mayBeRepeated(exchange.request)
    if (!retry) return exchange.fail(error)
    this.close()
    this.#owner.lost(exchange, this)
  }
}

function notAccepted(destination: Destination): Error {
  return describeFailure(Object.assign(new Error('connect timeout'), { code: 'UND_ERR_CONNECT_TIMEOUT' }), destination)
}
