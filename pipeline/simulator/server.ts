/** Leads requests to the faces of the cluster, all on one listener, and lets go wrong what is to go wrong with any server. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Clock } from '../component.ts'
import type { Exchange, Face } from './face.ts'
import type { Fault, FaultSchedule } from './faults.ts'

/** What went out, headers included. */
export type Served = { requests: number; bytes: number }

export type ServerParts = {
  readonly faces: readonly Face[]
  readonly faults: FaultSchedule
  readonly clock: Clock
  /** Brings the cluster to the present and says when that is. */
  readonly present: () => number
  readonly served: Served
}

export type RequestHandler = (request: IncomingMessage, response: ServerResponse) => void

/** A prefix is put before the path of every request: on the listener of one node all paths are that node's. */
export function createRequestHandler(
  { faces, faults, clock, present, served }: ServerParts,
  prefix = '',
): RequestHandler {
  return (request, response) => {
    const path = prefix + pathOf(request.url ?? '/')
    count(request, response)
    for (const face of faces) {
      const endpoint = face.endpointOf(path)
      if (endpoint === undefined) continue
      const timeMs = present()
      const active = faults.active(face.name, endpoint, timeMs)
      answer(face, endpoint, { request, response, path, timeMs, faults: active })
      return
    }
    response.writeHead(404, { 'Content-Type': 'text/plain; charset=utf-8' }).end('404 page not found\n')
  }

  function count({ socket }: IncomingMessage, response: ServerResponse): void {
    const before = socket.bytesWritten
    response.on('close', () => {
      served.requests++
      served.bytes += socket.bytesWritten - before
    })
  }

  function answer(face: Face, endpoint: string, exchange: Exchange): void {
    const { request, response } = exchange
    const general = exchange.faults.filter(({ kind }) => !face.ownFaults?.has(kind))
    const find = (kind: Fault['kind']): Fault | undefined => general.find(fault => fault.kind === kind)
    if (find('refuse') !== undefined || find('restart') !== undefined) {
      // One listener serves many: it cannot refuse one of them, but it can hang up without a word.
      request.socket.destroy()
      return
    }
    if (find('hang') !== undefined) return
    const slow = find('slow')
    if (slow !== undefined) {
      const cancel = clock.after(slow.delayMs ?? 1000, () =>
        respond(face, endpoint, { ...exchange, timeMs: present() }),
      )
      response.on('close', cancel)
      return
    }
    respond(face, endpoint, exchange)
  }

  function respond(face: Face, endpoint: string, exchange: Exchange): void {
    const error = exchange.faults.find(({ kind }) => kind === 'error' && !face.ownFaults?.has(kind))
    if (error === undefined) face.respond(endpoint, exchange)
    else {
      const head = { 'Content-Type': 'text/plain; charset=utf-8', 'X-Content-Type-Options': 'nosniff' }
      exchange.response.writeHead(error.status ?? 500, head).end('something went wrong\n')
    }
  }
}

function pathOf(url: string): string {
  const query = url.indexOf('?')
  return query < 0 ? url : url.slice(0, query)
}
