/**
 * Lists of numbers that most plans have, kept once and as long as the longest: where each label set is a resource of its own, groups are
 * numbered like label sets, and points have no attributes.
 */
import { SLACK } from './otlp-dialect.ts'

let ascending = new Int32Array(0)
let startsOfNothing = new Uint32Array(0)

/** A list that is the same but for where it lies, if it counts up from 0, else the list itself. */
export function shareAscending(list: Int32Array): Int32Array {
  for (let i = 0; i < list.length; i++) if (list[i] !== i) return list
  if (ascending.length < list.length) {
    ascending = new Int32Array(roomFor(list.length))
    for (let i = 0; i < ascending.length; i++) ascending[i] = i
  }
  return ascending.subarray(0, list.length)
}

/** The same for where strings begin, if all but the first, which is the slack, are empty. */
export function shareStarts(starts: Uint32Array): Uint32Array {
  if (starts[0] !== 0) return starts
  for (let i = 1; i < starts.length; i++) if (starts[i] !== SLACK) return starts
  if (startsOfNothing.length < starts.length) {
    startsOfNothing = new Uint32Array(roomFor(starts.length)).fill(SLACK, 1)
  }
  return startsOfNothing.subarray(0, starts.length)
}

function roomFor(length: number): number {
  return Math.ceil(length * 1.25)
}
