/**
 * A table of the cluster whose entries several sources may show: two exporters that see one GPU, two replicas that list one pod.
 *
 * Of several the one that spoke last counts, except that a source which cannot be read at present stands behind those that can.
 */
import type { Source } from '../model/batch.ts'
import type { Tracked } from '../model/tracked.ts'

type View<V> = { readonly source: Source; value: V; order: number }

export class Views<V> {
  readonly #table: Tracked<V>
  readonly #isSame: (a: V, b: V) => boolean
  readonly #sourceOf: (value: V) => Source
  /** Nearly every thing is shown by one source, and what it shows is in the table: of all others, what is shown of them. */
  readonly #views = new Map<string, readonly View<V>[]>()
  readonly #keys = new Map<Source, Keys>()
  readonly #failed = new Set<Source>()
  #order = 0

  /** A value knows who shows it. `isSame` says whether two tell the same, whoever shows them. */
  constructor(table: Tracked<V>, isSame: (a: V, b: V) => boolean, sourceOf: (value: V) => Source) {
    this.#table = table
    this.#isSame = isSame
    this.#sourceOf = sourceOf
  }

  /** What a source shows of a thing from now on. */
  put(source: Source, key: string, value: V): void {
    const keys = this.#keys.get(source)
    const now = withKey(keys ?? NONE, key)
    if (now !== keys) this.#keys.set(source, now)
    if (!this.#views.has(key)) {
      const known = this.#table.get(key)
      if (known === undefined || this.#sourceOf(known) === source) return this.#publish(key, value)
    }
    const views = this.#viewsOf(key)
    const view = views.find(one => one.source === source)
    if (view === undefined) this.#views.set(key, views.concat({ source, value, order: ++this.#order }))
    else if (this.#isSame(view.value, value)) return
    else {
      view.value = value
      view.order = ++this.#order
    }
    this.#choose(key)
  }

  /** It shows the thing no more. */
  drop(source: Source, key: string): void {
    const keys = this.#keys.get(source)
    if (keys === undefined || !has(keys, key)) return
    const left = withoutKey(keys, key)
    if (sizeOf(left) === 0) this.#keys.delete(source)
    else if (left !== keys) this.#keys.set(source, left)
    const views = this.#viewsOf(key).filter(view => view.source !== source)
    if (views.length === 0) {
      this.#views.delete(key)
      this.#table.delete(key)
      return
    }
    this.#views.set(key, views)
    this.#choose(key)
    // What is in the table may be what the other showed, if it is the same.
    const [view, more] = views
    if (more === undefined && this.#sourceOf(this.#table.get(key)!) === view!.source) this.#views.delete(key)
  }

  /** The source could, or could not, be read. */
  reached(source: Source, isReached: boolean): void {
    if (isReached && this.#failed.size === 0) return
    if (this.#failed.has(source) !== isReached) return
    if (isReached) this.#failed.delete(source)
    else if (this.#keys.has(source)) this.#failed.add(source)
    for (const key of this.keysOf(source)) if (this.#views.has(key)) this.#choose(key)
  }

  /** The source is gone, and with it all that it showed. */
  forget(source: Source): void {
    for (const key of this.keysOf(source)) this.drop(source, key)
    this.#failed.delete(source)
  }

  /** While they are gone through, some may be dropped. */
  keysOf(source: Source): Iterable<string> {
    return this.#keys.get(source) ?? NONE
  }

  #viewsOf(key: string): readonly View<V>[] {
    const views = this.#views.get(key)
    if (views !== undefined) return views
    const value = this.#table.get(key)
    // Whoever comes next speaks after it.
    return value === undefined ? [] : [{ source: this.#sourceOf(value), value, order: 0 }]
  }

  /** Of several. */
  #choose(key: string): void {
    let best: View<V> | undefined
    for (const view of this.#viewsOf(key)) if (best === undefined || this.#isBefore(view, best)) best = view
    this.#publish(key, best!.value)
  }

  #publish(key: string, value: V): void {
    const known = this.#table.get(key)
    if (known === undefined || !this.#isSame(known, value)) this.#table.set(key, value)
  }

  #isBefore(a: View<V>, b: View<V>): boolean {
    const isReached = !this.#failed.has(a.source)
    return isReached === !this.#failed.has(b.source) ? a.order > b.order : isReached
  }
}

/** A list while there are few, as there are of an exporter, and then a set: one takes twice as much as a list. */
type Keys = readonly string[] | Set<string>

const NONE: readonly string[] = []
const MOST_LISTED = 32

function has(keys: Keys, key: string): boolean {
  return keys instanceof Set ? keys.has(key) : keys.includes(key)
}

function sizeOf(keys: Keys): number {
  return keys instanceof Set ? keys.size : keys.length
}

function withKey(keys: Keys, key: string): Keys {
  if (keys instanceof Set) return keys.add(key)
  if (keys.includes(key)) return keys
  // A list that is added to has room for more, which one that is put together has not.
  return keys.length < MOST_LISTED ? keys.concat(key) : new Set([...keys, key])
}

function withoutKey(keys: Keys, key: string): Keys {
  if (!(keys instanceof Set)) return keys.filter(one => one !== key)
  keys.delete(key)
  return keys
}
