/** The columns of a source: they become more with new series, and are numbered anew when some have ended. */
import { createLayout, EMPTY_LAYOUT, Numbering, RunBuilder, type Layout } from '../../pipeline/model/layout.ts'
import type { Labels } from '../../pipeline/model/labels.ts'
import { SeriesIndex } from '../../pipeline/model/series-index.ts'
import type { Metric } from '../../pipeline/model/series.ts'

const NOBODY = -1

export class SeriesColumns {
  count = 0
  readonly #used: { series: number }
  #metrics = new Numbering<Metric>()
  #labels = new Numbering<Labels>()
  #index = new SeriesIndex(0)
  #metricOf = new Uint32Array(16)
  #labelsOf = new Uint32Array(16)
  #owners = new Int32Array(16)
  #layout: Layout = EMPTY_LAYOUT
  #hasEnded = false

  /** `used` counts the series of many. */
  constructor(used: { series: number }) {
    this.#used = used
  }

  /** Whether there are columns that belong to no stream any more. */
  get hasEnded(): boolean {
    return this.#hasEnded
  }

  metricOf(column: number): Metric {
    return this.#metrics.items[this.#metricOf[column]!]!
  }

  /** The stream that a column belongs to, or -1. */
  ownerOf(column: number): number {
    return this.#owners[column]!
  }

  /** The column of a series, or -1. */
  find(metric: Metric, labels: Labels): number {
    const labelsNumber = this.#labels.find(labels)
    return labelsNumber === undefined ? -1 : this.#index.find(metric.name, labelsNumber)
  }

  /** The column of a series, which is a new one that belongs to nobody if there was none. It may be one of another metric with the name. */
  columnOf(metric: Metric, labels: Labels): number {
    const labelsNumber = this.#labels.numberOf(labels)
    const column = this.#index.findOrAdd(metric.name, labelsNumber, this.count)
    if (column < this.count) return column
    if (column === this.#owners.length) this.#grow()
    this.#metricOf[column] = this.#metrics.numberOf(metric)
    this.#labelsOf[column] = labelsNumber
    this.#owners[column] = NOBODY
    this.count++
    this.#used.series++
    return column
  }

  give(column: number, stream: number): void {
    this.#owners[column] = stream
  }

  /** Owners have other numbers now. */
  giveAll(streams: Int32Array): void {
    for (let column = 0; column < this.count; column++) this.#owners[column] = streams[this.#owners[column]!]!
  }

  /** The series ends with the next `compact`, unless it comes again before. */
  end(column: number): void {
    this.#owners[column] = NOBODY
    this.#hasEnded = true
  }

  /** The layout of the columns as they are; the same object while nothing changed. */
  layout(): Layout {
    const before = this.#layout.metricOf.length
    if (before === this.count) return this.#layout
    this.#layout = createLayout({
      metrics: this.#metrics.items.slice(),
      labels: this.#labels.items.slice(),
      metricOf: this.#metricOf.slice(0, this.count),
      labelsOf: this.#labelsOf.slice(0, this.count),
      ...(before > 0 && { keptFrom: { id: this.#layout.id, runs: Uint32Array.of(0, 0, before) } }),
    })
    return this.#layout
  }

  /** Takes out the columns that belong to nobody, and says which numbers the others have now; -1 are gone. */
  compact(): Int32Array {
    const numbers = new Int32Array(this.count).fill(NOBODY)
    const known = this.#layout.metricOf.length
    const old = { metrics: this.#metrics, labels: this.#labels, metricOf: this.#metricOf, labelsOf: this.#labelsOf }
    const owners = this.#owners
    const { count } = this
    const runs = new RunBuilder()
    this.#metrics = new Numbering()
    this.#labels = new Numbering()
    this.#index = new SeriesIndex(count)
    this.#metricOf = new Uint32Array(Math.max(16, count))
    this.#labelsOf = new Uint32Array(Math.max(16, count))
    this.#owners = new Int32Array(Math.max(16, count))
    this.count = 0
    this.#used.series -= count
    for (let column = 0; column < count; column++) {
      if (owners[column] === NOBODY) continue
      const now = this.columnOf(old.metrics.items[old.metricOf[column]!]!, old.labels.items[old.labelsOf[column]!]!)
      this.#owners[now] = owners[column]!
      numbers[column] = now
      if (column < known) runs.add(now, column, 1)
    }
    this.#layout = createLayout({
      metrics: this.#metrics.items.slice(),
      labels: this.#labels.items.slice(),
      metricOf: this.#metricOf.slice(0, this.count),
      labelsOf: this.#labelsOf.slice(0, this.count),
      keptFrom: { id: this.#layout.id, runs: runs.finish() },
    })
    this.#hasEnded = false
    return numbers
  }

  #grow(): void {
    const length = this.#owners.length * 2
    const metricOf = new Uint32Array(length)
    metricOf.set(this.#metricOf)
    this.#metricOf = metricOf
    const labelsOf = new Uint32Array(length)
    labelsOf.set(this.#labelsOf)
    this.#labelsOf = labelsOf
    const owners = new Int32Array(length)
    owners.set(this.#owners)
    this.#owners = owners
  }
}
