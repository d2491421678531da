/** Several plans in a row as one, for batches that have a sample in every column and every number within its range. */
import type { Batch } from './batch.ts'
import { columnCount, type Layout } from './layout.ts'
import { move, type Plan, type Ranges } from './plan.ts'
import { sharedNumbers } from './shared.ts'

/** From one layout to another. */
export type Composed = {
  readonly output: Layout
  /** For each outgoing column the incoming one. Undefined: every column stays where it is. */
  readonly gather: Uint32Array | undefined
}

export function stay(layout: Layout): Composed {
  return { output: layout, gather: undefined }
}

/** Plans with folds cannot be composed. */
export function compose(first: Composed, { output, gather }: Plan): Composed {
  if (gather === undefined) return { output, gather: first.gather }
  if (first.gather === undefined) return { output, gather }
  const { gather: before } = first
  return { output, gather: sharedNumbers(gather.map(column => before[column]!)) }
}

/** The batch at the end of the way. */
export function runComposed({ output, gather }: Composed, batch: Batch): Batch {
  if (output === batch.layout) return batch
  const { source, timeMs, outcome, values, times, starts } = batch
  return {
    source,
    timeMs,
    outcome,
    layout: output,
    values: gather === undefined ? values : move(values, gather),
    absent: undefined,
    times: times === undefined || gather === undefined ? times : move(times, gather),
    starts: starts === undefined || gather === undefined ? starts : move(starts, gather),
  }
}

/**
 * The ranges of several plans in a row, by incoming column of the first of them: numbers are not multiplied on the way, so all can be
 * looked at before anything is moved.
 */
export class RangesBefore {
  readonly #columns: number[] = []
  readonly #low: number[] = []
  readonly #high: number[] = []

  /** `composed` is the way to the end of the plan that has these ranges. */
  add({ ranges }: Plan, { gather }: Composed): void {
    if (ranges === undefined) return
    const { columns, low, high } = ranges
    for (let i = 0; i < columns.length; i++) {
      const column = columns[i]!
      this.#columns.push(gather === undefined ? column : gather[column]!)
      this.#low.push(low[i]!)
      this.#high.push(high[i]!)
    }
  }

  finish(): Ranges | undefined {
    if (this.#columns.length === 0) return undefined
    return sharedRanges(
      sharedNumbers(Uint32Array.from(this.#columns)),
      sharedNumbers(Float64Array.from(this.#low)),
      sharedNumbers(Float64Array.from(this.#high)),
    )
  }
}

const rangesByColumns = new WeakMap<Uint32Array, readonly Ranges[]>()

/** Of lists that are kept once: targets of one kind have the same ranges, too. */
function sharedRanges(columns: Uint32Array, low: Float64Array, high: Float64Array): Ranges {
  const known = rangesByColumns.get(columns) ?? []
  const same = known.find(one => one.low === low && one.high === high)
  if (same !== undefined) return same
  const ranges = { columns, low, high }
  rangesByColumns.set(columns, [...known, ranges])
  return ranges
}

export function isEmpty({ output }: Composed): boolean {
  return columnCount(output) === 0
}
