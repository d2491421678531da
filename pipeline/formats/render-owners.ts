/**
 * Series that more than one source has. Readers must not see a series twice, so of several the one of the newest batch is
 * written.
 *
 * Looking for them series by series would cost more memory than the series. Label sets are objects, so it is enough to know who
 * has which: where nobody else has the label set, nobody else has the series. And only of sources that have a metric of the same name.
 */
import type { Labels } from '../model/labels.ts'
import type { Prepared } from './render-prepared.ts'
import { pause, type Work } from './render-work.ts'

/** A source; what is prepared for it changes with its layout. */
type Owner = { readonly prepared: Prepared }

/** The columns of one series: columns[i] belongs to owners[i]. */
export type Contested<O extends Owner> = { readonly owners: O[]; readonly columns: number[] }

const SHARDS = 256

export class LabelOwners<O extends Owner> {
  // Most have one owner, and a list for each would be most of the memory. Many small maps, because one of a million entries that
  // has to grow would hold up everybody.
  readonly #shards = Array.from({ length: SHARDS }, () => new Map<Labels, O | O[]>())
  readonly #shared = new Set<Labels>()

  add(labels: Labels, owner: O): void {
    const owners = this.#ownersOf(labels)
    const known = owners.get(labels)
    if (known === undefined) {
      owners.set(labels, owner)
      return
    }
    // An owner may be there twice: different label sets may look the same once they are escaped.
    this.#shared.add(labels)
    if (Array.isArray(known)) known.push(owner)
    else owners.set(labels, [known, owner])
  }

  remove(labels: Labels, owner: O): void {
    const owners = this.#ownersOf(labels)
    const known = owners.get(labels)
    if (!Array.isArray(known)) {
      owners.delete(labels)
      return
    }
    known.splice(known.indexOf(owner), 1)
    if (known.length > 1) return
    owners.set(labels, known[0]!)
    this.#shared.delete(labels)
  }

  /** Values differ in their last characters and lengths. */
  #ownersOf({ values }: Labels): Map<Labels, O | O[]> {
    let hash = 0
    for (const value of values) hash = (Math.imul(hash, 31) + value.charCodeAt(value.length - 1) + value.length) | 0
    return this.#shards[(hash ^ (hash >>> 8)) & (SHARDS - 1)]!
  }

  /** Of each series, the owners are in the given order. */
  *contested(owners: readonly O[]): Work<Contested<O>[]> {
    // One that has one name for several metrics may have a series twice all by itself.
    const alone = new Set(owners.filter(owner => owner.prepared.metrics.namesCollide))
    const suspects = new Set(alone)
    for (const labels of this.#shared)
      for (const owner of this.#ownersOf(labels).get(labels) as O[]) suspects.add(owner)
    const bySeries = new Map<Labels, Map<string, Contested<O>>>()
    let looked = 0
    for (const owner of owners) {
      if (!suspects.has(owner)) continue
      yield* this.#collect(owner, alone.has(owner), bySeries)
      if ((++looked & 0x1f) === 0) yield pause
    }
    return [...bySeries.values()].flatMap(series => [...series.values()].filter(one => one.owners.length > 1))
  }

  *#collect(owner: O, all: boolean, bySeries: Map<Labels, Map<string, Contested<O>>>): Work<void> {
    const { layout, table, metrics } = owner.prepared
    const isSuspect = Uint8Array.from(table.exposed, labels => (all || this.#shared.has(labels) ? 1 : 0))
    for (let column = 0; column < layout.labelsOf.length; column++) {
      if ((column & 0xfff) === 0xfff) yield pause
      const number = layout.labelsOf[column]!
      if (isSuspect[number] === 0) continue
      const labels = table.exposed[number]!
      const { name } = metrics.shown[layout.metricOf[column]!]!
      if (name === '') continue
      let series = bySeries.get(labels)
      if (series === undefined) bySeries.set(labels, (series = new Map()))
      const one = series.get(name)
      if (one === undefined) series.set(name, { owners: [owner], columns: [column] })
      else {
        one.owners.push(owner)
        one.columns.push(column)
      }
    }
  }
}
