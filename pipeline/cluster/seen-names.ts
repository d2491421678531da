/**
 * Indexes over the objects that series show: which of them have a name, and which has a uid. Series often name a pod and not its
 * uid, or tell its uid alone, and two objects that follow each other under one name are shown beside each other for a while.
 */
import type { Cluster } from '../component.ts'
import type { Tracked } from '../model/tracked.ts'
import type { SeenObject } from './seen-object.ts'

/** Keys are `nameKey(...)`, values the keys of objects. */
export const SEEN_NAMES = 'seen_names'
/** Keys are uids, values the keys of objects. */
export const SEEN_UIDS = 'seen_uids'

export function nameKey(kind: string, namespace: string | undefined, name: string): string {
  return `${kind}/${namespace ?? ''}/${name}`
}

/** A table of objects that keeps the indexes as it is written. */
export function indexedByName(cluster: Cluster, objects: Tracked<SeenObject>): Tracked<SeenObject> {
  const names = cluster.table<readonly string[]>(SEEN_NAMES)
  const uids = cluster.table<string>(SEEN_UIDS)

  function keysOf({ kind, namespace, name }: SeenObject): { key: string; keys: readonly string[] } {
    const key = nameKey(kind, namespace, name)
    return { key, keys: names.get(key) ?? [] }
  }

  return {
    get size() {
      return objects.size
    },
    entry: key => objects.entry(key),
    at: key => objects.at(key),
    get: key => objects.get(key),
    values: () => objects.values(),
    set(key, object) {
      const isNew = objects.get(key) === undefined
      objects.set(key, object)
      if (!isNew) return
      const known = keysOf(object)
      names.set(known.key, [...known.keys, key])
      if (object.uid !== undefined) uids.set(object.uid, key)
    },
    delete(key) {
      const object = objects.get(key)
      objects.delete(key)
      if (object === undefined) return
      const known = keysOf(object)
      const rest = known.keys.filter(one => one !== key)
      if (rest.length === 0) names.delete(known.key)
      else names.set(known.key, rest)
      if (object.uid !== undefined && uids.get(object.uid) === key) uids.delete(object.uid)
    },
  }
}
