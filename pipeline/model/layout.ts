/**
 * Which series a batch has, in which order: as columns, so that a scrape of the same series needs no label work at all.
 */
import type { Labels } from './labels.ts'
import { ONE, type Scale } from './scale.ts'
import type { Metric, Series } from './series.ts'
import { sharedList, sharedNumbers } from './shared.ts'

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

class ListedLayout implements Layout {
  readonly id: number
  readonly metrics: readonly Metric[]
  readonly scales: readonly Scale[]
  readonly metricOf: Uint32Array
  readonly labelsOf: Uint32Array
  declare readonly keptFrom?: Kept
  readonly #labels: LabelList

  constructor({ id, metrics, scales, metricOf, labelsOf, keptFrom }: Omit<Layout, 'labels'>, labels: LabelList) {
    this.id = id
    this.metrics = metrics
    this.scales = scales
    this.metricOf = metricOf
    this.labelsOf = labelsOf
    this.#labels = labels
    if (keptFrom !== undefined) this.keptFrom = keptFrom
  }

  get labels(): readonly Labels[] {
    return this.#labels.list
  }
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
  if ('list' in labels) {
    return new ListedLayout({ id, metrics, scales, metricOf, labelsOf, ...(keptFrom && { keptFrom }) }, labels)
  }
  // Most have no predecessor, and need no room for one.
  if (keptFrom === undefined) return { id, metrics, scales, labels, metricOf, labelsOf }
  return { id, metrics, scales, labels, metricOf, labelsOf, keptFrom }
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
