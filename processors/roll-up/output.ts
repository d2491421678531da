/** From results to batches. A layout is made anew only when a series has come or gone, and says what it kept. */
import type { Batch, Source } from '../../pipeline/model/batch.ts'
import { withLabels, type Labels } from '../../pipeline/model/labels.ts'
import { createLayout, EMPTY_LAYOUT, labelsAt, RunBuilder, type Layout } from '../../pipeline/model/layout.ts'
import type { Metric } from '../../pipeline/model/series.ts'
import type { Grouping } from './entity.ts'
import { haveSameColumns, type Shape } from './order.ts'
import { resized } from './room.ts'

/** The results of one metric, by slot of the group; NaN where there is no series. */
export type Results = {
  readonly metric: Metric
  readonly values: Float64Array
  /** 1 where a part of it is an estimate: the series says so. */
  readonly isEstimated?: Uint8Array | undefined
}

/** What a series has beside its labels that is not measured. */
const ESTIMATED = [['estimated', 'true']] as const

/** The results of several metrics, each worked out when it is asked for: the memory of one may be that of the next. */
export type ResultList = {
  readonly length: number
  at(index: number): Results | undefined
  /**
   * Writes the results of a metric straight into a batch. False if they do not fit the shape; undefined where they have to be asked
   * for by `at`.
   */
  write?(index: number, shape: Shape, into: Float64Array): boolean | undefined
}

/** Metrics that share their groups share a source: what comes and goes for one mostly does for all. */
export type Output = {
  batch(results: ResultList, timeMs: number): Batch
}

/** The same metrics come at every flush, in the same order. */
export function createOutput(source: Source, grouping: Pick<Grouping, 'groups' | 'version'>): Output {
  let layout: Layout = EMPTY_LAYOUT
  /** Of the layout: where series are, by metric. */
  let shapes: Shape[] = []
  let estimates: (Uint8Array | undefined)[] = []
  let version = -1

  /** Undefined if the results are not those of the layout. */
  function valuesOf(results: ResultList): Float64Array | undefined {
    if (version !== grouping.version) return undefined
    const values = new Float64Array(layout.metricOf.length)
    for (let at = 0; at < results.length; at++) {
      const shape = shapes[at]!
      const isWritten = estimates[at] === undefined ? results.write?.(at, shape, values) : undefined
      if (isWritten === false || (isWritten === undefined && !isCopied(results.at(at)!, at, values))) {
        resized(values, 0)
        return undefined
      }
    }
    return values
  }

  function isCopied({ values, isEstimated }: Results, at: number, into: Float64Array): boolean {
    return areEqual(isEstimated, estimates[at]) && copy(values, shapes[at]!, into) === shapes[at]!.length
  }

  /** Makes shapes and layout anew. Returns the values: each result is only there until the next is asked for. */
  function rebuild(results: ResultList): Float64Array {
    const slots = grouping.groups.length
    const labelling = createLabelling(grouping.groups)
    const runs = new RunBuilder()
    const next: Shape[] = []
    const nextEstimates: (Uint8Array | undefined)[] = []
    const metrics: Metric[] = []
    // In which values are collected before it is known how many there are.
    let room = new Float64Array(layout.metricOf.length + slots)
    const lists = new Set(shapes.map(shape => shape.columns))
    let columns = new Int32Array(slots)
    let length = 0
    for (let at = 0; at < results.length; at++) {
      const { metric, values, isEstimated } = results.at(at)!
      const first = length
      if (room.length < first + slots) room = resized(room, Math.ceil((first + slots) * 1.5))
      length += number(values, columns, room.subarray(first))
      // Most metrics of an output have the same series, and many those that they had.
      const known = lists.values().find(one => haveSameColumns(one, columns))
      const shape = { columns: known ?? columns, first, length: length - first }
      next.push(shape)
      if (known === undefined) {
        lists.add(columns)
        columns = new Int32Array(slots)
      }
      metrics.push(metric)
      const marks = isEstimated?.slice()
      nextEstimates.push(marks)
      addRuns(runs, shape, shapes[at], (slot, was) => labelling.of(slot, marks) === labelsAt(layout, was))
    }
    const kept = runs.finish()
    const isSame = length === layout.metricOf.length && kept.length === 3 && kept[2] === length
    shapes = next
    estimates = nextEstimates
    version = grouping.version
    if (!isSame) {
      const keptFrom = { id: layout.id, runs: kept }
      layout = createLayout({ metrics, ...describe(next, labelling, estimates, length), keptFrom })
    }
    return resized(room, length)
  }

  return {
    batch(results, timeMs) {
      const values = valuesOf(results) ?? rebuild(results)
      return { source, timeMs, outcome: 'ok', layout, values }
    },
  }
}

