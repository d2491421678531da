/**
 * Tables that keep indexes as they are written, so that who looks for objects by something other than their key need not read all.
 * An index is a table itself: what was found in it can be depended on.
 */
import type { Tracked } from '../model/tracked.ts'

export type Index<V> = {
  /** From what a value is found by to the keys of all values that are found by it. */
  readonly table: Tracked<readonly string[]>
  /** What a value is found by; the same list for values that are found by nothing costs nothing. */
  readonly by: (value: V) => readonly string[]
}

export const BY_NOTHING: readonly string[] = []

export function indexed<V>(table: Tracked<V>, indexes: readonly Index<V>[]): Tracked<V> {
  function change(key: string, before: V | undefined, now: V | undefined): void {
    for (const { table: index, by } of indexes) {
      const from = before === undefined ? BY_NOTHING : by(before)
      const to = now === undefined ? BY_NOTHING : by(now)
      if (from === to) continue
      for (const one of from) if (!to.includes(one)) remove(index, one, key)
      for (const one of to) if (!from.includes(one)) add(index, one, key)
    }
  }

  return {
    get size() {
      return table.size
    },
    entry: key => table.entry(key),
    at: key => table.at(key),
    get: key => table.get(key),
    values: () => table.values(),
    set(key, value) {
      const before = table.get(key)
      table.set(key, value)
      if (before !== value) change(key, before, value)
    },
    delete(key) {
      const before = table.get(key)
      table.delete(key)
      change(key, before, undefined)
    },
  }
}

function add(index: Tracked<readonly string[]>, by: string, key: string): void {
  const known = index.get(by)
  // Most lists have one key: a literal takes no more room than that.
  index.set(by, known === undefined ? [key] : [...known, key])
}

function remove(index: Tracked<readonly string[]>, by: string, key: string): void {
  const rest = (index.get(by) ?? BY_NOTHING).filter(one => one !== key)
  if (rest.length === 0) index.delete(by)
  else index.set(by, rest)
}
