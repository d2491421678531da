/** Stretches of time, in order and without overlap, in milliseconds: [from, to, from, to ...]. */
export type Intervals = readonly number[]

/** All time that is in one or the other. */
export function union(one: Intervals, other: Intervals): Intervals {
  if (other.length === 0) return one
  if (one.length === 0) return other
  const pairs: [number, number][] = []
  for (const list of [one, other]) for (let i = 0; i < list.length; i += 2) pairs.push([list[i]!, list[i + 1]!])
  pairs.sort(([a], [b]) => a - b)
  const result: number[] = []
  for (const [from, to] of pairs) {
    const last = result.length - 1
    if (last > 0 && from <= result[last]!) result[last] = Math.max(result[last]!, to)
    else result.push(from, to)
  }
  return result
}

export function lengthOf(intervals: Intervals): number {
  let sum = 0
  for (let i = 0; i < intervals.length; i += 2) sum += intervals[i + 1]! - intervals[i]!
  return sum
}

/** One stretch; none if an end is not known or it would go backwards. */
export function interval(fromMs: number | undefined, toMs: number | undefined): Intervals {
  return fromMs === undefined || toMs === undefined || !(toMs > fromMs) ? [] : [fromMs, toMs]
}
