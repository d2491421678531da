/** The points of histograms and summaries, put together from the series that they travel as. */
import type { Batch } from '../model/batch.ts'
import { applyScale } from '../model/scale.ts'
import type { EncodePlan } from './otlp-encode-plan.ts'
import type { PlannedComposites } from './otlp-planned-composites.ts'
import type { HistogramPoint, SummaryPoint } from './otlp-request-writer.ts'

const NO_BOUNDS = { values: new Float64Array(0), bytes: new Uint8Array(0) }

/** Each is filled again and again: a point holds until the next is read. */
export class CompositePoints {
  readonly #dropNotANumber: boolean
  readonly histogram: HistogramPoint = {
    isEnded: false,
    count: 0,
    hasSum: false,
    sum: 0,
    bounds: NO_BOUNDS,
    buckets: new Float64Array(64),
  }
  readonly summary: SummaryPoint = {
    isEnded: false,
    count: 0,
    sum: 0,
    quantiles: new Float64Array(64),
    values: new Float64Array(64),
    length: 0,
  }

  constructor(dropNotANumber: boolean) {
    this.#dropNotANumber = dropNotANumber
  }

  /**
   * Buckets count what is in those below, too; OTLP's do not. Where a scrape caught a histogram in the middle of a change, a bucket
   * never has less than the one below it, and the number of observations is what is in the buckets. False if a part is no number.
   */
  readHistogram(
    plan: EncodePlan,
    composites: PlannedComposites,
    i: number,
    batch: Batch,
    isAbsent: Uint8Array | undefined,
  ): boolean {
    const point = this.#histogramWith(composites, i)
    const { length } = point.bounds.values
    let below = 0
    const from = composites.partStarts[i]!
    for (let part = 0; part < length; part++) {
      const value = countOf(plan, batch, composites.parts[from + part]!, isAbsent)
      if (Number.isNaN(value)) return false
      point.buckets[part] = Math.max(0, value - below)
      below = Math.max(below, value)
    }
    const total = composites.totals[i]! >= 0 ? composites.totals[i]! : composites.counts[i]!
    const value = countOf(plan, batch, total, isAbsent)
    if (Number.isNaN(value)) return false
    point.count = Math.max(below, value)
    point.buckets[length] = point.count - below
    const sumAt = composites.sums[i]!
    point.sum = sumAt < 0 ? NaN : valueOf(plan, batch, sumAt, isAbsent)
    point.hasSum = sumAt >= 0 && isAbsent?.[sumAt] !== 1
    if (this.#dropNotANumber && !Number.isFinite(point.sum)) point.hasSum = false
    return true
  }

  /** A receiver that has a series for each part ends those that are told: so all parts are there, with nothing in them. */
  endHistogram(composites: PlannedComposites, i: number): void {
    const point = this.#histogramWith(composites, i)
    point.isEnded = true
    point.buckets.fill(0)
    point.count = point.sum = 0
    point.hasSum = composites.sums[i]! >= 0
  }

  #histogramWith(composites: PlannedComposites, i: number): HistogramPoint {
    const point = this.histogram
    point.bounds = composites.bounds[composites.boundsOf[i]!]!
    const { length } = point.bounds.values
    if (point.buckets.length <= length) point.buckets = new Float64Array(2 * length)
    point.isEnded = false
    return point
  }

  readSummary(
    plan: EncodePlan,
    composites: PlannedComposites,
    i: number,
    batch: Batch,
    isAbsent: Uint8Array | undefined,
  ): boolean {
    const { values: quantiles } = composites.bounds[composites.boundsOf[i]!]!
    const point = this.#summaryWith(quantiles)
    point.count = countOf(plan, batch, composites.counts[i]!, isAbsent)
    if (Number.isNaN(point.count)) return false
    const sum = composites.sums[i]! < 0 ? 0 : valueOf(plan, batch, composites.sums[i]!, isAbsent)
    if (this.#dropNotANumber && !Number.isFinite(sum)) return false
    point.sum = sum
    point.length = 0
    const from = composites.partStarts[i]!
    for (let part = 0; part < quantiles.length; part++) {
      const column = composites.parts[from + part]!
      if (isAbsent !== undefined && isAbsent[column] === 1) continue
      const value = valueOf(plan, batch, column, isAbsent)
      // A summary over a time in which nothing happened has quantiles that are no numbers.
      if (this.#dropNotANumber && !Number.isFinite(value)) continue
      point.quantiles[point.length] = quantiles[part]!
      point.values[point.length++] = value
    }
    return true
  }

  endSummary(composites: PlannedComposites, i: number): void {
    const { values: quantiles } = composites.bounds[composites.boundsOf[i]!]!
    const point = this.#summaryWith(quantiles)
    point.isEnded = true
    point.quantiles.set(quantiles)
    point.values.fill(0)
    point.length = quantiles.length
    point.count = point.sum = 0
  }

  #summaryWith(quantiles: Float64Array): SummaryPoint {
    const point = this.summary
    if (point.values.length < quantiles.length) {
      point.quantiles = new Float64Array(2 * quantiles.length)
      point.values = new Float64Array(2 * quantiles.length)
    }
    point.isEnded = false
    return point
  }
}

function valueOf({ layout }: EncodePlan, batch: Batch, column: number, isAbsent: Uint8Array | undefined): number {
  if (isAbsent !== undefined && isAbsent[column] === 1) return NaN
  return applyScale(batch.values[column]!, layout.scales[layout.metricOf[column]!]!)
}

/** NaN if it is none: not there, negative, or more than a 64-bit integer holds. */
function countOf(plan: EncodePlan, batch: Batch, column: number, isAbsent: Uint8Array | undefined): number {
  const value = Math.round(valueOf(plan, batch, column, isAbsent))
  return value >= 0 && value < 2 ** 64 ? value : NaN
}