/** The labels of a series by the slot of its group. */
type Labelling = { of(slot: number, marks: Uint8Array | undefined): Labels }

function createLabelling(groups: Readonly<Grouping['groups']>): Labelling {
  const marked = new Map<number, Labels>()
  return {
    of(slot, marks) {
      if (marks?.[slot] !== 1) return groups[slot]!
      let labels = marked.get(slot)
      if (labels === undefined) marked.set(slot, (labels = withLabels(groups[slot]!, ESTIMATED)))
      return labels
    },
  }
}

/** Every result into its column. Returns how many there were; -1 if one has none. */
function copy(results: Float64Array, { columns, first }: Shape, values: Float64Array): number {
  const { length } = columns
  let count = 0
  for (let slot = 1; slot < length; slot++) {
    const value = results[slot]!
    if (value !== value) continue
    const column = columns[slot]!
    if (column < 0) return -1
    values[first + column] = value
    count++
  }
  return count
}

function areEqual(one: Uint8Array | undefined, other: Uint8Array | undefined): boolean {
  if (one === undefined || other === undefined) return one === other
  return one.length === other.length && one.every((mark, slot) => mark === other[slot])
}

/** Gives every result the next column, and what has none -1. Returns how many there are. */
function number(values: Float64Array, columns: Int32Array, into: Float64Array): number {
  let column = 0
  const { length } = columns
  columns[0] = -1
  for (let slot = 1; slot < length; slot++) {
    const value = values[slot]!
    columns[slot] = value === value ? column : -1
    if (value === value) into[column++] = value
  }
  return column
}

/** Columns that are where those of the same series were before, or moved along with their neighbours. */
function addRuns(
  runs: RunBuilder,
  now: Shape,
  before: Shape | undefined,
  isSame: (slot: number, was: number) => boolean,
): void {
  if (before === undefined) return
  let [to, from, length] = [0, 0, 0]
  const slots = Math.min(now.columns.length, before.columns.length)
  for (let slot = 1; slot < slots; slot++) {
    if (now.columns[slot]! < 0 || before.columns[slot]! < 0) continue
    const column = now.first + now.columns[slot]!
    const was = before.first + before.columns[slot]!
    if (!isSame(slot, was)) continue
    if (length > 0 && was === from + length && column === to + length) length++
    else {
      if (length > 0) runs.add(to, from, length)
      to = column
      from = was
      length = 1
    }
  }
  if (length > 0) runs.add(to, from, length)
}

function describe(
  shapes: readonly Shape[],
  labelling: Labelling,
  estimates: readonly (Uint8Array | undefined)[],
  length: number,
): Pick<Layout, 'labels' | 'metricOf' | 'labelsOf'> {
  const labels: Labels[] = []
  // By slot, and of those that are estimates apart.
  const numbers = new Int32Array(shapes[0]?.columns.length ?? 0).fill(-1)
  const numberOfEstimate = new Map<number, number>()
  const metricOf = new Uint32Array(length)
  const labelsOf = new Uint32Array(length)
  for (let at = 0; at < shapes.length; at++) {
    const { columns, first } = shapes[at]!
    const slots = columns.length
    const marks = estimates[at]
    for (let slot = 1; slot < slots; slot++) {
      if (columns[slot]! < 0) continue
      const column = first + columns[slot]!
      metricOf[column] = at
      if (marks?.[slot] === 1) {
        const number = numberOfEstimate.get(slot) ?? labels.push(labelling.of(slot, marks)) - 1
        numberOfEstimate.set(slot, number)
        labelsOf[column] = number
        continue
      }
      if (numbers[slot]! < 0) numbers[slot] = labels.push(labelling.of(slot, undefined)) - 1
      labelsOf[column] = numbers[slot]!
    }
  }
  resized(numbers, 0)
  // A list that grew has room for more, which a copy has not.
  return { labels: labels.slice(), metricOf, labelsOf }
}
