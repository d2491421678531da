/**
 * Exponential histograms as classic ones.
 *
 * Bucket i of scale s counts values in (b^i, b^(i+1)], b = 2^(2^-s). Its upper bound is a bound of scale s - 1, too, or the one next to
 * it is: halving the resolution joins neighbours and invents no bounds. So each stream has a grid that becomes only wider and coarser:
 *
 * - Bounds are b^(i+1) for all i between the lowest and the highest that ever came; for negative values -b^i.
 * - Between them is the zero bucket, with the bound `zero_threshold`; buckets that lie below the threshold count there.
 * - Where that were more than MAX_BOUNDS, the scale becomes lower until it is not.
 *
 * A series of the classic histogram therefore ends only when the grid becomes coarser, and every count is exact: only values that
 * lie exactly on a negative bound count above it, where a classic bucket has them below.
 */
import { addNumber, type ExponentialPoint, type Numbers } from '../../pipeline/formats/otlp-points.ts'

/** What OpenTelemetry's own libraries have at most. */
const MAX_BOUNDS = 160

/** Below and above, a double has no more to tell apart. */
const MIN_SCALE = -11
const MAX_SCALE = 20

type Range = { low: number; high: number }

export class ExponentialGrid {
  #scale = MAX_SCALE
  #threshold = 0
  #positive: Range = { low: 0, high: -1 }
  #negative: Range = { low: 0, high: -1 }

  /** What cannot be read, in words, or undefined. */
  static problemOf({ scale, zeroThreshold, positive, negative }: ExponentialPoint): string | undefined {
    if (scale < MIN_SCALE || scale > MAX_SCALE)
      return `has the scale ${scale}, which is not from ${MIN_SCALE} to ${MAX_SCALE}`
    if (!(zeroThreshold >= 0 && zeroThreshold < Infinity)) return `has the zero threshold ${zeroThreshold}`
    if (positive.length > MAX_BUCKETS || negative.length > MAX_BUCKETS) return `has more than ${MAX_BUCKETS} buckets`
    return undefined
  }

  /** Writes the point as a classic histogram, on a grid that has room for it from now on. */
  convert(point: ExponentialPoint, bounds: Numbers, counts: Numbers): void {
    this.#widen(point)
    bounds.length = counts.length = 0
    let waiting = 0

    /** A bound that is not above the one before, or infinite, is none: what it counts belongs to the next. */
    const add = (bound: number, count: number): void => {
      waiting += count
      if (bound === Infinity || (bounds.length > 0 && bound <= bounds.values[bounds.length - 1]!)) return
      addNumber(bounds, bound)
      addNumber(counts, waiting)
      waiting = 0
    }

    const shift = point.scale - this.#scale
    for (let index = this.#negative.high; index >= this.#negative.low; index--) {
      const bound = -boundOf(index, this.#scale)
      const count = countAt(point.negative, point.negativeOffset, index, shift)
      // Within the threshold they are zeros.
      if (bound < -this.#threshold) add(bound, count)
      else waiting += count
    }
    let zeros = point.zeroCount
    let index = this.#positive.low
    for (; index <= this.#positive.high && boundOf(index + 1, this.#scale) <= this.#threshold; index++) {
      zeros += countAt(point.positive, point.positiveOffset, index, shift)
    }
    add(this.#threshold, zeros)
    for (; index <= this.#positive.high; index++) {
      add(boundOf(index + 1, this.#scale), countAt(point.positive, point.positiveOffset, index, shift))
    }
    addNumber(counts, waiting)
  }

  #widen({ scale, zeroThreshold, positive, positiveOffset, negative, negativeOffset }: ExponentialPoint): void {
    this.#threshold = Math.max(this.#threshold, zeroThreshold)
    if (scale < this.#scale) this.#coarsen(this.#scale - scale)
    const shift = scale - this.#scale
    include(this.#positive, positive, positiveOffset, shift)
    include(this.#negative, negative, negativeOffset, shift)
    while (this.#bounds() > MAX_BOUNDS) this.#coarsen(1)
  }

  #bounds(): number {
    return this.#positive.high - this.#positive.low + this.#negative.high - this.#negative.low + 3
  }

  #coarsen(steps: number): void {
    this.#scale -= steps
    for (const range of [this.#positive, this.#negative]) {
      if (range.high < range.low) continue
      range.low = shifted(range.low, steps)
      range.high = shifted(range.high, steps)
    }
  }
}

const MAX_BUCKETS = 100_000

/** Offsets have 32 bits and lists are long, so no shifting of integers. */
function shifted(index: number, steps: number): number {
  return Math.floor(index / 2 ** steps)
}

function boundOf(index: number, scale: number): number {
  return 2 ** (index / 2 ** scale)
}

/** Buckets at the ends that count nothing are not there. */
function include(range: Range, counts: Numbers, offset: number, shift: number): void {
  let first = 0
  let last = counts.length - 1
  while (first <= last && counts.values[first] === 0) first++
  while (last >= first && counts.values[last] === 0) last--
  if (first > last) return
  const low = shifted(offset + first, shift)
  const high = shifted(offset + last, shift)
  const isEmpty = range.high < range.low
  range.low = isEmpty ? low : Math.min(range.low, low)
  range.high = isEmpty ? high : Math.max(range.high, high)
}

/** What the buckets count that are `index` on a grid that is `shift` steps coarser. */
function countAt(counts: Numbers, offset: number, index: number, shift: number): number {
  const size = 2 ** shift
  const from = Math.max(0, index * size - offset)
  const to = Math.min(counts.length, (index + 1) * size - offset)
  let count = 0
  for (let i = from; i < to; i++) count += counts.values[i]!
  return count
}
