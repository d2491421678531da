/** The simulated API at work: at an address, behind a listener of somebody else, and on the virtual network of config tests. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Network } from '../../component.ts'
import type { VirtualServer } from '../../http/virtual-network.ts'
import { createKubernetesApi, type KubernetesApi, type KubernetesApiOptions } from './handler.ts'
import type { ObjectStore } from './object-store.ts'
import type { ApiResponse } from './response.ts'

export type ServedKubernetesApi = {
  readonly api: KubernetesApi
  /** `host:port`, with the true port. */
  readonly address: string
  close(deadlineMs: number): Promise<void>
}

/** More than this waits for no client that only watches. */
const MOST_WAITING_BYTES = 64 * 1024 * 1024

/** Serves the objects of a store at `host:port`. Rejects with a sentence that names the address if that cannot be had. */
export async function serveKubernetesApi(
  store: ObjectStore,
  network: Network,
  endpoint: string,
  options: KubernetesApiOptions,
): Promise<ServedKubernetesApi> {
  const api = createKubernetesApi(store, options)
  const listener = await network.listen(endpoint, (request, response) => answerHttp(api, request, response))
  return {
    api,
    address: listener.address,
    async close(deadlineMs) {
      api.close()
      await listener.close(deadlineMs)
    },
  }
}

/** Answers one request of a listener. `url` is what the API is to see as path and query, where that differs from the request's. */
export function answerHttp(
  api: KubernetesApi,
  request: IncomingMessage,
  response: ServerResponse,
  url = request.url ?? '/',
): void {
  // Whatever is sent with the request: nothing here reads it, and unread bytes would block the connection.
  request.resume()
  const gone = api.handle({ method: request.method ?? 'GET', url, headers: headersOf(request) }, httpResponse(response))
  response.on('close', gone)
}

/** Serves the API on the virtual network: `network.serve('https://api.example:443/', virtualKubernetesApi(api))`. */
export function virtualKubernetesApi(api: KubernetesApi): VirtualServer {
  return (request, response) => {
    const { pathname, search, host } = new URL(request.url)
    const headers: Record<string, string> = { host }
    for (const [name, value] of Object.entries(request.headers ?? {})) headers[name.toLowerCase()] = value
    const gone = api.handle({ method: request.method ?? 'GET', url: pathname + search, headers }, response)
    response.onCancel(gone)
  }
}

function httpResponse(response: ServerResponse): ApiResponse {
  return {
    head(status, headers) {
      response.writeHead(status, headers)
      // Who watches wants to know at once that nothing has happened yet.
      if (headers['content-length'] === undefined) response.flushHeaders()
    },
    chunk: text => void response.write(text),
    end: () => void response.end(),
    fail: () => void response.destroy(),
    isClogged: () => response.writableLength > MOST_WAITING_BYTES,
    waits(resume) {
      if (!response.writableNeedDrain) return false
      response.once('drain', resume)
      return true
    },
  }
}

/** Of repeated headers the first counts. */
function headersOf(request: IncomingMessage): Record<string, string | undefined> {
  const headers: Record<string, string | undefined> = {}
  for (const [name, value] of Object.entries(request.headers)) headers[name] = Array.isArray(value) ? value[0] : value
  return headers
}
