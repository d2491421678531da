/**
 * Clears the places of tables whose things are held weakly: what nobody uses any more is collected, and its place is free afterwards.
 *
 * To be told of the end of an object costs more memory than its place, so only one in sixty-four is watched; when one of those has ended,
 * more places are looked at than have become free meanwhile.
 */

/** One of so many is watched. Which one is a matter of chance, because things that end together are often made in a pattern. */
const WATCHED = 64
/** Four for each that has ended: of the places in the table at most a quarter is free to be cleared. */
const SWEPT = 4 * WATCHED

export class Sweeper {
  readonly #sweep: (count: number) => void
  readonly #registry = new FinalizationRegistry<undefined>(() => this.#sweep(SWEPT))

  /** `sweep` looks at so many places of the table, each time at the next ones, and clears those whose thing has been collected. */
  constructor(sweep: (count: number) => void) {
    this.#sweep = sweep
  }

  /** To be called for each thing that gets a place, with a hash of it. */
  added(thing: object, hash: number): void {
    if (!isWatched(hash)) return
    this.#registry.register(thing, undefined)
    this.#sweep(1)
  }
}

/** Looks at the places of a map in turn. An iterator that stands still would hold the memory that a map had before it grew. */
export function sweepMap<K, P>(table: Map<K, P>, clear: (key: K, place: P) => void): (count: number) => void {
  let places = table.entries()
  return count => {
    for (let i = 0; i < count; i++) {
      const next = places.next()
      if (next.done === true) {
        places = table.entries()
        return
      }
      clear(...next.value)
    }
  }
}

function isWatched(hash: number): boolean {
  return Math.imul(hash, 0x9e3779b1) >>> 0 < 2 ** 32 / WATCHED
}
