/**
 * Targets of one kind have the same columns in the same order, and so have the plans for them. Lists that say nothing about a single
 * target are therefore kept once: a thousand exporters of one version need the room of one.
 */
import { createInternTable } from './intern.ts'

/** Longer ones belong to sources that there are few of, and comparing them would cost more than it saves. */
const MOST_SHARED = 65_536

type Numbers = Uint32Array | Float64Array | Uint8Array

const numberLists = createInternTable<Numbers>()
const objectLists = createInternTable<readonly object[]>()
const objectNumbers = new WeakMap<object, number>()
let lastObjectNumber = 0

/** An array with the same numbers, which nobody writes into. */
export function sharedNumbers<A extends Numbers>(array: A): A {
  if (array.length > MOST_SHARED) return array
  let hash = array.BYTES_PER_ELEMENT
  for (let i = 0; i < array.length; i++) hash = Math.imul(hash ^ hashable(array[i]!), 0x01000193)
  return numberLists.intern(
    hash,
    known => known.constructor === array.constructor && sameNumbers(known, array),
    () => array,
  ) as A
}

/** A list of the same objects, which nobody writes into. */
export function sharedList<T extends object>(list: readonly T[]): readonly T[] {
  if (list.length > MOST_SHARED) return list
  let hash = 0x811c9dc5
  for (const item of list) hash = Math.imul(hash ^ numberOf(item), 0x01000193)
  return objectLists.intern(
    hash,
    known => sameItems(known, list),
    // A list that grew has room for more, which a copy has not.
    () => list.slice(),
  ) as readonly T[]
}

export function sameItems(a: readonly unknown[], b: readonly unknown[]): boolean {
  if (a === b) return true
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false
  return true
}

/** Fractions below one differ, too. */
function hashable(value: number): number {
  return Number.isInteger(value) ? value | 0 : (value * 0x9e3779b1) | 0
}

/** Two that are NaN at the same place are the same. */
function sameNumbers(a: Numbers, b: Numbers): boolean {
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) if (!Object.is(a[i], b[i])) return false
  return true
}

function numberOf(item: object): number {
  let number = objectNumbers.get(item)
  if (number === undefined) objectNumbers.set(item, (number = ++lastObjectNumber))
  return number
}

/**
 * Things that are made one after the other are often equal, as what is found out of each GPU of one pod is: then they are one object.
 * It needs no table.
 */
export function sharedWithLast<T>(isSame: (one: T, other: T) => boolean): (one: T) => T {
  let last: T | undefined
  return one => {
    if (last === undefined || !isSame(last, one)) last = one
    return last
  }
}

/** Of few kinds; but nothing may fill a table for ever. */
const MOST_BY_TEXT = 1000

/** Things of which there are few kinds are one object of each kind, which a text tells apart. */
export function sharedByText<T>(textOf: (one: T) => string): (one: T) => T {
  const known = new Map<string, T>()
  return one => {
    const text = textOf(one)
    const same = known.get(text)
    if (same !== undefined) return same
    if (known.size >= MOST_BY_TEXT) known.clear()
    known.set(text, one)
    return one
  }
}
