/**
 * The state behind the simulated API: objects by kind, one revision that grows with every change, as in etcd, and a bounded memory
 * of what changed, so that watches resume and long lists stay consistent until their revision is too old.
 */
import { isDeepStrictEqual } from 'node:util'
import type { KubernetesObject } from '../kubernetes-object.ts'
import { Collection, type StoreEvent } from './collection.ts'
import { derivedUid, identity, identityOf, keyOf, withOwnerUids, withScope } from './object-identity.ts'
import type { GivenObject } from './object-identity.ts'
import { findObjectProblems } from './object-problems.ts'
import { parseApiVersion } from './resources.ts'

export type ObjectStore = {
  /** Of the latest change. */
  readonly revision: number
  /** Grows whenever a kind, or a version of one, is seen for the first time, or a custom resource definition changes. */
  readonly kindsEpoch: number
  /** The objects of a kind, an empty collection if there have been none. */
  collection(group: string, kind: string): Collection
  /** The kinds that have, or have had, objects: like its definition, a kind outlives its last object. */
  kinds(): Iterable<Collection>
  /**
   * This is the whole state from now on; differences become events, deletions first. An object without uid gets one that is derived
   * from its kind and name, a reference to an owner without uid that of its owner. A given resourceVersion is kept if it is higher
   * than all before. Throws an Error that names what is wrong if objects contradict each other.
   */
  replaceAll(objects: readonly GivenObject[]): void
  /** Changes some objects. What contradicts the state is set right: an addition of what is there is a modification, and so on. */
  apply(changes: readonly GivenChange[]): void
  /** Forgets all history: whoever asks for a revision before this moment is told that it is too old. */
  compact(): void
  /** Called after every change, once per kind concerned, with the events in order. */
  subscribe(listener: StoreListener): () => void
}

/** A change as somebody reports it. */
export type GivenChange = { readonly type: StoreEvent['type']; readonly object: GivenObject }

export type StoreListener = (collection: Collection, events: readonly StoreEvent[]) => void

export type ObjectStoreOptions = {
  /** How many changes of a kind are remembered; 10,000 unless told otherwise. */
  readonly historyLimit?: number
}

