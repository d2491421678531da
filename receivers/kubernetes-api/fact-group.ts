/**
 * The series of the pods of one node, and of the node itself, or of some other objects. Each object is a block of columns: when one
 * changes, the others are taken over from the layout before, without any label work.
 *
 * There is one for each node, so that what is kept beside the layout is small: where blocks begin, and what they were made of.
 */
import type { Batch, Source } from '../../pipeline/model/batch.ts'
import type { Labels } from '../../pipeline/model/labels.ts'
import {
  columnCount,
  createLayout,
  EMPTY_LAYOUT,
  labelsAt,
  metricAt,
  Numbering,
  RunBuilder,
  type Kept,
  type Layout,
} from '../../pipeline/model/layout.ts'
import type { Metric } from '../../pipeline/model/series.ts'
import { factsOf, type AddSample, type FactObject } from './facts.ts'

export type FactGroup = {
  /** By uid. */
  readonly objects: Map<string, FactObject>
  batch(timeMs: number): Batch
}

type Pairs = readonly (readonly [string, string])[]

/** The columns of all objects. Those of objects[i] are from starts[i] to starts[i + 1], their labels likewise. */
type Blocks = {
  readonly objects: readonly FactObject[]
  readonly starts: Uint32Array
  readonly labelStarts: Uint32Array
  readonly layout: Layout
  readonly values: Float64Array
}

const NONE: Blocks = {
  objects: [],
  starts: new Uint32Array(1),
  labelStarts: new Uint32Array(1),
  layout: EMPTY_LAYOUT,
  values: new Float64Array(0),
}

export function createFactGroup(source: Source, common: Pairs): FactGroup {
  const objects = new Map<string, FactObject>()
  let blocks = NONE
  return {
    objects,
    batch(timeMs) {
      if (!isMadeOf(blocks, objects)) blocks = rebuild(blocks, objects, common)
      return { source, timeMs, outcome: 'ok', layout: blocks.layout, values: blocks.values }
    },
  }
}

function isMadeOf({ objects }: Blocks, now: ReadonlyMap<string, FactObject>): boolean {
  if (objects.length !== now.size) return false
  let i = 0
  for (const object of now.values()) if (objects[i++] !== object) return false
  return true
}

function rebuild(before: Blocks, objects: ReadonlyMap<string, FactObject>, common: Pairs): Blocks {
  const columns = new Columns(before)
  const blocksBefore = new Map(before.objects.map(({ uid }, i) => [uid, i]))
  for (const [uid, object] of objects) {
    const block = blocksBefore.get(uid)
    if (block !== undefined && before.objects[block] === object) columns.take(block)
    else columns.make(object, common, block)
  }
  return columns.finish([...objects.values()])
}

class Columns {
  readonly #before: Blocks
  readonly #metrics = new Numbering<Metric>()
  readonly #metricOf: number[] = []
  readonly #labels: Labels[] = []
  readonly #labelsOf: number[] = []
  readonly #values: number[] = []
  readonly #starts = [0]
  readonly #labelStarts = [0]
  readonly #kept = new RunBuilder()

  constructor(before: Blocks) {
    this.#before = before
  }

  /** The columns of an object that has not changed. */
  take(block: number): void {
    const { starts, labelStarts, layout, values } = this.#before
    const start = starts[block]!
    const end = starts[block + 1]!
    const shift = this.#labels.length - labelStarts[block]!
    this.#kept.add(this.#values.length, start, end - start)
    for (let i = labelStarts[block]!; i < labelStarts[block + 1]!; i++) this.#labels.push(layout.labels[i]!)
    for (let column = start; column < end; column++) {
      this.#metricOf.push(this.#metrics.numberOf(metricAt(layout, column)))
      this.#labelsOf.push(layout.labelsOf[column]! + shift)
      this.#values.push(values[column]!)
    }
    this.#end()
  }

  /** `block` is where the object was before it changed. */
  make(object: FactObject, common: Pairs, block: number | undefined): void {
    const start = this.#values.length
    const numbers = new Map<Labels, number>()
    const add: AddSample = (metric, labels, value) => {
      let number = numbers.get(labels)
      if (number === undefined) {
        numbers.set(labels, (number = this.#labels.length))
        this.#labels.push(labels)
      }
      this.#metricOf.push(this.#metrics.numberOf(metric))
      this.#labelsOf.push(number)
      this.#values.push(value)
    }
    factsOf(object, common, add)
    if (block !== undefined) this.#noteKept(start, block)
    this.#end()
  }

  /** Series that were there before: they come in the same order. */
  #noteKept(start: number, block: number): void {
    const { starts, layout } = this.#before
    let from = starts[block]!
    const end = starts[block + 1]!
    for (let column = start; column < this.#values.length; column++) {
      const metric = this.#metrics.items[this.#metricOf[column]!]
      const labels = this.#labels[this.#labelsOf[column]!]
      for (let at = from; at < end; at++) {
        if (metricAt(layout, at) !== metric || labelsAt(layout, at) !== labels) continue
        this.#kept.add(column, at, 1)
        from = at + 1
        break
      }
    }
  }

  #end(): void {
    this.#starts.push(this.#values.length)
    this.#labelStarts.push(this.#labels.length)
  }

  finish(objects: readonly FactObject[]): Blocks {
    const { layout } = this.#before
    const runs = this.#kept.finish()
    // A phase or a time that is another one is a value or a label; where no series came or went the layout stays.
    const isSame = runs.length === 3 && runs[2] === this.#values.length && runs[2] === columnCount(layout)
    return {
      objects,
      starts: Uint32Array.from(this.#starts),
      labelStarts: Uint32Array.from(this.#labelStarts),
      layout: isSame ? layout : this.#layout({ id: layout.id, runs }),
      values: Float64Array.from(this.#values),
    }
  }

  #layout(keptFrom: Kept): Layout {
    return createLayout({
      metrics: this.#metrics.items.slice(),
      labels: this.#labels.slice(),
      metricOf: Uint32Array.from(this.#metricOf),
      labelsOf: Uint32Array.from(this.#labelsOf),
      keptFrom,
    })
  }
}
