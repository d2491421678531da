/**
 * Keeps what rendering needs from one exposition to the next, and takes snapshots: what all sources say at one moment.
 *
 * Label work is done here, when a layout is new. A snapshot refers to the batches and copies nothing, and writing it out
 * (`render-chunks.ts`) writes numbers between bytes that are there already.
 */
import type { Batch, Source } from '../model/batch.ts'
import { EMPTY_LABELS, labelPairs, labelsFrom, type Labels } from '../model/labels.ts'
import { columnCount, type Layout } from '../model/layout.ts'
import type { Syntax } from './render-families.ts'
import { renderLabels, type LabelStyle, type LabelTable } from './render-labels.ts'
import { ShownMetrics } from './render-metrics.ts'
import type { Escaping } from './render-names.ts'
import type { TranslationStrategy } from './prometheus-naming.ts'
import { LabelOwners, type Contested } from './render-owners.ts'
import { makePlan, type Plan } from './render-plan.ts'
import { releaseBlocks } from './render-blocks.ts'
import { prepare, type Prepared } from './render-prepared.ts'
import { pause, type Work } from './render-work.ts'

export type RenderStyle = {
  readonly escaping?: Escaping
  /** Stands before every name, with an underscore. */
  readonly namespace?: string
  /** For every series that has no such label of its own. */
  readonly addedLabels?: Labels
  /** The same for those of one source, before the others. */
  readonly sourceLabels?: (source: Source) => Labels
  /** How names that came by OTLP are translated; others never are. */
  readonly strategy?: TranslationStrategy
}

export type Snapshot = {
  readonly plan: Plan
  readonly syntax: Syntax
  readonly timestamps: boolean
  /** batches[i] is that of the plan's member i, or undefined if that has nothing to show. */
  readonly batches: readonly (Batch | undefined)[]
  /** Columns that are not to be written are 1. */
  readonly skips: readonly (Uint8Array | undefined)[]
  /** Series that more than one source has. */
  readonly contested: number
  /** Labels that several attributes have become, with those, as far as it was seen. */
  readonly joined: ReadonlyMap<string, readonly string[]>
}

export type TakeOptions = { readonly syntax?: Syntax; readonly timestamps?: boolean; readonly isOnly?: boolean }

const DEFAULT_STYLE: Required<RenderStyle> = {
  escaping: 'underscores',
  namespace: '',
  addedLabels: EMPTY_LABELS,
  sourceLabels: () => EMPTY_LABELS,
  strategy: 'UnderscoreEscapingWithSuffixes',
}

/** Names of attributes come from outside, so there may be any number of them. */
const JOINED_AT_MOST = 1000

/** A source that was shown before. `isTracked` says whether it is known which other sources have its label sets. */
type Held = { prepared: Prepared; number: number; seenAt: number; isTracked: boolean }

export class Renderer {
  readonly #metrics: ShownMetrics
  readonly #style: Required<RenderStyle>
  readonly #joined = new Map<string, readonly string[]>()
  readonly #owners = new LabelOwners<Held>()
  readonly #held = new Map<Source, Held>()
  #plans: { [S in Syntax]?: Plan } = {}
  #contested: Contested<Held>[] | undefined
  #taken = 0

  constructor(style: RenderStyle = {}) {
    this.#style = { ...DEFAULT_STYLE, ...style }
    this.#metrics = new ShownMetrics(this.#style)
  }

