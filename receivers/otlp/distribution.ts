/** The columns of one histogram or summary, and, of one that comes as deltas, what has come so far. */
import type { Numbers } from '../../pipeline/formats/otlp-points.ts'
import type { Labels } from '../../pipeline/model/labels.ts'
import type { ExponentialGrid } from './exponential-buckets.ts'

export type Distribution = {
  /** Those that all its series have. */
  readonly labels: Labels
  /** False before the first point. */
  readonly isShaped: boolean
  /** Bounds of buckets without the last, which is infinite; or quantiles. */
  readonly bounds: Float64Array
  /** One for each bound. */
  readonly columns: Int32Array
  /** Of histograms: the bucket without a bound. -1 for summaries. */
  readonly restColumn: number
  /** -1 where no sum has come. */
  readonly sumColumn: number
  readonly countColumn: number
  readonly grid?: ExponentialGrid
  readonly totals?: Totals
}

/** Counts of buckets, the last one without a bound. */
export class Totals {
  now: { buckets: Float64Array; sum: number; count: number }
  #kept: { buckets: Float64Array; sum: number; count: number }

  constructor(buckets: Float64Array, sum = 0, count = 0) {
    this.now = { buckets, sum, count }
    this.#kept = this.#copy(this.now)
  }

  add(buckets: Numbers, sum: number, count: number): void {
    const { now } = this
    for (let i = 0; i < buckets.length; i++) now.buckets[i] = now.buckets[i]! + buckets.values[i]!
    if (!Number.isNaN(sum)) now.sum += sum
    now.count += count
  }

  /**
   * The same with other bounds, among which are those of before that still matter: what a bucket counted counts in the one that
   * has its bound, or the next above.
   */
  withBounds(before: Float64Array, bounds: Float64Array): Totals {
    const buckets = new Float64Array(bounds.length + 1)
    let at = 0
    this.now.buckets.forEach((count, i) => {
      const bound = before[i] ?? Infinity
      while (at < bounds.length && bounds[at]! < bound) at++
      buckets[at] = buckets[at]! + count
    })
    return new Totals(buckets, this.now.sum, this.now.count)
  }

  keep(): void {
    this.#kept = this.#copy(this.now)
  }

  undo(): void {
    this.now = this.#copy(this.#kept)
  }

  #copy({ buckets, sum, count }: { buckets: Float64Array; sum: number; count: number }) {
    return { buckets: buckets.slice(), sum, count }
  }
}

export function hasBounds({ bounds }: Distribution, wanted: Numbers): boolean {
  if (bounds.length !== wanted.length) return false
  for (let i = 0; i < bounds.length; i++) if (bounds[i] !== wanted.values[i]) return false
  return true
}

export function emptyDistribution(countColumn: number, labels: Labels): Distribution {
  const none = { bounds: new Float64Array(0), columns: new Int32Array(0), restColumn: -1, sumColumn: -1 }
  return { ...none, isShaped: false, countColumn, labels }
}

export function columnsOf({ columns, restColumn, sumColumn, countColumn }: Distribution): number[] {
  return [...columns, restColumn, sumColumn, countColumn].filter(column => column >= 0)
}

export function renumber(distribution: Distribution, numbers: Int32Array): Distribution {
  const { columns, restColumn, sumColumn, countColumn } = distribution
  return {
    ...distribution,
    columns: columns.map(column => numbers[column]!),
    restColumn: restColumn < 0 ? -1 : numbers[restColumn]!,
    sumColumn: sumColumn < 0 ? -1 : numbers[sumColumn]!,
    countColumn: numbers[countColumn]!,
  }
}
