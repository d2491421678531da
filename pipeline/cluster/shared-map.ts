/** What nodes of one kind have alike, and containers of one workload: equal maps of amounts and states are one object. */
import { createInternTable, hashString } from '../model/intern.ts'

const maps = createInternTable<ReadonlyMap<string, string | number>>()

export function sharedMap<V extends string | number>(map: ReadonlyMap<string, V>): ReadonlyMap<string, V> {
  let hash = 0
  for (const [key, value] of map) hash = hashString(`${value}`, hashString(key, hash))
  return maps.intern(
    hash,
    known => isSameMap(known, map),
    () => map,
  ) as ReadonlyMap<string, V>
}

/** Also in the same order. */
function isSameMap(one: ReadonlyMap<string, string | number>, other: ReadonlyMap<string, string | number>): boolean {
  if (one.size !== other.size) return false
  const others = other.entries()
  for (const [key, value] of one) {
    const [otherKey, otherValue] = others.next().value!
    if (key !== otherKey || !Object.is(value, otherValue)) return false
  }
  return true
}
