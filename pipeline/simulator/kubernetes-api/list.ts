/** Lists: which revision they show, and one page of it. */
import type { KubernetesObject } from '../kubernetes-object.ts'
import type { Collection } from './collection.ts'
import { decodeContinuation, encodeContinuation } from './continue-token.ts'
import type { ListOptions } from './list-options.ts'
import type { ListMetadata } from './representation.ts'
import { badRequest, expired, StatusError } from './status.ts'

export type Page = { readonly objects: readonly KubernetesObject[]; readonly metadata: ListMetadata }

const TOO_OLD = 'The resourceVersion for the provided list is too old.'
const TOO_OLD_TO_CONTINUE =
  'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue ' +
  'parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided ' +
  'token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was ' +
  'returned and now may show up in the list.'

/** The revision that must have been reached before a list can be answered. */
export function requiredRevision(options: ListOptions): number {
  if (options.continueToken !== '') {
    const { revision = 0 } = decodeContinuation(options.continueToken)
    if (options.resourceVersion !== '' && options.resourceVersion !== '0') {
      throw badRequest('specifying resource version is not allowed when using continue')
    }
    return revision
  }
  const revision = parseRevision(options.resourceVersion)
  if (revision === undefined) throw badRequest(`invalid resource version: ${unreadable(options.resourceVersion)}`)
  return revision
}

/** One page of the objects of a collection, or of one namespace of it. */
export function readPage(
  collection: Collection,
  namespace: string | undefined,
  options: ListOptions,
  currentRevision: number,
): Page {
  const { revision, start } = beginning(collection, options, currentRevision)
  // Who asks for one name where there can only be one object of it gets no pages.
  const isOneNamespace = namespace !== undefined || !collection.namespaced
  const name = isOneNamespace ? options.fieldSelector.exactly('metadata.name') : undefined
  const range =
    name === undefined ? collection.rangeAt(revision, namespace, start) : collection.oneAt(revision, namespace, name)

  // A list from any version comes from a cache that does not page.
  const limit = options.resourceVersion === '0' && options.continueToken === '' ? 0 : options.limit
  const { labelSelector, fieldSelector } = options
  const objects: KubernetesObject[] = []
  let seen = 0
  let lastKey = ''
  for (const [key, object] of range.entries) {
    seen++
    if (!labelSelector.matches(object.metadata.labels) || !fieldSelector.matches(object)) continue
    objects.push(object)
    lastKey = key
    if (objects.length === limit) break
  }
  const resourceVersion = String(revision)
  if (seen === range.count) return { objects, metadata: { resourceVersion } }
  // Whether any of the rest matches a selector is not known before it is asked for.
  const isCounted = labelSelector.isEmpty && fieldSelector.isEmpty
  const next = encodeContinuation({
    revision,
    start: `${namespace === undefined ? lastKey : lastKey.slice(namespace.length + 1)}\0`,
  })
  return {
    objects,
    metadata: { resourceVersion, continue: next, ...(isCounted && { remainingItemCount: range.count - seen }) },
  }
}

function beginning(
  collection: Collection,
  options: ListOptions,
  currentRevision: number,
): { revision: number; start: string } {
  if (options.continueToken !== '') {
    const { revision = currentRevision, start } = decodeContinuation(options.continueToken)
    if (revision < collection.oldestRevision) {
      throw expired(TOO_OLD_TO_CONTINUE, encodeContinuation({ revision: undefined, start }))
    }
    return { revision, start }
  }
  const asked = parseRevision(options.resourceVersion)!
  // Without a word about it, a limit asks for exactly the version, as it did before there was a word.
  const isExact = options.resourceVersionMatch === 'Exact' || (options.resourceVersionMatch === '' && options.limit > 0)
  if (!isExact || asked === 0) return { revision: currentRevision, start: '' }
  if (asked < collection.oldestRevision) throw expired(TOO_OLD)
  return { revision: asked, start: '' }
}

/** Nothing means any version, which is written 0. Undefined if this is no version. */
export function parseRevision(resourceVersion: string): number | undefined {
  if (resourceVersion === '') return 0
  return /^\d{1,20}$/.test(resourceVersion) ? Number(resourceVersion) : undefined
}

/** For everything that is not a list, a bad version is an error of the server. */
export function badRevision(resourceVersion: string): StatusError {
  return new StatusError(500, undefined, unreadable(resourceVersion))
}

function unreadable(resourceVersion: string): string {
  const text = JSON.stringify(resourceVersion)
  return `resourceVersion: Invalid value: ${text}: strconv.ParseUint: parsing ${text}: invalid syntax`
}
