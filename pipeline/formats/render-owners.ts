/**
 * Series that more than one source has. Readers must not see a series twice, so of several the one of the newest batch is
 * written.
 *
 * Looking for them series by series would cost more memory than the series. It is enough to know which label sets are there more
 * than once: where nobody else has the label set, nobody else has the series.
 */
import { hashString } from '../model/intern.ts'
import type { Labels } from '../model/labels.ts'
import { HashCounts } from './hash-counts.ts'
import type { Prepared } from './render-prepared.ts'
import { pause, type Work } from './render-work.ts'

/** A source; what is prepared for it changes with its layout. */
type Owner = { readonly prepared: Prepared }

/** The columns of one series: columns[i] belongs to owners[i]. */
export type Contested<O extends Owner> = { readonly owners: O[]; readonly columns: number[] }

/** Reading so many takes a millisecond. */
const PAUSE_LABELS = 4096

/** Only hashes are kept: those that are the same by chance cost a look at their series. */
export class LabelOwners<O extends Owner> {
  readonly #hashes = new HashCounts()

  /** An owner may have a label set twice: different ones may look the same once they are escaped. */
  add(labels: Labels): void {
    this.#hashes.add(hashOf(labels))
  }

  remove(labels: Labels): void {
    this.#hashes.remove(hashOf(labels))
  }

  /** Of each series, the owners are in the given order. */
  *contested(owners: readonly O[]): Work<Contested<O>[]> {
    const bySeries = new Map<Labels, Map<string, Contested<O>>>()
    let seen = 0
    for (const owner of owners) {
      // One that has one name for several metrics may have a series twice all by itself.
      const all = owner.prepared.metrics.namesCollide
      if (!all && !this.#hashes.hasRepeated) continue
      const isSuspect = yield* this.#suspects(owner, all)
      if ((seen += owner.prepared.table.exposed.length) > PAUSE_LABELS) {
        seen = 0
        yield pause
      }
      if (isSuspect !== undefined) yield* this.#collect(owner, isSuspect, bySeries)
    }
    return [...bySeries.values()].flatMap(series => [...series.values()].filter(one => one.owners.length > 1))
  }

  /** By label set, 1 if somebody else may have it, too; undefined if that is none. */
  *#suspects({ prepared: { table } }: O, all: boolean): Work<Uint8Array | undefined> {
    const { exposed } = table
    const isSuspect = new Uint8Array(exposed.length)
    if (all) return isSuspect.fill(1)
    let any = false
    for (let i = 0; i < exposed.length; i++) {
      if ((i & 0xfff) === 0xfff) yield pause
      if (!this.#hashes.isRepeated(hashOf(exposed[i]!))) continue
      isSuspect[i] = 1
      any = true
    }
    return any ? isSuspect : undefined
  }

  *#collect(owner: O, isSuspect: Uint8Array, bySeries: Map<Labels, Map<string, Contested<O>>>): Work<void> {
    const { layout, table, metrics } = owner.prepared
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

/** Above 0. */
function hashOf({ names, values }: Labels): number {
  let hash = names.length
  for (const value of values) hash = hashString(value, hash)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0 || 1
}
