/** What is wrong with objects that somebody wrote down, with the place, so that an editor can be sent there. */
import { keyOf, withScope, type GivenObject } from './object-identity.ts'
import { parseApiVersion } from './resources.ts'

/** `path` leads from the document to the value that is wrong, or to the map that lacks one. */
export type ObjectProblem = {
  readonly document: number
  readonly path: readonly (string | number)[]
  readonly message: string
}

type Place = { readonly document: number; readonly path: readonly (string | number)[] }

/**
 * The objects in documents as people keep them: single objects, v1 Lists, and lists of one kind, whose items need no kind of their
 * own. Empty documents are passed over. With problems the objects are of no use.
 */
export function objectsFromDocuments(documents: readonly unknown[]): {
  objects: readonly GivenObject[]
  problems: readonly ObjectProblem[]
} {
  const objects: unknown[] = []
  const places: Place[] = []
  const problems: ObjectProblem[] = []
  documents.forEach((document, index) => {
    if (document === null || document === undefined) return
    const list = isMap(document) ? itemsOf(document) : undefined
    if (list === undefined) {
      objects.push(document)
      places.push({ document: index, path: [] })
    } else if (Array.isArray(list.items)) {
      list.items.forEach((item: unknown, i) => {
        objects.push(isMap(item) ? { ...list.defaults, ...item } : item)
        places.push({ document: index, path: ['items', i] })
      })
    } else {
      problems.push({ document: index, path: ['items'], message: `the items of a ${String(list.kind)} must be a list` })
    }
  })
  for (const { document: index, path, message } of findObjectProblems(objects)) {
    const place = places[index]!
    problems.push({ document: place.document, path: [...place.path, ...path], message })
  }
  return { objects: objects as GivenObject[], problems }
}

/** Takes each object as a document of its own. */
export function findObjectProblems(objects: readonly unknown[]): ObjectProblem[] {
  const problems: ObjectProblem[] = []
  const nameByUid = new Map<string, string>()
  const names = new Set<string>()
  objects.forEach((object, document) => {
    const problem = (message: string, ...path: string[]): number => problems.push({ document, path, message })
    if (!isMap(object)) return problem('an object must be a map with apiVersion, kind and metadata')
    if (!isName(object['apiVersion'])) return problem('the object has no apiVersion')
    if (!isName(object['kind'])) return problem('the object has no kind')
    const { metadata, kind } = object
    if (!isMap(metadata)) return problem(`the ${kind as string} has no metadata`)
    if (!isName(metadata['name'])) return problem(`the ${kind as string} has no name`, 'metadata')

    const name = describe(object as GivenObject)
    if (names.has(name)) problem(`${name} is there twice`, 'metadata', 'name')
    names.add(name)

    const { uid } = metadata
    if (uid !== undefined) {
      if (!isName(uid)) return problem(`the uid of ${name} must be a string`, 'metadata', 'uid')
      const other = nameByUid.get(uid)
      if (other !== undefined) problem(`${other} and ${name} have the same uid "${uid}"`, 'metadata', 'uid')
      nameByUid.set(uid, name)
    }
    for (const field of ['labels', 'annotations']) {
      for (const [key, value] of Object.entries(metadata[field] ?? {})) {
        if (typeof value === 'string') continue
        problem(`${field}.${key} of ${name} must be a string, not ${JSON.stringify(value)}`, 'metadata', field, key)
      }
    }
    return undefined
  })
  return problems
}

function itemsOf(document: Record<string, unknown>) {
  const { kind, apiVersion, items } = document
  if (typeof kind !== 'string' || !kind.endsWith('List') || !('items' in document)) return undefined
  return { kind, items, defaults: kind === 'List' ? {} : { apiVersion, kind: kind.slice(0, -'List'.length) } }
}

/** `apps Deployment "namespace/name"`; the group is what tells two kinds of one name apart. */
function describe(object: GivenObject): string {
  const { group } = parseApiVersion(object.apiVersion)
  return `${group === '' ? '' : `${group} `}${object.kind} "${keyOf(withScope(object))}"`
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}
