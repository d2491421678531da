/** From the values of counters to their increases, for one source. */
import type { Batch } from '../model/batch.ts'
import { carried } from '../model/carried.ts'
import { columnCount, scaleAt, seriesAt, type Layout } from '../model/layout.ts'
import { columnsOf } from '../model/plan.ts'
import { counterColumns, type CounterColumns } from './counter-columns.ts'
import type { Parked } from './parked.ts'

export type DeltaOptions = {
  readonly maxStalenessMs: number
  /** Whether the first value of a series is its increase, given when the counter began (NaN if nobody says). */
  isWhole(startMs: number): boolean
  readonly parked: Parked
}

/** What is known of a source: for each column of its layout the last number and its time, NaN if there was none. */
export type Known = {
  readonly layout: Layout
  readonly output: Layout
  readonly counters: CounterColumns
  readonly values: Float64Array
  readonly times: Float64Array
}

export type Reason = 'first' | 'repeated' | 'not a number'

export type Deltas = {
  readonly batch: Batch
  /** What is known from now on, if the batch was taken. */
  readonly known: Known
  readonly resets: number
  readonly undetermined: ReadonlyMap<Reason, number>
}

/** What is known under another layout. Series that it does not have are parked, and those that are new may have been. */
export function knownFor(layout: Layout, output: Layout, before: Known | undefined, parked: Parked): Known {
  if (before?.layout === layout && before.output === output) return before
  const values = new Float64Array(columnCount(layout)).fill(NaN)
  const times = values.slice()
  const counters = counterColumns(layout, output)
  const from = before && carried(before.layout, layout)
  for (const column of counters.columns) {
    const old = from?.[column] ?? -1
    const scale = scaleAt(layout, column)
    if (old >= 0 && scaleAt(before!.layout, old) === scale) {
      values[column] = before!.values[old]!
      times[column] = before!.times[old]!
    } else {
      const last = parked.take(seriesAt(layout, column), scale)
      if (last === undefined) continue
      values[column] = last.value
      times[column] = last.timeMs
    }
  }
  if (before !== undefined) park(before, parked, new Set(from))
  return { layout, output, counters, values, times }
}

/** Keeps the last values of a source that is no more, or of its series that are not in `stay`. */
export function park({ layout, counters, values, times }: Known, parked: Parked, stay?: ReadonlySet<number>): void {
  for (const column of counters.columns) {
    const value = values[column]!
    if (Number.isNaN(value) || stay?.has(column) === true) continue
    parked.put(seriesAt(layout, column), { value, timeMs: times[column]!, scale: scaleAt(layout, column) })
  }
}

export function deltasOf(batch: Batch, before: Known, options: DeltaOptions): Deltas {
  const { counters, output } = before
  const known = { ...before, values: before.values.slice(), times: before.times.slice() }
  const values = batch.values.slice()
  const starts = batch.starts?.slice() ?? new Float64Array(values.length).fill(NaN)
  const isAbsent = new Uint8Array(values.length)
  for (const column of batch.absent ?? []) isAbsent[column] = 1
  const wasAbsent = isAbsent.slice()
  const undetermined = new Map<Reason, number>()
  let resets = 0

  function leaveOut(column: number, reason: Reason): void {
    isAbsent[column] = 1
    undetermined.set(reason, (undetermined.get(reason) ?? 0) + 1)
  }

  function fell(column: number): boolean {
    return wasAbsent[column] === 0 && batch.values[column]! < before.values[column]!
  }

  counters.columns.forEach((column, i) => {
    if (wasAbsent[column] === 1) return
    const value = batch.values[column]!
    if (!Number.isFinite(value)) return leaveOut(column, 'not a number')
    const ownTime = batch.times?.[column] ?? NaN
    const timeMs = Number.isNaN(ownTime) ? batch.timeMs : ownTime
    const lastMs = before.times[column]!
    // A sample that its source stamped itself and that is not newer says nothing new.
    if (ownTime <= lastMs) return leaveOut(column, 'repeated')
    known.values[column] = value
    known.times[column] = timeMs
    const startMs = starts[column]!
    if (Number.isNaN(lastMs) || timeMs - lastMs > options.maxStalenessMs) {
      if (!options.isWhole(startMs)) leaveOut(column, 'first')
      return
    }
    const isReset = startMs > lastMs || fell(counters.counts[i]!) || (counters.isSum[i] === 0 && fell(column))
    if (isReset) resets++
    if (!isReset) values[column] = value - before.values[column]!
    if (!isReset || Number.isNaN(startMs)) starts[column] = Math.min(lastMs, timeMs)
  })
  const absent = columnsOf(isAbsent)
  const { absent: _, ...rest } = batch
  return {
    batch: { ...rest, layout: output, values, starts, ...(absent && { absent }) },
    known,
    resets,
    undetermined,
  }
}
