/** Lists, page by page: of a hundred thousand objects only one page is ever in memory as text. */
import type { ApiObject } from './api-object.ts'
import type { Transport } from './transport.ts'

export type Selection = {
  readonly labelSelector?: string
  readonly fieldSelector?: string
  /** Only the metadata of the objects, which is all there is to know about an owner. */
  readonly metadataOnly?: boolean
}

export type ListOptions = Selection & {
  /** Objects in a page; 500 unless told otherwise. */
  readonly limit?: number
  readonly signal?: AbortSignal
  /** The list is given up when nothing was heard for so long. */
  readonly quietMs?: number
}

export type ListResult = { readonly resourceVersion: string }

/** As many as client-go asks for. */
export const PAGE_LIMIT = 500
export const QUIET_MS = 30_000
const PAGE_TIMEOUT_MS = 5 * 60_000
/** A page that is larger is asked for in smaller pieces. */
const MOST_PAGE_BYTES = 128 * 1024 * 1024

const METADATA = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json'
const METADATA_LIST = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json'

/** Who cannot give metadata only gives all. */
export function acceptOf({ metadataOnly = false }: Selection, isList: boolean): string {
  if (!metadataOnly) return 'application/json'
  return isList ? METADATA_LIST : METADATA
}

export function selectionQuery({ labelSelector, fieldSelector }: Selection): URLSearchParams {
  const query = new URLSearchParams()
  if (labelSelector !== undefined && labelSelector !== '') query.set('labelSelector', labelSelector)
  if (fieldSelector !== undefined && fieldSelector !== '') query.set('fieldSelector', fieldSelector)
  return query
}

/**
 * Calls `item` for each object, as the API wrote it: those of built-in kinds do not say what they are. Rejects with an `ApiError` of
 * status 410 if the list took so long that its version is too old to go on with.
 */
export async function listObjects(
  transport: Transport,
  path: string,
  options: ListOptions,
  item: (object: ApiObject) => void,
): Promise<ListResult> {
  const { signal, quietMs = QUIET_MS } = options
  const accept = acceptOf(options, true)
  let { limit = PAGE_LIMIT } = options
  let continueToken = ''
  for (;;) {
    const query = selectionQuery(options)
    query.set('limit', String(limit))
    if (continueToken !== '') query.set('continue', continueToken)
    const request = { path: `${path}?${query.toString()}`, accept, timeoutMs: PAGE_TIMEOUT_MS, quietMs }
    const text = await readText(transport, request, MOST_PAGE_BYTES, signal)
    if (text === undefined) {
      if (limit === 1) throw new Error(`one object of ${path} is larger than ${MOST_PAGE_BYTES} bytes`)
      limit = Math.ceil(limit / 10)
      continue
    }
    const page = readPage(text, path)
    for (const object of page.items) item(object)
    if (page.continueToken === '') return { resourceVersion: page.resourceVersion }
    continueToken = page.continueToken
  }
}

/** The body of an answer; undefined if it is larger than the limit. */
export async function readText(
  transport: Transport,
  request: Parameters<Transport['send']>[0],
  limitBytes: number,
  signal?: AbortSignal,
): Promise<string | undefined> {
  const pieces: Uint8Array[] = []
  let length = 0
  const tooLarge = new Error('too large')
  try {
    await transport.send(
      request,
      {
        chunk(bytes) {
          length += bytes.length
          if (length > limitBytes) throw tooLarge
          pieces.push(bytes.slice())
        },
      },
      signal,
    )
  } catch (error) {
    if (error === tooLarge) return undefined
    throw error
  }
  return Buffer.concat(pieces, length).toString()
}

type Page = { readonly items: readonly ApiObject[]; readonly resourceVersion: string; readonly continueToken: string }

function readPage(text: string, path: string): Page {
  let page: { metadata?: { resourceVersion?: unknown; continue?: unknown } | null; items?: unknown } | null
  try {
    page = JSON.parse(text) as typeof page
  } catch {
    throw new Error(`the list of ${path} is no JSON document, or only a part of one`)
  }
  const { resourceVersion, continue: next } = page?.metadata ?? {}
  const items = page?.items ?? []
  if (typeof resourceVersion !== 'string' || !Array.isArray(items)) throw new Error(`the answer of ${path} is no list`)
  return { items: items as ApiObject[], resourceVersion, continueToken: typeof next === 'string' ? next : '' }
}

/** The version that a list would have now. */
export async function currentVersion(
  transport: Transport,
  path: string,
  quietMs: number,
  signal: AbortSignal,
): Promise<string> {
  const accept = acceptOf({ metadataOnly: true }, true)
  const request = { path: `${path}?limit=1`, accept, timeoutMs: PAGE_TIMEOUT_MS, quietMs }
  const text = await readText(transport, request, MOST_PAGE_BYTES, signal)
  return readPage(text ?? '', path).resourceVersion
}
