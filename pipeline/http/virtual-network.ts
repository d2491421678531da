/**
 * A network that is not there: every URL answers what it was told to, listeners bind nothing.
 *
 * Nothing is delivered from inside `request` or a writer's method, but by a timer of the clock that is due at once, so on a
 * virtual clock the order is always the same.
 */
import type { Clock, DnsRecord, DnsType, Listener, Network, NetworkRequest } from '../component.ts'
import { Exchange } from './exchange.ts'
import { inUse, refused } from './failure.ts'
import { TimeLimits } from './time-limits.ts'
import { normalizeUrl, parseDestination } from './url.ts'

export type Answer =
  | {
      /** 200 unless told otherwise. */
      readonly status?: number
      readonly contentType?: string
      readonly headers?: Readonly<Record<string, string>>
      readonly body?: Uint8Array | string
    }
  | { readonly error: 'refused' | 'timeout' }

/** What a simulated server writes its response with. The bytes given to `chunk` must not change any more. */
export type ResponseWriter = {
  head(status: number, headers?: Readonly<Record<string, string>>): void
  chunk(bytes: Uint8Array | string): void
  end(): void
  fail(error: Error): void
  /** Runs when the client cancels, its time is up or `fail` was called; what is written after that goes nowhere. */
  onCancel(run: () => void): void
}

export type VirtualServer = (request: NetworkRequest, response: ResponseWriter) => void

type Handle = Parameters<Network['listen']>[1]

export type VirtualNetwork = Network & {
  /** What a URL answers from now on. A URL without an answer refuses. */
  answer(url: string, answer: Answer): void
  /** Lets a server answer all URLs that begin like this and have no answer of their own. The longest beginning counts. */
  serve(urlPrefix: string, server: VirtualServer): void
  /** What the DNS says from now on, or why it says nothing. A name without records does not exist. */
  name(name: string, type: DnsType, records: readonly DnsRecord[] | Error): void
  /** The latest requests, oldest first. */
  readonly requests: readonly NetworkRequest[]
  /** URLs that were asked for and that nobody answers. */
  unanswered(): string[]
  /** URLs that have an answer nobody asked for. */
  unasked(): string[]
  /** Who listens, by `host:port`. */
  readonly listeners: ReadonlyMap<string, Handle>
}

/** How many requests are remembered: enough for any test to look at, and a day of scraping stays small. */
const REMEMBERED_REQUESTS = 1000
const FIRST_FREE_PORT = 49152

export function createVirtualNetwork(clock: Clock): VirtualNetwork {
  const limits = new TimeLimits(clock)
  const answers = new Map<string, Answer>()
  const servers = new Map<string, VirtualServer>()
  const names = new Map<string, readonly DnsRecord[] | Error>()
  const asked = new Set<string>()
  const requests: NetworkRequest[] = []
  const listeners = new Map<string, Handle>()

  function serverOf(url: string): VirtualServer {
    const answer = answers.get(url)
    if (answer !== undefined) return (_, response) => writeAnswer(answer, url, response)
    const prefix = longestPrefix(servers.keys(), url)
    if (prefix !== undefined) return servers.get(prefix)!
    return (_, response) => response.fail(refused(parseDestination(url).address))
  }

  return {
    answer(url, answer) {
      answers.set(normalizeUrl(url), answer)
    },
    serve(urlPrefix, server) {
      servers.set(normalizeUrl(urlPrefix), server)
    },
    name(name, type, records) {
      names.set(`${type} ${name}`, records)
    },
    requests,
    unanswered: () => [...asked].filter(url => !answers.has(url) && longestPrefix(servers.keys(), url) === undefined),
    unasked: () => [...answers.keys()].filter(url => !asked.has(url)),
    listeners,

    request(request, handler) {
      requests.push(request)
      if (requests.length > REMEMBERED_REQUESTS) requests.shift()
      let server: VirtualServer
      try {
        const url = normalizeUrl(request.url)
        asked.add(url)
        server = serverOf(url)
      } catch (error) {
        server = (_, response) => response.fail(error as Error)
      }
      return converse(clock, new Exchange(limits, request, handler), server)
    },

    async resolve(name, type) {
      const records = names.get(`${type} ${name}`) ?? []
      if (records instanceof Error) throw records
      return records
    },

    async listen(endpoint, handle) {
      const address = freeAddress(endpoint, listeners)
      listeners.set(address, handle)
      const listener: Listener = {
        address,
        async close() {
          if (listeners.get(address) === handle) listeners.delete(address)
        },
      }
      return listener
    },
  }
}

function writeAnswer(answer: Answer, url: string, response: ResponseWriter): void {
  if ('error' in answer) {
    // Who never answers lets the client's time run out.
    if (answer.error === 'refused') response.fail(refused(parseDestination(url).address))
    return
  }
  const { status = 200, contentType, headers, body } = answer
  response.head(status, { ...(contentType !== undefined && { 'content-type': contentType }), ...headers })
  if (body !== undefined && body.length > 0) response.chunk(body)
  response.end()
}

/** Lets a server answer a request. Returns what cancels it. */
function converse(clock: Clock, exchange: Exchange, server: VirtualServer): () => void {
  const deliveries: (() => void)[] = []

  function deliver(delivery: () => void): void {
    if (exchange.over) return
    deliveries.push(delivery)
    if (deliveries.length > 1) return
    clock.after(0, () => {
      // What is added meanwhile comes by a timer of its own.
      for (const next of deliveries.splice(0)) next()
    })
  }

  const response: ResponseWriter = {
    head: (status, headers) => deliver(() => exchange.head(status, lowerCaseNames(headers))),
    chunk(bytes) {
      const data = typeof bytes === 'string' ? Buffer.from(bytes) : bytes
      deliver(() => exchange.chunk(data))
    },
    end: () => deliver(() => exchange.end()),
    fail: error => deliver(() => exchange.fail(error)),
    onCancel(run) {
      exchange.holder = { close: run }
    },
  }
  deliver(() => {
    if (!exchange.over) server(exchange.request, response)
  })
  return () => exchange.cancel()
}

function lowerCaseNames(headers: Readonly<Record<string, string>> = {}): Map<string, string> {
  return new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
}

function longestPrefix(prefixes: Iterable<string>, url: string): string | undefined {
  let longest: string | undefined
  for (const prefix of prefixes) {
    if (url.startsWith(prefix) && prefix.length > (longest?.length ?? -1)) longest = prefix
  }
  return longest
}

function freeAddress(endpoint: string, taken: ReadonlyMap<string, unknown>): string {
  if (!endpoint.endsWith(':0')) {
    if (taken.has(endpoint)) throw inUse(endpoint)
    return endpoint
  }
  const host = endpoint.slice(0, -2)
  let port = FIRST_FREE_PORT
  while (taken.has(`${host}:${port}`)) port++
  return `${host}:${port}`
}
