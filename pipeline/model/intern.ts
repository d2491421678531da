/**
 * Tables in which equal things are one object, so that identity is equality and a million series share a few label sets.
 *
 * Entries are held weakly: what nobody uses any more is collected, and its place in the table is cleared afterwards.
 */
import { Sweeper } from './sweeper.ts'

export type InternTable<T extends object> = {
  /** The one object equal to what `same` accepts; made by `make` if there is none. */
  intern(hash: number, same: (known: T) => boolean, make: () => T): T
  /** How many places are taken, including those whose object was collected and not yet cleared. */
  readonly size: number
}

export function createInternTable<T extends object>(): InternTable<T> {
  return new OpenTable()
}

const LEAST_CAPACITY = 16
/** Parts of the capacity. A Map has room for twice as much as is in it, and takes three words for each. */
const FULLEST = 0.8
const EMPTIEST = 0.2
/** What the capacity is after either, in parts of what is in it. */
const ROOM = 1.6

/**
 * An open table: a thing is at the place that its hash tells, or at the next one that was free. A hash is not an identity: things with
 * equal hashes are told apart by `same`.
 */
class OpenTable<T extends object> implements InternTable<T> {
  #hashes = new Int32Array(LEAST_CAPACITY)
  #refs = emptyPlaces<T>(LEAST_CAPACITY)
  #size = 0
  #swept = 0
  readonly #sweeper = new Sweeper(count => this.#sweep(count))

  get size(): number {
    return this.#size
  }

  intern(hash: number, same: (known: T) => boolean, make: () => T): T {
    // Places are compared with what can be in them.
    const whole = hash | 0
    let place = this.#firstPlace(whole)
    for (; this.#refs[place] !== undefined; place = this.#after(place)) {
      if (this.#hashes[place] !== whole) continue
      const known = this.#refs[place]!.deref()
      if (known !== undefined && same(known)) return known
    }
    const one = make()
    if (this.#size >= this.#refs.length * FULLEST) this.#resize()
    this.#put(whole, new WeakRef(one))
    this.#size++
    this.#sweeper.added(one, whole)
    return one
  }

  #put(hash: number, ref: WeakRef<T>): void {
    let place = this.#firstPlace(hash)
    while (this.#refs[place] !== undefined) place = this.#after(place)
    this.#hashes[place] = hash
    this.#refs[place] = ref
  }

  #firstPlace(hash: number): number {
    // Of a product the upper bits hang on all bits, and capacities need be no powers of two.
    return Math.floor(((Math.imul(hash, 0x9e3779b1) >>> 0) / 2 ** 32) * this.#refs.length)
  }

  #after(place: number): number {
    return place + 1 < this.#refs.length ? place + 1 : 0
  }

  #resize(): void {
    const [hashes, refs] = [this.#hashes, this.#refs]
    const capacity = Math.max(LEAST_CAPACITY, Math.ceil(this.#size * ROOM))
    this.#hashes = new Int32Array(capacity)
    this.#refs = emptyPlaces(capacity)
    for (let place = 0; place < refs.length; place++) {
      const ref = refs[place]
      if (ref !== undefined) this.#put(hashes[place]!, ref)
    }
  }

  #sweep(count: number): void {
    for (let looked = 0, passed = 0; looked < count && passed < this.#refs.length; passed++) {
      if (this.#swept >= this.#refs.length) this.#swept = 0
      const ref = this.#refs[this.#swept]
      if (ref !== undefined) looked++
      // What follows moves into a place that is cleared, so that is looked at again.
      if (ref !== undefined && ref.deref() === undefined) this.#clear(this.#swept)
      else this.#swept++
    }
    if (this.#size < this.#refs.length * EMPTIEST && this.#refs.length > LEAST_CAPACITY) this.#resize()
  }

  /** Whatever was put behind it because it was taken moves up: who looks for something stops at the first place that is free. */
  #clear(place: number): void {
    const { length } = this.#refs
    let free = place
    for (let next = this.#after(free); this.#refs[next] !== undefined; next = this.#after(next)) {
      const first = this.#firstPlace(this.#hashes[next]!)
      const isBehind = (next - first + length) % length >= (next - free + length) % length
      if (!isBehind) continue
      this.#hashes[free] = this.#hashes[next]!
      this.#refs[free] = this.#refs[next]
      free = next
    }
    this.#refs[free] = undefined
    this.#size--
  }
}

function emptyPlaces<T extends object>(count: number): (WeakRef<T> | undefined)[] {
  return Array.from({ length: count })
}

/** FNV-1a over UTF-16 units; continue from `hash` to hash several strings. */
export function hashString(text: string, hash = 0x811c9dc5): number {
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  // A separator, so that ("ab", "c") and ("a", "bc") start from different states.
  return Math.imul(hash ^ 0x1ff, 0x01000193)
}