  /**
   * The batches are the latest of each source. Those that failed show nothing, but what was made for their series is kept until
   * they are well again or missing from the list. Let one snapshot be taken before the next is begun. `isOnly` where nobody has an earlier
   * one any more: what that had is gone at once then, and not when garbage is looked for.
   */
  *take(batches: readonly Batch[], options: TakeOptions = {}): Work<Snapshot> {
    const { syntax = 'text', timestamps = false, isOnly = false } = options
    const taken = ++this.#taken
    for (const batch of batches) {
      const held = this.#held.get(batch.source)
      if (held !== undefined) held.seenAt = taken
      if (batch.outcome === 'ok' && held?.prepared.layout !== batch.layout) {
        const before = held?.prepared
        yield* this.#show(batch.source, batch.layout, held, taken)
        if (isOnly && before !== undefined) releaseBlocks(before.table.blocks)
        yield pause
      }
    }
    for (const [source, held] of this.#held) {
      if (held.seenAt === taken) continue
      yield* this.#forget(source, held)
      yield pause
    }
    const plan = (this.#plans[syntax] ??= yield* this.#plan(syntax))
    const contested = (this.#contested ??= yield* this.#findContested())
    return { plan, syntax, timestamps, ...this.#match(batches, contested), joined: this.#joined }
  }

  *#show(source: Source, layout: Layout, held: Held | undefined, taken: number): Work<void> {
    const before = held?.prepared
    const { table, origin } = yield* renderLabels(layout, this.#labelStyle(source), before)
    const prepared = prepare(layout, table, this.#metrics.use(layout.metrics))
    if (before !== undefined) this.#metrics.release(before.metrics)
    if (held === undefined) {
      held = { prepared, number: 0, seenAt: taken, isTracked: false }
      this.#held.set(source, held)
    } else held.prepared = prepared
    if (held.isTracked) yield* this.#moveOwner(held, before!.table, origin)
    this.#changed()
  }

  *#moveOwner(held: Held, before: LabelTable, origin: Int32Array): Work<void> {
    const { table } = held.prepared
    const kept = new Uint8Array(before.exposed.length)
    for (let i = 0; i < origin.length; i++) {
      if (origin[i]! < 0) this.#owners.add(table.exposed[i]!, held)
      else kept[origin[i]!] = 1
      if ((i & 0xfff) === 0xfff) yield pause
    }
    for (let i = 0; i < kept.length; i++) if (kept[i] === 0) this.#owners.remove(before.exposed[i]!, held)
  }

  #labelStyle(source: Source): LabelStyle {
    const { escaping, addedLabels, sourceLabels, strategy } = this.#style
    const own = sourceLabels(source)
    const added = own.names.length === 0 ? addedLabels : labelsFrom([...labelPairs(addedLabels), ...labelPairs(own)])
    if (source.origin === undefined) return { escaping, added }
    const joined = (label: string, attributes: readonly string[]): void => {
      if (this.#joined.size < JOINED_AT_MOST) this.#joined.set(label, attributes)
    }
    return { escaping, added, strategy, joined }
  }

  *#forget(source: Source, held: Held): Work<void> {
    this.#held.delete(source)
    const { table, metrics } = held.prepared
    this.#metrics.release(metrics)
    for (let i = 0; held.isTracked && i < table.exposed.length; i++) {
      this.#owners.remove(table.exposed[i]!, held)
      if ((i & 0xfff) === 0xfff) yield pause
    }
    this.#changed()
  }

  /**
   * Where nobody else has a metric by that name, nobody else has the series: most sources need not be compared at all. But where label
   * sets are not shown as they are, a source may have a series twice by itself.
   */
  *#findContested(): Work<Contested<Held>[]> {
    const all = [...this.#held.values()]
    // Over all of them: thousands of sources have a few each.
    let added = 0
    for (const held of all) {
      const { metrics, table, layout } = held.prepared
      if (held.isTracked || (table.exposed === layout.labels && !this.#metrics.isShared(metrics))) continue
      held.isTracked = true
      for (let i = 0; i < table.exposed.length; i++) {
        this.#owners.add(table.exposed[i]!, held)
        if ((++added & 0xfff) === 0) yield pause
      }
    }
    return yield* this.#owners.contested(all)
  }

  #changed(): void {
    this.#plans = {}
    this.#contested = undefined
  }

  #plan(syntax: Syntax): Work<Plan> {
    const members: Prepared[] = []
    for (const held of this.#held.values()) {
      held.number = members.length
      members.push(held.prepared)
    }
    return makePlan(members, this.#metrics.values(), syntax)
  }

  #match(batches: readonly Batch[], contested: readonly Contested<Held>[]) {
    const shown: (Batch | undefined)[] = Array.from({ length: this.#held.size })
    const skips: (Uint8Array | undefined)[] = Array.from({ length: this.#held.size })
    for (const batch of batches) {
      if (batch.outcome !== 'ok') continue
      const { number } = this.#held.get(batch.source)!
      shown[number] = batch
      if (batch.absent === undefined || batch.absent.length === 0) continue
      const skip = (skips[number] = new Uint8Array(columnCount(batch.layout)))
      for (const column of batch.absent) skip[column] = 1
    }
    for (const series of contested) keepNewest(series, shown, skips)
    return { batches: shown, skips, contested: contested.length }
  }
}

/** Of batches of one time, the source that has been there longest is believed: the answer must not depend on chance. */
function keepNewest(
  { owners, columns }: Contested<Held>,
  batches: readonly (Batch | undefined)[],
  skips: (Uint8Array | undefined)[],
): void {
  let best = -1
  let bestMs = -Infinity
  for (const [i, { number }] of owners.entries()) {
    const batch = batches[number]
    if (batch === undefined || skips[number]?.[columns[i]!] === 1) continue
    if (best >= 0) {
      const loser = batch.timeMs > bestMs ? best : i
      skip(owners[loser]!.number, columns[loser]!)
      if (loser === i) continue
    }
    best = i
    bestMs = batch.timeMs
  }

  function skip(number: number, column: number): void {
    skips[number] ??= new Uint8Array(columnCount(batches[number]!.layout))
    skips[number][column] = 1
  }
}
