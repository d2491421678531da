/**
 * The contributors of a metric in the order of its columns: what is added up lies side by side, and results are written one after the
 * other, straight into a batch. An order holds for as long as nobody comes, goes or moves, and no series does.
 */

import { resized } from './room.ts'

/** Where the results of a metric are in a batch: columns ascend with slots, without a gap. */
export type Shape = {
  /** By slot of the group, counted from the first; -1 where there is no series. Metrics with the same series may share them. */
  readonly columns: Int32Array
  readonly first: number
  readonly length: number
}

export function haveSameColumns(one: Int32Array, other: Int32Array): boolean {
  if (one === other) return true
  if (one.length !== other.length) return false
  const { length } = one
  for (let slot = 0; slot < length; slot++) if (one[slot] !== other[slot]) return false
  return true
}

/** Who belongs to which group, and where in a column of values the value of each is. */
export type Placed = {
  /** By place; 0 is no group. There may be more room than places. */
  readonly slots: Uint32Array
  readonly length: number
  /** By place; -1 is nowhere. Undefined where values are by place. */
  readonly numbers: Int32Array | undefined
  /** By place; undefined where all weigh 1. */
  readonly weights: Float64Array | undefined
}

/** Metrics with the same series share one: columns count from the first of the metric. */
export type Order = {
  /** By column: where the value of its first contributor is. Where it is the only one, and weighs 1, that is the result. */
  readonly firsts: Int32Array<ArrayBuffer>
  /** All other columns. */
  readonly several: Int32Array<ArrayBuffer>
  /** By column, and one more: where its contributors begin. */
  readonly begins: Int32Array<ArrayBuffer>
  /** By contributor, those of a column in the order of their places: where its value is, and what it weighs. */
  readonly members: Int32Array<ArrayBuffer>
  readonly weights: Float64Array<ArrayBuffer> | undefined
  /** Where the values of those are whose groups have no series, because nobody in them has a value. */
  readonly silent: Int32Array<ArrayBuffer>
}

/** Undefined if nobody contributes to some series. */
export function orderOf(placed: Placed, { columns, length: width }: Shape): Order | undefined {
  const { slots, length, numbers, weights } = placed
  const begins = new Int32Array(width + 1)
  let silentCount = 0
  for (let place = 0; place < length; place++) {
    if (!counts(placed, place)) continue
    const column = columns[slots[place]!]!
    if (column < 0) silentCount++
    else begins[column + 1]!++
  }
  for (let column = 0; column < width; column++) {
    if (begins[column + 1] === 0) return undefined
    begins[column + 1]! += begins[column]!
  }
  const next = begins.slice()
  const members = new Int32Array(begins[width]!)
  const itsWeights = weights && new Float64Array(members.length)
  const silent = new Int32Array(silentCount)
  for (let place = 0; place < length; place++) {
    if (!counts(placed, place)) continue
    const number = numbers === undefined ? place : numbers[place]!
    const column = columns[slots[place]!]!
    if (column < 0) {
      silent[--silentCount] = number
      continue
    }
    const at = next[column]!++
    members[at] = number
    if (itsWeights !== undefined) itsWeights[at] = weights![place]!
  }
  resized(next, 0)
  const { firsts, several } = apart(begins, members, itsWeights)
  const whole = { firsts, several, begins, members, weights: itsWeights, silent }
  if (several.length > 0) return whole
  // Where all are alone nothing else is asked for.
  for (const array of [several, begins, members, itsWeights]) if (array !== undefined) resized(array, 0)
  return { firsts, several: NONE, begins: NONE, members: NONE, weights: undefined, silent }
}

const NONE = new Int32Array(0)

/** Gives the memory of an order back at once: it has lived until something changed, so it is old, and is made anew for all that there is. */
export function dropOrder({ firsts, several, begins, members, weights, silent }: Order): void {
  for (const array of [firsts, several, begins, members, weights, silent]) {
    if (array !== undefined && array !== NONE) resized(array, 0)
  }
}

function counts({ slots, numbers }: Placed, place: number): boolean {
  return slots[place] !== 0 && (numbers === undefined || numbers[place]! >= 0)
}

/** Which columns are one value as it is, and which are not. */
function apart(begins: Int32Array, members: Int32Array, weights: Float64Array | undefined) {
  const firsts = new Int32Array(begins.length - 1)
  const several = new Int32Array(firsts.length)
  let count = 0
  const { length } = firsts
  for (let column = 0; column < length; column++) {
    const begin = begins[column]!
    firsts[column] = members[begin]!
    const isAlone = begins[column + 1]! - begin === 1 && (weights === undefined || weights[begin] === 1)
    if (!isAlone) several[count++] = column
  }
  return { firsts, several: resized(several, count) }
}

