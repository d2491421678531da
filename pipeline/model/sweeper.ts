/**
 * Clears the places of tables whose things are held weakly: what nobody uses any more is collected, and its place is free afterwards.
 *
 * To be told of the end of an object costs more memory than its place, so only one in sixty-four is watched; when one of those has ended,
 * many more places are looked at than have become free meanwhile.
 */

/** One of so many is watched. Which one is a matter of chance, because things that end together are often made in a pattern. */
const WATCHED = 64
/** Sixteen for each that has ended: of the places in the table at most a sixteenth is free to be cleared. */
const SWEPT = 16 * WATCHED
/** Whenever one that is watched is added, while there is something to be looked at. */
const SWEPT_BESIDE = 4 * WATCHED

/**
 * What is looked at and still there is held until the job ends, in a list of V8's that takes twenty bytes for each. Thousands end together,
 * and to look for them all at once would make that list as long as the table: the rest is for later jobs.
 */
const MOST_IN_JOB = 4096

export class Sweeper {
  readonly #sweep: (count: number) => void
  readonly #size: () => number
  readonly #registry = new FinalizationRegistry<number>(count => this.#look(count, MOST_IN_JOB))
  /** Places that are still to be looked at. */
  #owed = 0
  #leftInJob = MOST_IN_JOB

  /**
   * `sweep` clears places of the table whose thing has been collected, each time the next ones, until it has met so many that are there.
   * `size` is how many places are taken.
   */
  constructor(sweep: (count: number) => void, size: () => number) {
    this.#sweep = sweep
    this.#size = size
  }

  /** To be called for each thing that gets a place, with a hash of it. */
  added(thing: object, hash: number): void {
    if (!isWatched(hash)) return
    this.#registry.register(thing, SWEPT)
    this.#look(1, SWEPT_BESIDE)
  }

  /** At so many more, now or later; now at no more than `most`. */
  #look(count: number, most: number): void {
    // Once is enough for each.
    this.#owed = Math.min(this.#owed + count, this.#size())
    const now = Math.min(this.#owed, most, this.#leftInJob)
    if (now === 0) return
    if (this.#leftInJob === MOST_IN_JOB) queueMicrotask(() => this.#endJob())
    this.#leftInJob -= now
    this.#owed -= now
    this.#sweep(now)
  }

  #endJob(): void {
    this.#leftInJob = MOST_IN_JOB
    // What nobody holds ends with the next collection of what is young, so there is a next time, soon, even if nothing else ends any more.
    if (this.#owed > 0) this.#registry.register({}, 0)
  }
}

/**
 * Looks at the places of a map in turn, until it has met so many whose thing is there; `isThere` says so. An iterator that stands still would
 * hold the memory that a map had before it grew.
 */
export function sweepMap<K, P>(table: Map<K, P>, isThere: (place: P) => boolean): (count: number) => void {
  let places = table.entries()
  return count => {
    for (let met = 0; met < count;) {
      const next = places.next()
      if (next.done === true) {
        places = table.entries()
        return
      }
      const [key, place] = next.value
      if (isThere(place)) met++
      else table.delete(key)
    }
  }
}

function isWatched(hash: number): boolean {
  return Math.imul(hash, 0x9e3779b1) >>> 0 < 2 ** 32 / WATCHED
}
