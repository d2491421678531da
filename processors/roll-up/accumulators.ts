/**
 * What is added up for the groups of a metric. Accumulators of parts can be merged: the roll-up of parts is the roll-up of the whole, to
 * the last bit where the numbers are integers.
 */
import type { Aggregate } from '../../pipeline/catalog/output-schema.ts'
import { roomFor } from './room.ts'

/** By slot of the group. `count` is how many contributed; 0 is no series. */
export type Accumulators = {
  readonly count: Float64Array
  /** Sum, weighted sum, minimum, maximum or latest time, as the aggregate needs it. */
  readonly main: Float64Array
  /** Sum of weights, or of what is divided by. */
  readonly other: Float64Array
}

export type Contribution = {
  /** By contributor: the slot of its group, 0 for none. */
  readonly slots: Uint32Array
  /** How many contributors there are; arrays may be longer. */
  readonly length: number
  /** NaN where it has no value. */
  readonly values: Float64Array
  readonly weights: Float64Array | undefined
  /** For `ratio`. */
  readonly over: Float64Array | undefined
}

export function createAccumulators(slots: number, aggregate: Aggregate): Accumulators {
  const main = new Float64Array(slots).fill(beginningOf(aggregate))
  return { count: new Float64Array(slots), main, other: new Float64Array(slots) }
}

/** Memory in which one metric after another is added up, so that it stays near the processor: what is in it holds until the next. */
export class Workspace {
  #count = new Float64Array(0)
  #main = new Float64Array(0)
  #other = new Float64Array(0)

  /** As new. */
  accumulators(slots: number, aggregate: Aggregate): Accumulators {
    this.#count = roomFor(this.#count, slots)
    this.#main = roomFor(this.#main, slots)
    this.#other = roomFor(this.#other, slots)
    return {
      count: this.#count.subarray(0, slots).fill(0),
      main: this.#main.subarray(0, slots).fill(beginningOf(aggregate)),
      other: this.#other.subarray(0, slots).fill(0),
    }
  }
}

function beginningOf(aggregate: Aggregate): number {
  return aggregate === 'min' ? Infinity : aggregate === 'max' || aggregate === 'last_active' ? -Infinity : 0
}

/** Loops over typed arrays, one for each way to add: this is what a flush costs. */
export function accumulate(
  { count, main, other }: Accumulators,
  aggregate: Aggregate,
  { slots, length, values, weights, over }: Contribution,
): void {
  switch (aggregate) {
    case 'mean':
      if (weights === undefined) {
        for (let i = 0; i < length; i++) {
          const value = values[i]!
          if (value !== value) continue
          const slot = slots[i]!
          main[slot]! += value
          count[slot]!++
        }
        other.set(count)
        return
      }
      for (let i = 0; i < length; i++) {
        const value = values[i]!
        if (value !== value) continue
        const slot = slots[i]!
        main[slot]! += value * weights[i]!
        other[slot]! += weights[i]!
        count[slot]!++
      }
      return
    case 'ratio':
      for (let i = 0; i < length; i++) {
        const value = values[i]!
        const divisor = over![i]!
        if (value !== value || divisor !== divisor) continue
        const slot = slots[i]!
        main[slot]! += value
        other[slot]! += divisor
        count[slot]!++
      }
      return
    case 'min':
      for (let i = 0; i < length; i++) {
        const value = values[i]!
        if (value !== value) continue
        const slot = slots[i]!
        if (value < main[slot]!) main[slot] = value
        count[slot]!++
      }
      return
    case 'max':
    case 'last_active':
      for (let i = 0; i < length; i++) {
        const value = values[i]!
        if (value !== value) continue
        const slot = slots[i]!
        if (value > main[slot]!) main[slot] = value
        count[slot]!++
      }
      return
    case 'count':
      for (let i = 0; i < length; i++) {
        const value = values[i]!
        if (value !== value) continue
        const slot = slots[i]!
        main[slot]!++
        count[slot]!++
      }
      return
    case 'any':
      for (let i = 0; i < length; i++) {
        const value = values[i]!
        if (value !== value) continue
        const slot = slots[i]!
        if (value > 0) main[slot] = 1
        count[slot]!++
      }
      return
    default:
      for (let i = 0; i < length; i++) {
        const value = values[i]!
        if (value !== value) continue
        const slot = slots[i]!
        main[slot]! += value
        count[slot]!++
      }
  }
}

/** What a slot of one becomes together with a slot of another, which stays as it is. */
export function mergeSlot(
  into: Accumulators,
  slot: number,
  from: Accumulators,
  fromSlot: number,
  aggregate: Aggregate,
): void {
  if (from.count[fromSlot] === 0) return
  const isFirst = into.count[slot] === 0
  into.count[slot]! += from.count[fromSlot]!
  into.other[slot]! += from.other[fromSlot]!
  const [one, other] = [into.main[slot]!, from.main[fromSlot]!]
  into.main[slot] = isFirst ? other : (MERGES[aggregate] ?? added)(one, other)
}

/** What does not add up. Times of a workload that several parts know are of the same time: the parts tell at least, or at most, that. */
const MERGES: Readonly<Partial<Record<Aggregate, (one: number, other: number) => number>>> = {
  min: Math.min,
  max: Math.max,
  last_active: Math.max,
  any: Math.max,
  idle_seconds: Math.min,
  seconds_in_phase: Math.max,
}

function added(one: number, other: number): number {
  return one + other
}

/** The results by slot; NaN where there is none. They may be put where the sums are. `complement` is what is missing to 1. */
export function finish(
  { aggregate, complement }: { readonly aggregate: Aggregate; readonly complement: boolean },
  { count, main, other }: Accumulators,
  results: Float64Array = new Float64Array(count.length),
): Float64Array {
  const { length } = count
  switch (aggregate) {
    case 'mean':
    case 'ratio':
      // Where nothing contributed, nothing was weighed either.
      for (let slot = 0; slot < length; slot++) results[slot] = other[slot] === 0 ? NaN : main[slot]! / other[slot]!
      break
    case 'info':
      for (let slot = 0; slot < length; slot++) results[slot] = count[slot] === 0 ? NaN : 1
      break
    default:
      for (let slot = 0; slot < length; slot++) results[slot] = count[slot] === 0 ? NaN : main[slot]!
  }
  if (complement) for (let slot = 0; slot < length; slot++) results[slot] = 1 - results[slot]!
  return results
}