export type OrderedAggregate = 'sum' | 'mean' | 'max'

/**
 * Writes sums, means or maxima of values into columns, of which there are as many as in the order: to the last bit what `accumulate` and
 * `finish` make of them. False if a series would have no value, or one that is not there may have one.
 */
export function writeResults(
  order: Order,
  values: Float64Array,
  aggregate: OrderedAggregate,
  columns: Float64Array,
): boolean {
  const { firsts, silent, weights } = order
  const { length } = silent
  for (let i = 0; i < length; i++) {
    const value = values[silent[i]!]!
    if (value === value) return false
  }
  // Sums begin with 0, so that -0 alone is 0. What -0 is added to stays as it is.
  const missing = writeFirsts(firsts, values, aggregate === 'max' ? -0 : 0, columns)
  if (aggregate === 'max') return writeMost(order, values, columns) === missing
  const isMean = aggregate === 'mean'
  const found =
    isMean && weights !== undefined
      ? writeWeighed(order, weights, values, columns)
      : writeSeveral(order, values, isMean, columns)
  return found === missing
}

/** How many have no value. Four at a time, which the compiler does not do: that is half of what a flush costs where groups are small. */
function writeFirsts(firsts: Int32Array, values: Float64Array, zero: number, columns: Float64Array): number {
  const { length } = firsts
  const inFours = length - (length % 4)
  let missing = 0
  for (let column = 0; column < inFours; column += 4) {
    const a = values[firsts[column]!]! + zero
    const b = values[firsts[column + 1]!]! + zero
    const c = values[firsts[column + 2]!]! + zero
    const d = values[firsts[column + 3]!]! + zero
    columns[column] = a
    columns[column + 1] = b
    columns[column + 2] = c
    columns[column + 3] = d
    const any = a + b + c + d
    if (any !== any) missing += Number(a !== a) + Number(b !== b) + Number(c !== c) + Number(d !== d)
  }
  for (let column = inFours; column < length; column++) {
    const value = values[firsts[column]!]! + zero
    columns[column] = value
    if (value !== value) missing++
  }
  return missing
}

/** How many have a value although their first contributor has none; NaN if one has no value. */
function writeSeveral(
  { several, begins, members }: Order,
  values: Float64Array,
  isMean: boolean,
  columns: Float64Array,
): number {
  const { length } = several
  let found = 0
  for (let i = 0; i < length; i++) {
    const column = several[i]!
    const begin = begins[column]!
    const end = begins[column + 1]!
    let sum = 0
    for (let at = begin; at < end; at++) sum += values[members[at]!]!
    let result = isMean ? sum / (end - begin) : sum
    if (result !== result) {
      // Somebody has no value.
      result = sumOfKnown(members, begin, end, values, isMean)
      if (result !== result) return NaN
      if (Number.isNaN(columns[column])) found++
    }
    columns[column] = result
  }
  return found
}

function sumOfKnown(members: Int32Array, begin: number, end: number, values: Float64Array, isMean: boolean): number {
  let sum = 0
  let count = 0
  for (let at = begin; at < end; at++) {
    const value = values[members[at]!]!
    if (value !== value) continue
    sum += value
    count++
  }
  return count === 0 ? NaN : isMean ? sum / count : sum
}

/** The same for the largest. */
function writeMost({ several, begins, members }: Order, values: Float64Array, columns: Float64Array): number {
  const { length } = several
  let found = 0
  for (let i = 0; i < length; i++) {
    const column = several[i]!
    const end = begins[column + 1]!
    let most = NaN
    for (let at = begins[column]!; at < end; at++) {
      const value = values[members[at]!]!
      if (value > most || most !== most) most = value
    }
    if (most !== most) return NaN
    if (Number.isNaN(columns[column])) found++
    columns[column] = most
  }
  return found
}

/** The same for means of what does not weigh the same. */
function writeWeighed(
  { several, begins, members }: Order,
  weights: Float64Array,
  values: Float64Array,
  columns: Float64Array,
): number {
  const { length } = several
  let found = 0
  for (let i = 0; i < length; i++) {
    const column = several[i]!
    const end = begins[column + 1]!
    let sum = 0
    let weight = 0
    for (let at = begins[column]!; at < end; at++) {
      const value = values[members[at]!]!
      if (value !== value) continue
      sum += value * weights[at]!
      weight += weights[at]!
    }
    const result = weight === 0 ? NaN : sum / weight
    if (result !== result) return NaN
    if (Number.isNaN(columns[column])) found++
    columns[column] = result
  }
  return found
}
