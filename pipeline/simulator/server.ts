/** Leads requests to the faces of the cluster, all on one listener, at the moment that the cluster's clock shows. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Face } from './face.ts'

/** Brings the cluster to the present and says when that is. */
export type Present = () => number

export function createRequestHandler(faces: readonly Face[], present: Present) {
  return (request: IncomingMessage, response: ServerResponse): void => {
    const path = pathOf(request.url ?? '/')
    for (const face of faces) {
      const endpoint = face.endpointOf(path)
      if (endpoint === undefined) continue
      face.respond(endpoint, { request, response, path, timeMs: present() })
      return
    }
    response.writeHead(404, { 'Content-Type': 'text/plain; charset=utf-8' }).end('404 page not found\n')
  }
}

function pathOf(url: string): string {
  const query = url.indexOf('?')
  return query < 0 ? url : url.slice(0, query)
}
