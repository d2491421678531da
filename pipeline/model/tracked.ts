/**
 * Metadata that plans look at: a table whose entries can be depended on, also those that are not there yet.
 *
 * A reader keeps the entry and the version it saw. When the version differs, what was derived from the entry is out of date;
 * as long as `trackedChanges()` is the same, no entry of any table needs to be looked at.
 */
import { hashString } from './intern.ts'
import { Sweeper, sweepMap } from './sweeper.ts'

/** One key of a table. `value` is undefined while nobody has said anything about the key. */
export type Entry<V> = { readonly value: V | undefined; readonly version: number }

export type Tracked<V> = {
  readonly size: number
  /** The entry of a key, the same object for as long as somebody holds it. */
  entry(key: string): Entry<V>
  /**
   * What to look at for a key, and not to be kept: its entry, or, while the table is empty, one for all keys. Of many tables nobody tells
   * anything, and whoever asks them for everything there is would have them keep all those keys. With the first entry all who asked ask
   * again, so it is for tables that are not emptied and filled by the way.
   */
  at(key: string): Entry<V>
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

class Cell<V> implements Entry<V> {
  value: V | undefined
  version: number

  constructor(value: V | undefined, version: number) {
    this.value = value
    this.version = version
  }
}

export function createTracked<V>(): Tracked<V> {
  // Of most keys nobody asks for the entry: then the value stands for it.
  const present = new Map<string, V | Cell<V>>()
  // Keys that were asked for and are not there: held for as long as a plan holds them.
  const missing = new Map<string, WeakRef<Cell<V>>>()
  const sweep = sweepMap(missing, entry => entry.deref() !== undefined)
  const sweeper = new Sweeper(sweep, () => missing.size)
  let whileEmpty: Cell<V> | undefined

  function entryOf(key: string): Cell<V> {
    const known = present.get(key) ?? missing.get(key)?.deref()
    if (known instanceof Cell) return known
    const entry = new Cell(known, known === undefined ? 0 : 1)
    if (known === undefined) hold(key, entry)
    else present.set(key, entry)
    return entry
  }

  function hold(key: string, entry: Cell<V>): void {
    missing.set(key, new WeakRef(entry))
    sweeper.added(entry, hashString(key))
  }

  function change(entry: Cell<V>, value: V | undefined): void {
    entry.value = value
    entry.version++
  }

  return {
    get size() {
      return present.size
    },
    entry: entryOf,
    at: key => (present.size > 0 ? entryOf(key) : (whileEmpty ??= new Cell<V>(undefined, 0))),
    get: key => valueOf(present.get(key)),
    set(key, value) {
      const known = present.get(key)
      if (valueOf(known) === value) return
      if (whileEmpty !== undefined && present.size === 0) whileEmpty.version++
      const entry = known ?? missing.get(key)?.deref()
      if (entry instanceof Cell) {
        change(entry, value)
        missing.delete(key)
        present.set(key, entry)
      } else present.set(key, value)
      changes++
    },
    delete(key) {
      const known = present.get(key)
      if (known === undefined) return
      present.delete(key)
      if (known instanceof Cell) {
        hold(key, known)
        change(known, undefined)
      }
      changes++
    },
    *values() {
      for (const known of present.values()) yield valueOf(known) as V
    },
  }
}

function valueOf<V>(known: V | Cell<V> | undefined): V | undefined {
  return known instanceof Cell ? known.value : known
}
