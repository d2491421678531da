/**
 * A plan moves the numbers of one layout to another: made once per layout, run once per batch, without any label work.
 */
import type { Batch } from './batch.ts'
import type { Fold, Range } from './label-processor.ts'
import { newColumn } from './column.ts'
import { columnCount, metricAt, type Layout } from './layout.ts'
import { scaledBy } from './scale.ts'
import type { Metric } from './series.ts'

export type Plan = {
  readonly input: Layout
  readonly output: Layout
  /** For each outgoing column the incoming one, never descending. Undefined: every column stays where it is. */
  readonly gather?: Uint32Array
  readonly folds?: Folds
  readonly ranges?: Ranges
  /** What was said about the columns of output.metrics[k], for making the next plan. */
  readonly rules?: readonly Rule[]
}

/** Without what there is none of: there are several for each target, and most are short. */
export function planFrom({
  input,
  output,
  gather,
  folds,
  ranges,
  rules,
}: { [K in keyof Plan]: Plan[K] | undefined } & Pick<Plan, 'input' | 'output'>): Plan {
  if (folds === undefined && ranges === undefined && rules === undefined) {
    return gather === undefined ? { input, output } : { input, output, gather }
  }
  return {
    input,
    output,
    ...(gather && { gather }),
    ...(folds && { folds }),
    ...(ranges && { ranges }),
    ...(rules && { rules }),
  }
}

export type Rule = { readonly range: Range | undefined; readonly fold: Fold | undefined }

/** Further incoming columns of outgoing columns that have one already. All arrays have one place per fold. */
export type Folds = {
  readonly outputs: Uint32Array
  readonly inputs: Uint32Array
  /** 1: the larger one counts. 0: the first that is there. */
  readonly isMax: Uint8Array
  /** From the incoming number to one with the outgoing column's pending scale. */
  readonly multiply: Float64Array
  readonly divide: Float64Array
  /** Bounds as in `Ranges`; NaN where there are none. */
  readonly low: Float64Array
  readonly high: Float64Array
}

/** Outgoing columns whose numbers must lie within bounds, which are in the column's unscaled numbers. */
export type Ranges = {
  readonly columns: Uint32Array
  readonly low: Float64Array
  readonly high: Float64Array
}

/**
 * What became of a batch: the outgoing one, and how many samples were outside their range; if there were any, how many of each
 * outgoing metric.
 */
export type PlanResult = {
  readonly batch: Batch
  readonly outOfRange: number
  readonly outOfRangeByMetric?: ReadonlyMap<Metric, number>
}

const NO_VALUES = new Float64Array(0)

export function runPlan(plan: Plan, batch: Batch): PlanResult {
  const { input, output, gather, folds, ranges } = plan
  if (input === output && ranges === undefined) return { batch, outOfRange: 0 }
  const { source, timeMs, outcome, values, times, starts, absent } = batch
  // Folds write into the columns, and nobody writes into what it was given.
  const mustCopy = gather !== undefined || folds !== undefined
  // Always with all fields: this is made for every batch in every processor.
  const moved: Moved = {
    source,
    timeMs,
    outcome,
    layout: output,
    values: mustCopy ? move(values, gather) : values,
    absent: undefined,
    times: times === undefined || !mustCopy ? times : move(times, gather),
    starts: starts === undefined || !mustCopy ? starts : move(starts, gather),
  }
  if (absent === undefined && folds === undefined && (ranges === undefined || allInside(ranges, moved.values))) {
    return { batch: moved, outOfRange: 0 }
  }
  return settle(plan, batch, moved)
}

export function move(from: Float64Array, gather: Uint32Array | undefined): Float64Array {
  if (gather === undefined) return from.slice()
  if (gather.length === 0) return NO_VALUES
  const to = newColumn(gather.length)
  for (let i = 0; i < to.length; i++) to[i] = from[gather[i]!]!
  return to
}

/** The usual case, which needs no notes on which columns are missing. */
export function allInside({ columns, low, high }: Ranges, values: Float64Array): boolean {
  for (let i = 0; i < columns.length; i++) {
    const value = values[columns[i]!]!
    if (!(value >= low[i]! && value <= high[i]!)) return false
  }
  return true
}

/** What is absent is found out last. */
type Moved = Batch & { readonly absent: undefined }

/** Works out which outgoing columns have a sample: absent ones come along, values out of range go, folds fill in. */
function settle({ output, gather, folds, ranges }: Plan, batch: Batch, moved: Moved): PlanResult {
  const missing = new Uint8Array(columnCount(output))
  const absentInputs = flags(batch)
  if (absentInputs !== undefined) {
    for (let i = 0; i < missing.length; i++) missing[i] = absentInputs[gather === undefined ? i : gather[i]!]!
  }
  const outside = new Outside(output)
  if (ranges !== undefined) {
    const { columns, low, high } = ranges
    for (let i = 0; i < columns.length; i++) {
      const column = columns[i]!
      const value = moved.values[column]!
      if (missing[column] === 0 && !(value >= low[i]! && value <= high[i]!)) {
        missing[column] = 1
        outside.count(column)
      }
    }
  }
  if (folds !== undefined) fold(folds, batch, absentInputs, moved, missing, outside)
  const absent = columnsOf(missing)
  const { total, byMetric } = outside
  return {
    batch: absent === undefined ? moved : { ...moved, absent },
    outOfRange: total,
    ...(total > 0 && { outOfRangeByMetric: byMetric }),
  }
}

/** Counts samples outside their range. */
class Outside {
  total = 0
  readonly byMetric = new Map<Metric, number>()
  readonly #output: Layout

  constructor(output: Layout) {
    this.#output = output
  }

  count(column: number): void {
    this.total++
    const metric = metricAt(this.#output, column)
    this.byMetric.set(metric, (this.byMetric.get(metric) ?? 0) + 1)
  }
}

function fold(
  folds: Folds,
  batch: Batch,
  absentInputs: Uint8Array | undefined,
  moved: Moved,
  missing: Uint8Array,
  outside: Outside,
): void {
  for (let i = 0; i < folds.outputs.length; i++) {
    const input = folds.inputs[i]!
    const output = folds.outputs[i]!
    if (absentInputs !== undefined && absentInputs[input] === 1) continue
    const value = scaledBy(batch.values[input]!, folds.multiply[i]!, folds.divide[i]!)
    const low = folds.low[i]!
    if (!Number.isNaN(low) && !(value >= low && value <= folds.high[i]!)) {
      outside.count(output)
      continue
    }
    const current = moved.values[output]!
    const wins = folds.isMax[i] === 1 && (value > current || Number.isNaN(current))
    if (missing[output] === 0 && !wins) continue
    missing[output] = 0
    moved.values[output] = value
    if (moved.times !== undefined) moved.times[output] = batch.times![input]!
    if (moved.starts !== undefined) moved.starts[output] = batch.starts![input]!
  }
}

function flags(batch: Batch): Uint8Array | undefined {
  if (batch.absent === undefined) return undefined
  const set = new Uint8Array(columnCount(batch.layout))
  for (const column of batch.absent) set[column] = 1
  return set
}

/** The columns whose flag is set; undefined if none is. */
export function columnsOf(set: Uint8Array): Uint32Array | undefined {
  let count = 0
  for (const flag of set) count += flag
  if (count === 0) return undefined
  const columns = new Uint32Array(count)
  for (let i = 0, next = 0; i < set.length; i++) if (set[i] === 1) columns[next++] = i
  return columns
}
