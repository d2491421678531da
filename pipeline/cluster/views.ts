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
  /** Nearly every thing is shown by one source, for which a list would be as much as what is in it. */
  readonly #views = new Map<string, View<V> | readonly View<V>[]>()
  readonly #keys = new Map<Source, Set<string>>()
  readonly #failed = new Set<Source>()
  #order = 0

  constructor(table: Tracked<V>, isSame: (a: V, b: V) => boolean) {
    this.#table = table
    this.#isSame = isSame
  }

  /** What a source shows of a thing from now on. */
  put(source: Source, key: string, value: V): void {
    let keys = this.#keys.get(source)
    if (keys === undefined) this.#keys.set(source, (keys = new Set()))
    keys.add(key)
    let views = this.#viewsOf(key)
    let view = views.find(one => one.source === source)
    if (view === undefined) {
      view = { source, value, order: 0 }
      views = views.concat(view)
      this.#views.set(key, views.length === 1 ? view : views)
    } else if (this.#isSame(view.value, value)) return
    view.value = value
    view.order = ++this.#order
    this.#publish(key, views)
  }

  /** It shows the thing no more. */
  drop(source: Source, key: string): void {
    const keys = this.#keys.get(source)
    if (keys === undefined || !keys.delete(key)) return
    if (keys.size === 0) this.#keys.delete(source)
    const views = this.#viewsOf(key).filter(view => view.source !== source)
    if (views.length === 0) this.#views.delete(key)
    else this.#views.set(key, views.length === 1 ? views[0]! : views)
    this.#publish(key, views)
  }

  /** The source could, or could not, be read. */
  reached(source: Source, isReached: boolean): void {
    if (isReached && this.#failed.size === 0) return
    if (this.#failed.has(source) !== isReached) return
    if (isReached) this.#failed.delete(source)
    else if (this.#keys.has(source)) this.#failed.add(source)
    for (const key of this.keysOf(source)) {
      const views = this.#viewsOf(key)
      if (views.length > 1) this.#publish(key, views)
    }
  }

  /** The source is gone, and with it all that it showed. */
  forget(source: Source): void {
    for (const key of this.keysOf(source)) this.drop(source, key)
    this.#failed.delete(source)
  }

  keysOf(source: Source): ReadonlySet<string> {
    return this.#keys.get(source) ?? NONE
  }

  #viewsOf(key: string): readonly View<V>[] {
    const views = this.#views.get(key)
    if (views === undefined) return []
    return 'source' in views ? [views] : views
  }

  #publish(key: string, views: readonly View<V>[]): void {
    let best: View<V> | undefined
    for (const view of views) if (best === undefined || this.#isBefore(view, best)) best = view
    const known = this.#table.entry(key).value
    if (best === undefined) this.#table.delete(key)
    else if (known === undefined || !this.#isSame(known, best.value)) this.#table.set(key, best.value)
  }

  #isBefore(a: View<V>, b: View<V>): boolean {
    const isReached = !this.#failed.has(a.source)
    return isReached === !this.#failed.has(b.source) ? a.order > b.order : isReached
  }
}

const NONE: ReadonlySet<string> = new Set()
