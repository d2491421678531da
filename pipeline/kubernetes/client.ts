/** The Kubernetes API, for reading. `watch.ts` follows what changes. */
import type { Clock } from '../component.ts'
import type { KubernetesAccess } from './access.ts'
import type { ApiObject } from './api-object.ts'
import { discoverResources, type ApiResources } from './discovery.ts'
import { acceptOf, listObjects, QUIET_MS, readText, type ListOptions, type ListResult } from './list.ts'
import { createTransport, type Transport, type TransportOptions } from './transport.ts'

export type KubernetesClient = {
  /** One object. Rejects with an `ApiError`: 404 if it is not there, 403 if it may not be read. */
  get(path: string, options?: { readonly metadataOnly?: boolean; readonly signal?: AbortSignal }): Promise<ApiObject>
  /** Calls `item` for each object of a collection. Rejects with an `ApiError` of status 410 if that took too long. */
  list(path: string, options: ListOptions, item: (object: ApiObject) => void): Promise<ListResult>
  /** Which kinds there are now. */
  discover(signal?: AbortSignal): Promise<ApiResources>
  /** For requests that others send: a scrape through the API's proxy. */
  access(): Promise<KubernetesAccess>
  /** Such a request was answered 401. */
  refused(access: KubernetesAccess): void
  readonly transport: Transport
  readonly surroundings: Surroundings
}

/** What else whoever uses the client needs. */
export type Surroundings = Pick<TransportOptions, 'log' | 'counters'> & { readonly clock: Clock }

const DOCUMENT_TIMEOUT_MS = 60_000
/** The description of an API with a thousand kinds has a few megabytes. */
const MOST_DOCUMENT_BYTES = 64 * 1024 * 1024

/**
 * Asks nothing yet. Where the network knows an API of its own, as in config tests, that one is asked and the credentials are not
 * looked at.
 */
export function createKubernetesClient(options: TransportOptions): KubernetesClient {
  const transport = createTransport(options)

  async function readDocument(path: string, accept: string, signal?: AbortSignal): Promise<unknown> {
    const request = { path, accept, timeoutMs: DOCUMENT_TIMEOUT_MS, quietMs: QUIET_MS }
    const text = await readText(transport, request, MOST_DOCUMENT_BYTES, signal)
    if (text === undefined) throw new Error(`the answer of ${path} is larger than ${MOST_DOCUMENT_BYTES} bytes`)
    try {
      return JSON.parse(text) as unknown
    } catch {
      throw new Error(`the answer of ${path} is no JSON document, or only a part of one`)
    }
  }

  return {
    async get(path, { signal, ...selection } = {}) {
      return (await readDocument(path, acceptOf(selection, false), signal)) as ApiObject
    },
    list: (path, listOptions, item) => listObjects(transport, path, listOptions, item),
    discover: signal => discoverResources((path, accept) => readDocument(path, accept, signal)),
    access: () => transport.access(),
    refused: access => options.credentials.refused(access),
    transport,
    surroundings: options,
  }
}
