/** From results to batches. A layout is made anew only when a series has come or gone, and says what it kept. */
import type { Batch, Source } from '../../pipeline/model/batch.ts'
import { withLabels, type Labels } from '../../pipeline/model/labels.ts'
import { createLayout, EMPTY_LAYOUT, RunBuilder, type Layout } from '../../pipeline/model/layout.ts'
import type { Metric } from '../../pipeline/model/series.ts'
import type { Grouping } from './entity.ts'
import type { Shape } from './order.ts'
import { roomFor } from './room.ts'

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

/** In which values are collected before it is known how many there are. */
let room = new Float64Array(0)

/** The same metrics come at every flush, in the same order. */
export function createOutput(source: Source, grouping: Pick<Grouping, 'groups' | 'version'>): Output {
  let layout: Layout = EMPTY_LAYOUT
  /** Of the layout: where series are, by metric, and the groups that had the slots. */
  let shapes: Shape[] = []
  let groups: Grouping['groups'] = []
  let estimates: (Uint8Array | undefined)[] = []
  let version = -1

  /** Undefined if the results are not those of the layout. */
  function valuesOf(results: ResultList): Float64Array | undefined {
    if (version !== grouping.version) return undefined
    const values = new Float64Array(layout.metricOf.length)
    for (let at = 0; at < results.length; at++) {
      const shape = shapes[at]!
      const isWritten = estimates[at] === undefined ? results.write?.(at, shape, values) : undefined
      if (isWritten === false || (isWritten === undefined && !isCopied(results.at(at)!, at, values))) return undefined
    }
    return values
  }

  function isCopied({ values, isEstimated }: Results, at: number, into: Float64Array): boolean {
    const { columns, length } = shapes[at]!
    return areEqual(isEstimated, estimates[at]) && copy(values, columns, into) === length
  }

  /** Makes shapes and layout anew. Returns the values: each result is only there until the next is asked for. */
  function rebuild(results: ResultList): Float64Array {
    const slots = grouping.groups.length
    const isSameGroup = new Uint8Array(slots)
    for (let slot = 0; slot < slots; slot++) isSameGroup[slot] = Number(grouping.groups[slot] === groups[slot])
    const runs = new RunBuilder()
    const next: Shape[] = []
    const nextEstimates: (Uint8Array | undefined)[] = []
    const metrics: Metric[] = []
    let length = 0
    for (let at = 0; at < results.length; at++) {
      const { metric, values, isEstimated } = results.at(at)!
      const columns = new Int32Array(slots)
      const first = length
      room = roomFor(room, first + slots)
      length = number(values, columns, first, room)
      next.push({ columns, first, length: length - first })
      metrics.push(metric)
      nextEstimates.push(isEstimated?.slice())
      // Which of them are others by that mark is not worth a look: it is rare.
      if (areEqual(isEstimated, estimates[at])) addRuns(runs, columns, shapes[at]?.columns, isSameGroup)
    }
    const kept = runs.finish()
    const isSame = length === layout.metricOf.length && kept.length === 3 && kept[2] === length
    shapes = next
    estimates = nextEstimates
    groups = grouping.groups.slice()
    version = grouping.version
    if (!isSame) {
      const keptFrom = { id: layout.id, runs: kept }
      layout = createLayout({ metrics, ...describe(next, groups, estimates, length), keptFrom })
    }
    return room.slice(0, length)
  }

  return {
    batch(results, timeMs) {
      const values = valuesOf(results) ?? rebuild(results)
      return { source, timeMs, outcome: 'ok', layout, values }
    },
  }
}

/** Every result into its column. Returns how many there were; -1 if one has none. */
function copy(results: Float64Array, columns: Int32Array, values: Float64Array): number {
  const { length } = columns
  let count = 0
  for (let slot = 1; slot < length; slot++) {
    const value = results[slot]!
    if (value !== value) continue
    const column = columns[slot]!
    if (column < 0) return -1
    values[column] = value
    count++
  }
  return count
}

function areEqual(one: Uint8Array | undefined, other: Uint8Array | undefined): boolean {
  if (one === undefined || other === undefined) return one === other
  return one.length === other.length && one.every((mark, slot) => mark === other[slot])
}

/** Gives every result the next column, and what has none -1. Returns the first column that is free then. */
function number(values: Float64Array, columns: Int32Array, first: number, into: Float64Array): number {
  let column = first
  const { length } = columns
  columns[0] = -1
  for (let slot = 1; slot < length; slot++) {
    const value = values[slot]!
    columns[slot] = value === value ? column : -1
    if (value === value) into[column++] = value
  }
  return column
}

/** Columns that are where those of the same groups were before, or moved along with their neighbours. */
function addRuns(runs: RunBuilder, now: Int32Array, before: Int32Array | undefined, isSameGroup: Uint8Array): void {
  if (before === undefined) return
  let [to, from, length] = [0, 0, 0]
  const slots = Math.min(now.length, before.length)
  for (let slot = 1; slot < slots; slot++) {
    const column = now[slot]!
    const was = before[slot]!
    if (column < 0 || was < 0 || isSameGroup[slot] === 0) continue
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
  groups: Readonly<Grouping['groups']>,
  estimates: readonly (Uint8Array | undefined)[],
  length: number,
): Pick<Layout, 'labels' | 'metricOf' | 'labelsOf'> {
  const labels: Labels[] = []
  const numberOfSlot = new Int32Array(groups.length).fill(-1)
  const numberOfEstimate = new Map<number, number>()
  const metricOf = new Uint32Array(length)
  const labelsOf = new Uint32Array(length)
  for (let at = 0; at < shapes.length; at++) {
    const { columns: its } = shapes[at]!
    const slots = its.length
    for (let slot = 1; slot < slots; slot++) {
      const column = its[slot]!
      if (column < 0) continue
      metricOf[column] = at
      if (estimates[at]?.[slot] === 1) {
        const number = numberOfEstimate.get(slot) ?? labels.push(withLabels(groups[slot]!, ESTIMATED)) - 1
        numberOfEstimate.set(slot, number)
        labelsOf[column] = number
        continue
      }
      if (numberOfSlot[slot]! < 0) numberOfSlot[slot] = labels.push(groups[slot]!) - 1
      labelsOf[column] = numberOfSlot[slot]!
    }
  }
  // A list that grew has room for more, which a copy has not.
  return { labels: labels.slice(), metricOf, labelsOf }
}