export function createObjectStore({ historyLimit = 10_000 }: ObjectStoreOptions = {}): ObjectStore {
  const collections = new Map<string, Collection>()
  const listeners = new Set<StoreListener>()
  /** How often a name was taken by a new object whose uid had to be derived. */
  const incarnations = new Map<string, number>()
  /** The resourceVersion that a stored object was given, where that is not the one it has. */
  const givenVersions = new WeakMap<KubernetesObject, string | undefined>()
  // An empty etcd is at revision 1.
  let revision = 1
  let kindsEpoch = 0

  function collectionFor(group: string, kind: string): Collection {
    const id = `${group}/${kind}`
    let collection = collections.get(id)
    if (collection === undefined) collections.set(id, (collection = new Collection(group, kind)))
    return collection
  }
  function collectionOf(object: GivenObject): Collection {
    return collectionFor(parseApiVersion(object.apiVersion).group, object.kind)
  }

  function append(
    events: StoreEvent[],
    collection: Collection,
    type: StoreEvent['type'],
    object: KubernetesObject,
  ): void {
    const key = keyOf(object)
    const event = { revision, type, key, object, previous: collection.get(key) }
    learn(collection, object)
    collection.record(event, historyLimit)
    events.push(event)
  }

  function put(change: Change, object: GivenObject): void {
    const collection = collectionOf(object)
    const key = keyOf(object)
    const known = collection.get(key)
    const { uid: givenUid, resourceVersion: givenVersion } = object.metadata
    const recreated = known !== undefined && givenUid !== undefined && givenUid !== known.metadata.uid
    if (recreated) remove(change, collection, key)
    const previous = recreated ? undefined : known
    revision = Math.max(revision + 1, revisionOf(givenVersion))
    const uid = givenUid ?? previous?.metadata.uid ?? takeUid(identity(collection.group, collection.kind, key))
    const stored = withMetadata(object, uid, String(revision))
    if (givenVersion !== stored.metadata.resourceVersion) givenVersions.set(stored, givenVersion)
    append(eventsOf(change, collection), collection, previous === undefined ? 'ADDED' : 'MODIFIED', stored)
  }

  function remove(change: Change, collection: Collection, key: string, givenVersion?: string): void {
    const previous = collection.get(key)
    if (previous === undefined) return
    revision = Math.max(revision + 1, revisionOf(givenVersion))
    const last = withMetadata(previous, previous.metadata.uid, String(revision))
    append(eventsOf(change, collection), collection, 'DELETED', last)
  }

  function givenVersionOf(stored: KubernetesObject): string | undefined {
    return givenVersions.has(stored) ? givenVersions.get(stored) : stored.metadata.resourceVersion
  }

  function takeUid(identityText: string): string {
    const incarnation = (incarnations.get(identityText) ?? 0) + 1
    incarnations.set(identityText, incarnation)
    return derivedUid(identityText, incarnation)
  }

  function learn(collection: Collection, object: KubernetesObject): void {
    const { size } = collection.versions
    const { namespaced } = collection
    collection.versions.add(parseApiVersion(object.apiVersion).version)
    collection.namespaced ||= object.metadata.namespace !== undefined
    const isNew = collection.versions.size > size || collection.namespaced !== namespaced
    if (isNew || collection.kind === 'CustomResourceDefinition') kindsEpoch++
  }

  function announce(change: Change): void {
    for (const [collection, events] of change) for (const listener of listeners) listener(collection, events)
  }

  return {
    get revision() {
      return revision
    },
    get kindsEpoch() {
      return kindsEpoch
    },
    collection: collectionFor,
    *kinds() {
      for (const collection of collections.values()) if (collection.versions.size > 0) yield collection
    },

    replaceAll(objects) {
      const [problem] = findObjectProblems(objects)
      if (problem !== undefined) throw new Error(problem.message)
      const scoped = objects.map(withScope)
      const names = new Set(scoped.map(identityOf))
      const change: Change = new Map()

      const uids = new Map<string, string>()
      for (const collection of collections.values()) {
        for (const object of collection.objects()) {
          if (names.has(identityOf(object))) uids.set(identityOf(object), object.metadata.uid)
          else remove(change, collection, keyOf(object))
        }
      }
      const wanted = withOwnerUids(
        scoped,
        identityText => uids.get(identityText) ?? derivedUid(identityText, (incarnations.get(identityText) ?? 0) + 1),
      )
      // In the order of their versions as many of those as possible can be kept, because the revision only grows.
      for (const object of wanted.toSorted((a, b) => versionForOrder(a) - versionForOrder(b))) {
        const stored = collectionOf(object).get(keyOf(object))
        if (stored === undefined || !isSame(object, stored, givenVersionOf(stored))) put(change, object)
      }
      announce(change)
    },

    apply(changes) {
      const change: Change = new Map()
      for (const { type, object } of changes) {
        const scoped = withScope(object)
        if (type === 'DELETED') {
          remove(change, collectionOf(scoped), keyOf(scoped), scoped.metadata.resourceVersion)
        } else put(change, scoped)
      }
      announce(change)
    },

    compact() {
      for (const collection of collections.values()) collection.compact(revision)
    },

    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

/** What one call changed, to be announced when all of it is done. */
type Change = Map<Collection, StoreEvent[]>

function eventsOf(change: Change, collection: Collection): StoreEvent[] {
  let events = change.get(collection)
  if (events === undefined) change.set(collection, (events = []))
  return events
}

/** Whether an object as it is given says the same as what is stored, apart from what the store added. */
function isSame(object: GivenObject, stored: KubernetesObject, givenVersion: string | undefined): boolean {
  if (object.metadata.resourceVersion !== givenVersion) return false
  const { uid, resourceVersion } = stored.metadata
  const metadata = { ...object.metadata, uid: object.metadata.uid ?? uid, resourceVersion }
  return isDeepStrictEqual({ ...object, metadata }, stored)
}

/** The object itself where it has both already. */
function withMetadata(object: GivenObject, uid: string, resourceVersion: string): KubernetesObject {
  const { metadata } = object
  if (metadata.uid === uid && metadata.resourceVersion === resourceVersion) return object as KubernetesObject
  return { ...object, metadata: { ...metadata, uid, resourceVersion } } as KubernetesObject
}

/** A version that is no number cannot be kept: it would mean nothing to a watch that resumes from it. */
function revisionOf(resourceVersion: string | undefined): number {
  return resourceVersion !== undefined && /^\d{1,15}$/.test(resourceVersion) ? Number(resourceVersion) : 0
}

function versionForOrder(object: GivenObject): number {
  return revisionOf(object.metadata.resourceVersion) || Number.MAX_SAFE_INTEGER
}
