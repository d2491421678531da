/**
 * The series of the pods of one node, and of the node itself, or of some other objects. Each object is a block of columns: when one changes, the others are
 * taken over from the layout before, without any label work.
 */
import type { Batch, Source } from '../../pipeline/model/batch.ts'
import type { Labels } from '../../pipeline/model/labels.ts'
import { createLayout, EMPTY_LAYOUT, Numbering, RunBuilder, type Layout } from '../../pipeline/model/layout.ts'
import type { Metric } from '../../pipeline/model/series.ts'
import { FACT_METRICS, factsOf, type AddSample, type FactObject } from './facts.ts'

/** Where the columns of an object are. `object` is what they were made of. */
type Block = {
  readonly object: FactObject
  readonly start: number
  readonly length: number
  readonly firstLabels: number
  readonly labelCount: number
}

export type FactGroup = {
  /** By uid. */
  readonly objects: Map<string, FactObject>
  batch(timeMs: number): Batch
}

const METRIC_NUMBERS = new Map(FACT_METRICS.map((metric, i) => [metric, i]))

export function createFactGroup(source: Source, common: readonly (readonly [string, string])[]): FactGroup {
  const objects = new Map<string, FactObject>()
  let blocks = new Map<string, Block>()
  let layout: Layout = EMPTY_LAYOUT
  let values: Float64Array = new Float64Array(0)
  // Numbers in FACT_METRICS, by column: a layout has only the metrics that it needs.
  let numbers: readonly number[] = []

  function isCurrent(): boolean {
    if (blocks.size !== objects.size) return false
    for (const [uid, { object }] of blocks) if (objects.get(uid) !== object) return false
    return true
  }

  function rebuild(): void {
    const columns = new Columns()
    const kept = new RunBuilder()
    const next = new Map<string, Block>()
    for (const [uid, object] of objects) {
      const before = blocks.get(uid)
      const start = columns.length
      const firstLabels = columns.labels.length
      if (before?.object === object) columns.take(layout, numbers, values, before)
      else columns.make(object, common)
      const block = {
        object,
        start,
        length: columns.length - start,
        firstLabels,
        labelCount: columns.labels.length - firstLabels,
      }
      next.set(uid, block)
      if (before !== undefined) columns.noteKept(layout, numbers, before, block, kept)
    }
    values = Float64Array.from(columns.values)
    // A phase or a time that is another one is a value or a label; where no series came or went the layout stays.
    const runs = kept.finish()
    const isSame = runs.length === 3 && runs[2] === columns.length && runs[2] === layout.metricOf.length
    if (!isSame) layout = columns.layout({ id: layout.id, runs })
    numbers = columns.numbers
    blocks = next
  }

  return {
    objects,
    batch(timeMs) {
      if (!isCurrent()) rebuild()
      return { source, timeMs, outcome: 'ok', layout, values }
    },
  }
}

class Columns {
  readonly labels: Labels[] = []
  readonly values: number[] = []
  readonly numbers: number[] = []
  readonly #labelsOf: number[] = []

  get length(): number {
    return this.values.length
  }

  take(
    { labelsOf, labels }: Layout,
    numbers: readonly number[],
    values: Float64Array,
    { start, length, firstLabels, labelCount }: Block,
  ): void {
    const shift = this.labels.length - firstLabels
    for (let i = firstLabels; i < firstLabels + labelCount; i++) this.labels.push(labels[i]!)
    for (let column = start; column < start + length; column++) {
      this.numbers.push(numbers[column]!)
      this.#labelsOf.push(labelsOf[column]! + shift)
      this.values.push(values[column]!)
    }
  }

  make(object: FactObject, common: readonly (readonly [string, string])[]): void {
    const numbers = new Map<Labels, number>()
    const add: AddSample = (metric, labels, value) => {
      let number = numbers.get(labels)
      if (number === undefined) {
        numbers.set(labels, (number = this.labels.length))
        this.labels.push(labels)
      }
      this.numbers.push(METRIC_NUMBERS.get(metric)!)
      this.#labelsOf.push(number)
      this.values.push(value)
    }
    factsOf(object, common, add)
  }

  /** Series that were there before, also those of an object that has changed: they come in the same order. */
  noteKept(
    { labelsOf, labels }: Layout,
    numbers: readonly number[],
    before: Block,
    now: Block,
    kept: RunBuilder,
  ): void {
    let from = before.start
    const end = before.start + before.length
    for (let column = now.start; column < now.start + now.length; column++) {
      const metric = this.numbers[column]!
      const itsLabels = this.labels[this.#labelsOf[column]!]
      for (let at = from; at < end; at++) {
        if (numbers[at] !== metric || labels[labelsOf[at]!] !== itsLabels) continue
        kept.add(column, at, 1)
        from = at + 1
        break
      }
    }
  }

  layout(keptFrom: { readonly id: number; readonly runs: Uint32Array }): Layout {
    const metrics = new Numbering<Metric>()
    const metricOf = Uint32Array.from(this.numbers, number => metrics.numberOf(FACT_METRICS[number]!))
    return createLayout({
      metrics: metrics.items,
      labels: this.labels,
      metricOf,
      labelsOf: Uint32Array.from(this.#labelsOf),
      keptFrom,
    })
  }
}
