/**
 * Metadata that plans look at: a table whose entries can be depended on, also those that are not there yet.
 *
 * A reader keeps the entry and the version it saw. When the version differs, what was derived from the entry is out of date;
 * as long as `trackedChanges()` is the same, no entry of any table needs to be looked at.
 */
import { hashString } from './intern.ts'
import { Sweeper } from './sweeper.ts'

/** One key of a table. `value` is undefined while nobody has said anything about the key. */
export type Entry<V> = { readonly value: V | undefined; readonly version: number }

export type Tracked<V> = {
  readonly size: number
  /** The entry of a key, the same object for as long as somebody holds it. */
  entry(key: string): Entry<V>
  /** The value alone, for whoever will not come back to see whether it changed. */
  get(key: string): V | undefined
  set(key: string, value: V): void
  delete(key: string): void
  values(): Iterable<V>
}

let changes = 0

/** Grows with every change of any entry of any table. */
export function trackedChanges(): number {
  return changes
}

type MutableEntry<V> = { value: V | undefined; version: number }

export function createTracked<V>(): Tracked<V> {
  const present = new Map<string, MutableEntry<V>>()
  // Keys that were asked for and are not there: held for as long as a plan holds them.
  const missing = new Map<string, WeakRef<MutableEntry<V>>>()
  const sweeper = new Sweeper(missing, (key, entry) => {
    if (entry.deref() === undefined) missing.delete(key)
  })

  function hold(key: string, entry: MutableEntry<V>): void {
    missing.set(key, new WeakRef(entry))
    sweeper.added(entry, hashString(key))
  }

  function change(entry: MutableEntry<V>, value: V | undefined): void {
    entry.value = value
    entry.version++
    changes++
  }

  return {
    get size() {
      return present.size
    },
    entry(key) {
      let entry = present.get(key) ?? missing.get(key)?.deref()
      if (entry === undefined) hold(key, (entry = { value: undefined, version: 0 }))
      return entry
    },
    get: key => present.get(key)?.value,
    set(key, value) {
      let entry = present.get(key)
      if (entry === undefined) {
        entry = missing.get(key)?.deref() ?? { value: undefined, version: 0 }
        missing.delete(key)
        present.set(key, entry)
      }
      if (entry.value !== value) change(entry, value)
    },
    delete(key) {
      const entry = present.get(key)
      if (entry === undefined) return
      present.delete(key)
      hold(key, entry)
      change(entry, undefined)
    },
    *values() {
      for (const entry of present.values()) yield entry.value as V
    },
  }
}
