/** All objects of one kind, as they are and, for a while, as they were. */
import type { KubernetesObject, ObjectChange } from '../kubernetes-object.ts'
import { SortedKeys } from './sorted-keys.ts'

/** One change of one object. `object` of a deletion is its last state, with the revision of the deletion. */
export type StoreEvent = {
  readonly revision: number
  readonly type: ObjectChange['type']
  readonly key: string
  readonly object: KubernetesObject
  readonly previous: KubernetesObject | undefined
}

/** A part of a collection at one revision, in the order of keys. */
export type Range = {
  readonly count: number
  readonly entries: Iterable<readonly [key: string, object: KubernetesObject]>
}

export class Collection {
  readonly group: string
  readonly kind: string
  /** Versions that its objects have had. */
  readonly versions = new Set<string>()
  /** Whether any of its objects had a namespace. */
  namespaced = false
  #objects = new Map<string, KubernetesObject>()
  #keys = new SortedKeys()
  /** Keys that came or went since the sorted keys were last looked at. */
  #stale = new Set<string>()
  #history: StoreEvent[] = []
  #oldestRevision = 0

  constructor(group: string, kind: string) {
    this.group = group
    this.kind = kind
  }

  get size(): number {
    return this.#objects.size
  }

  /** The first revision of which the state, and every change since, can still be told. */
  get oldestRevision(): number {
    return this.#oldestRevision
  }

  get(key: string): KubernetesObject | undefined {
    return this.#objects.get(key)
  }

  objects(): Iterable<KubernetesObject> {
    return this.#objects.values()
  }

  /** Takes in an event, whose revision is higher than all before, and forgets the oldest beyond the limit. */
  record(event: StoreEvent, historyLimit: number): void {
    if (event.type === 'DELETED') this.#objects.delete(event.key)
    else this.#objects.set(event.key, event.object)
    if (event.type !== 'MODIFIED') this.#stale.add(event.key)
    this.#history.push(event)
    // A quarter over the limit is let stand, so that the array is not moved at every change.
    if (this.#history.length > historyLimit * 1.25) this.#forget(this.#history.length - historyLimit)
  }

  /** Forgets all history: nothing before this revision can be told any more. */
  compact(revision: number): void {
    this.#history = []
    this.#oldestRevision = revision
  }

  /** All changes after a revision that is not older than the oldest. */
  eventsAfter(revision: number): readonly StoreEvent[] {
    return this.#history.slice(this.#firstAfter(revision))
  }

  /** What there was at a revision, in one namespace or in all, from a place in the order of keys on. */
  rangeAt(revision: number, namespace?: string, from = ''): Range {
    const start = namespace === undefined ? from : `${namespace}/${from}`
    // The character after the slash ends the keys that begin with the namespace.
    const end = namespace === undefined ? undefined : `${namespace}0`
    const keys = this.#sorted()
    const first = keys.indexOf(start)
    const last = end === undefined ? keys.length : keys.indexOf(end)
    const undone = this.#statesAt(revision, start, end)
    let count = last - first
    for (const [key, object] of undone) count += Number(object !== undefined) - Number(this.#objects.has(key))
    return { count, entries: undone.size === 0 ? this.#entries(first, last) : this.#entriesWith(undone, first, last) }
  }

  /** The one object of a name at a revision, or nothing. */
  oneAt(revision: number, namespace: string | undefined, name: string): Range {
    const [first] = this.rangeAt(revision, namespace, name).entries
    const isFound = first?.[1].metadata.name === name
    return isFound ? { count: 1, entries: [first!] } : { count: 0, entries: [] }
  }

  *#entries(first: number, last: number): Iterable<[string, KubernetesObject]> {
    for (let i = first; i < last; i++) {
      const key = this.#keys.at(i)!
      yield [key, this.#objects.get(key)!]
    }
  }

  *#entriesWith(
    undone: ReadonlyMap<string, KubernetesObject | undefined>,
    first: number,
    last: number,
  ): Iterable<[string, KubernetesObject]> {
    const gone = [...undone.keys()].filter(key => !this.#objects.has(key)).toSorted()
    let next = 0
    for (let i = first; i <= last; i++) {
      const key = i < last ? this.#keys.at(i)! : undefined
      for (; next < gone.length && (key === undefined || gone[next]! < key); next++) {
        const object = undone.get(gone[next]!)
        if (object !== undefined) yield [gone[next]!, object]
      }
      if (key === undefined) break
      const object = undone.has(key) ? undone.get(key) : this.#objects.get(key)
      if (object !== undefined) yield [key, object]
    }
  }

  /** The objects of a range that were different at a revision, as they were then; undefined for those that were not there. */
  #statesAt(revision: number, start: string, end: string | undefined): Map<string, KubernetesObject | undefined> {
    const states = new Map<string, KubernetesObject | undefined>()
    for (let i = this.#firstAfter(revision); i < this.#history.length; i++) {
      const { key, previous } = this.#history[i]!
      // The first change after the revision knows what was before.
      if (key >= start && (end === undefined || key < end) && !states.has(key)) states.set(key, previous)
    }
    return states
  }

  #firstAfter(revision: number): number {
    let low = 0
    let high = this.#history.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#history[middle]!.revision <= revision) low = middle + 1
      else high = middle
    }
    return low
  }

  /** The keys in order, brought up to date: many changes between two lists cost one pass. */
  #sorted(): SortedKeys {
    const added: string[] = []
    const removed = new Set<string>()
    for (const key of this.#stale) {
      const was = this.#keys.has(key)
      const is = this.#objects.has(key)
      if (is && !was) added.push(key)
      if (was && !is) removed.add(key)
    }
    this.#stale.clear()
    this.#keys.change(added, removed)
    return this.#keys
  }

  #forget(count: number): void {
    this.#oldestRevision = this.#history[count - 1]!.revision
    this.#history.splice(0, count)
  }
}
