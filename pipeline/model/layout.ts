/**
 * Which series a batch has, in which order: as columns, so that a scrape of the same series needs no label work at all.
 */
import { PRINT_LENGTH, printOf, printsOf } from './label-prints.ts'
import type { Labels } from './labels.ts'
import { ONE, type Scale } from './scale.ts'
import type { Metric, Series } from './series.ts'
import { sameItems, sharedList, sharedNumbers } from './shared.ts'

/**
 * Column i is metrics[metricOf[i]] with labels[labelsOf[i]]. No series is in a layout twice, and a layout never changes:
 * when the set or the order of series does, there is a new one.
 */
export type Layout = {
  /** Unique in the process. */
  readonly id: number
  readonly metrics: readonly Metric[]
  /** scales[k] is the pending scale of the columns of metrics[k]: their true value is the number in the column times this. */
  readonly scales: readonly Scale[]
  readonly labels: readonly Labels[]
  readonly metricOf: Uint32Array
  readonly labelsOf: Uint32Array
  readonly keptFrom?: Kept
}

/**
 * What a layout took over from its predecessor. It names the predecessor by id, because a reference would keep every layout
 * that ever was alive.
 */
export type Kept = {
  readonly id: number
  /** Triples, ascending: first column here, first column there, how many. Columns in no run are new. */
  readonly runs: Uint32Array
}

/** Label sets that are not all kept for as long as the layout: who asks for the list may have it made again, equal to what it was. */
export type LabelList = { readonly list: readonly Labels[] }

class ColumnLayout implements Layout {
  readonly id: number
  readonly metrics: readonly Metric[]
  readonly scales: readonly Scale[]
  readonly metricOf: Uint32Array
  readonly labelsOf: Uint32Array
  // Most have no predecessor, and need no room for one.
  declare readonly keptFrom?: Kept
  /** What is left of them once they have been let go is what tells them apart: a text. */
  #labels: readonly Labels[] | LabelList | string

  constructor(
    { id, metrics, scales, metricOf, labelsOf, keptFrom }: Omit<Layout, 'labels'>,
    labels: readonly Labels[] | LabelList,
  ) {
    this.id = id
    this.metrics = metrics
    this.scales = scales
    this.metricOf = metricOf
    this.labelsOf = labelsOf
    this.#labels = labels
    if (keptFrom !== undefined) this.keptFrom = keptFrom
  }

  get labels(): readonly Labels[] {
    const labels = this.#labels
    if (typeof labels === 'string') throw new Error('the label sets of a layout are asked for after they were let go')
    return Array.isArray(labels) ? (labels as readonly Labels[]) : (labels as LabelList).list
  }

  get prints(): string | undefined {
    return typeof this.#labels === 'string' ? this.#labels : undefined
  }

