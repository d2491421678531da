/** Answers HTTP requests by a table of routes: the same everywhere gpucol listens. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Counters, Log } from '../component.ts'

/** One row. `HEAD` is answered wherever `GET` is. */
export type Route = {
  readonly method: 'GET' | 'POST'
  readonly path: string
  /** A few words for people who look what there is. */
  readonly about: string
  readonly handle: Handler
}

/**
 * Answers by what it returns. One that writes the response itself, because it is too large to be held, returns undefined once
 * it has taken that over.
 */
export type Handler = (
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
) => Reply | undefined | Promise<Reply | undefined>

export type Reply = {
  readonly status: number
  readonly contentType: string
  readonly body: string | Uint8Array
  readonly headers?: Readonly<Record<string, string>>
}

export function text(status: number, body: string, headers?: Reply['headers']): Reply {
  return { status, contentType: 'text/plain; charset=utf-8', body: `${body}\n`, ...(headers && { headers }) }
}

export function html(status: number, body: string): Reply {
  return { status, contentType: 'text/html; charset=utf-8', body }
}

export function json(status: number, value: unknown): Reply {
  return { status, contentType: 'application/json', body: `${JSON.stringify(value, undefined, 2)}\n` }
}

export function createRouter(
  routes: readonly Route[],
  { log, counters }: { readonly log: Log; readonly counters: Counters },
): (request: IncomingMessage, response: ServerResponse) => void {
  const routesByPath = Map.groupBy(routes, route => route.path)

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = 'GET' } = request
    const url = requestUrl(request)
    if (url === null) return send(response, text(400, 'the request has no usable address'))
    const candidates = routesByPath.get(url.pathname)
    if (candidates === undefined) return send(response, text(404, 'there is nothing here'))
    const route = candidates.find(candidate => candidate.method === (method === 'HEAD' ? 'GET' : method))
    if (route === undefined) return send(response, methodNotAllowed(candidates))
    if (route.method !== 'GET' && isCrossSite(request)) {
      return send(response, text(403, `refused: the request comes from another site, "${request.headers.origin}"`))
    }
    const reply = await route.handle(request, response, url)
    if (reply !== undefined) send(response, reply)
  }

  return (request, response) => {
    answer(request, response).catch((error: unknown) => {
      counters.add('gpucol_http_server_failed_requests', 1)
      log.error('a request could not be answered', {
        request: `${request.method} ${request.url}`,
        error: error instanceof Error ? error.message : String(error),
      })
      // Half an answer must not look like a whole one.
      if (response.headersSent) response.destroy()
      else send(response, text(500, 'the request failed inside gpucol; its log says why'))
    })
  }
}

/** Null if it makes no sense. Paths stay as they are: `//x` is a path, not a host. */
function requestUrl({ url = '/' }: IncomingMessage): URL | null {
  return URL.parse(url.startsWith('/') ? `http://localhost${url}` : url)
}

/** For HEAD, Node sends the headers and leaves out the body. */
function send(response: ServerResponse, { status, contentType, body, headers }: Reply): void {
  response.writeHead(status, {
    'content-type': contentType,
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    ...headers,
  })
  response.end(body)
}

function methodNotAllowed(routes: readonly Route[]): Reply {
  const allow = routes.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method])).join(', ')
  return text(405, `use ${allow}`, { allow })
}

/**
 * A web page anywhere can make a browser send a POST to 127.0.0.1, and the browser says from where. Programs say nothing.
 */
function isCrossSite({ headers }: IncomingMessage): boolean {
  if (headers.origin === undefined) return false
  const origin = URL.parse(headers.origin)
  return origin === null || origin.host === '' || origin.host !== URL.parse(`${origin.protocol}//${headers.host}`)?.host
}