  letLabelsGo(): void {
    if (Array.isArray(this.#labels)) this.#labels = printsOf(this.#labels)
  }

  takeLabelsBack(labels: readonly Labels[]): void {
    if (typeof this.#labels === 'string') this.#labels = labels
  }
}

/**
 * For whoever knows that nobody will ask for the label sets again, but to compare them by `haveSameLabels` and `labelKeys`. Does nothing
 * if they are made again when they are asked for.
 */
export function letLabelsGo(layout: Layout): void {
  if (layout instanceof ColumnLayout) layout.letLabelsGo()
}

/** `other` has the same label sets, and keeps them. */
export function takeLabelsBack(layout: Layout, other: Layout): void {
  if (layout instanceof ColumnLayout) layout.takeLabelsBack(other.labels)
}

export function haveSameLabels(one: Layout, other: Layout): boolean {
  const prints = printsLeftOf(one) ?? printsLeftOf(other)
  if (prints === undefined) return sameItems(one.labels, other.labels)
  return (
    prints === (printsLeftOf(other) ?? printsOf(other.labels)) && prints === (printsLeftOf(one) ?? printsOf(one.labels))
  )
}

/** What tells the label sets of a layout apart: they themselves, or what is left of them; then `keyOf` is to be asked for that of another. */
export function labelKeys(layout: Layout): {
  keys: readonly (Labels | string)[]
  keyOf(labels: Labels): Labels | string
} {
  const prints = printsLeftOf(layout)
  if (prints === undefined) return { keys: layout.labels, keyOf: labels => labels }
  const keys = Array.from({ length: prints.length / PRINT_LENGTH }, (_, i) =>
    prints.slice(i * PRINT_LENGTH, (i + 1) * PRINT_LENGTH),
  )
  // It is asked for every column, and most label sets are those of many.
  const known = new Map<Labels, string>()
  return {
    keys,
    keyOf(labels) {
      let print = known.get(labels)
      if (print === undefined) known.set(labels, (print = printOf(labels)))
      return print
    },
  }
}

function printsLeftOf(layout: Layout): string | undefined {
  return layout instanceof ColumnLayout ? layout.prints : undefined
}

let lastId = 0

export function createLayout(parts: {
  metrics: readonly Metric[]
  scales?: readonly Scale[]
  labels: readonly Labels[] | LabelList
  metricOf: Uint32Array
  labelsOf: Uint32Array
  keptFrom?: Kept
}): Layout {
  const { labels, keptFrom } = parts
  const metrics = sharedList(parts.metrics)
  const scales = sharedList(parts.scales ?? metrics.map(() => ONE))
  const metricOf = sharedNumbers(parts.metricOf)
  const labelsOf = sharedNumbers(parts.labelsOf)
  const id = ++lastId
  return new ColumnLayout({ id, metrics, scales, metricOf, labelsOf, ...(keptFrom && { keptFrom }) }, labels)
}

export const EMPTY_LAYOUT: Layout = createLayout({
  metrics: [],
  labels: [],
  metricOf: new Uint32Array(0),
  labelsOf: new Uint32Array(0),
})

export function columnCount(layout: Layout): number {
  return layout.metricOf.length
}

export function metricAt(layout: Layout, column: number): Metric {
  return layout.metrics[layout.metricOf[column]!]!
}

export function labelsAt(layout: Layout, column: number): Labels {
  return layout.labels[layout.labelsOf[column]!]!
}

export function scaleAt(layout: Layout, column: number): Scale {
  return layout.scales[layout.metricOf[column]!]!
}

export function seriesAt(layout: Layout, column: number): Series {
  return { metric: metricAt(layout, column), labels: labelsAt(layout, column) }
}

/**
 * The layout of these series; `previous` itself if nothing changed. A series that comes twice is an error of the caller.
 * For sources that build their list of series anew each time; those that can do better use `createLayout`.
 */
export function layoutFromSeries(series: readonly Series[], previous?: Layout): Layout {
  if (previous !== undefined && isSame(series, previous)) return previous
  const metrics = new Numbering<Metric>()
  const labels = new Numbering<Labels>()
  const metricOf = new Uint32Array(series.length)
  const labelsOf = new Uint32Array(series.length)
  series.forEach((one, i) => {
    metricOf[i] = metrics.numberOf(one.metric)
    labelsOf[i] = labels.numberOf(one.labels)
  })
  return createLayout({
    metrics: metrics.items,
    labels: labels.items,
    metricOf,
    labelsOf,
    ...(previous && { keptFrom: keptBetween(previous, series) }),
  })
}

function isSame(series: readonly Series[], layout: Layout): boolean {
  if (series.length !== columnCount(layout)) return false
  if (layout.scales.some(scale => scale !== ONE)) return false
  return series.every((one, i) => one.metric === metricAt(layout, i) && one.labels === labelsAt(layout, i))
}

function keptBetween(previous: Layout, series: readonly Series[]): Kept {
  const columnsByLabels = new Map<Labels, Map<Metric, number>>()
  for (let i = 0; i < columnCount(previous); i++) {
    if (scaleAt(previous, i) !== ONE) continue
    const labels = labelsAt(previous, i)
    let columns = columnsByLabels.get(labels)
    if (columns === undefined) columnsByLabels.set(labels, (columns = new Map()))
    columns.set(metricAt(previous, i), i)
  }
  const runs = new RunBuilder()
  series.forEach(({ metric, labels }, i) => {
    const column = columnsByLabels.get(labels)?.get(metric)
    if (column !== undefined) runs.add(i, column, 1)
  })
  return { id: previous.id, runs: runs.finish() }
}

/** Collects kept columns and joins neighbours to runs. */
export class RunBuilder {
  #runs: number[] = []

  add(to: number, from: number, length: number): void {
    const last = this.#runs.length - 3
    if (last >= 0) {
      const run = this.#runs
      if (run[last]! + run[last + 2]! === to && run[last + 1]! + run[last + 2]! === from) {
        run[last + 2]! += length
        return
      }
    }
    this.#runs.push(to, from, length)
  }

  finish(): Uint32Array {
    return Uint32Array.from(this.#runs)
  }
}

/** Gives every distinct thing the next number. */
export class Numbering<T> {
  readonly items: T[] = []
  #numbers = new Map<T, number>()

  find(item: T): number | undefined {
    return this.#numbers.get(item)
  }

  numberOf(item: T): number {
    let number = this.#numbers.get(item)
    if (number === undefined) {
      number = this.items.length
      this.#numbers.set(item, number)
      this.items.push(item)
    }
    return number
  }
}
