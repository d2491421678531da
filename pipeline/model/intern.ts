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
/** Parts of the capacity. */
const FULLEST = 0.85
const EMPTIEST = 0.4
/** What the capacity is after either, in parts of what is in it. */
const ROOM = 1.4
/** A page has so many entries. */
const PAGE_BITS = 10
const PAGE = 1 << PAGE_BITS

/**
 * An open table of numbers: the number of a thing is at the place that its hash tells, or at the next one that was free. A hash is not an
 * identity: things with equal hashes are told apart by `same`.
 *
 * Things and hashes lie by number and without gaps in pages, which stay where they are when the table grows: arrays that hang on something
 * old are old when they are left behind, and only a collection of the whole heap finds them.
 */
class OpenTable<T extends object> implements InternTable<T> {
  /**
   * Numbers plus one; 0 is free. What bits a number cannot have are those of the hash: mostly they tell that it is another one, without a
   * look at anything that lies elsewhere.
   */
  #places = new Int32Array(LEAST_CAPACITY)
  #numberBits = bitsOf(LEAST_CAPACITY)
  readonly #hashes: Int32Array[] = []
  readonly #refs: (WeakRef<T> | undefined)[][] = []
  #size = 0
  #swept = 0
  readonly #sweeper = new Sweeper(
    count => this.#sweep(count),
    () => this.#size,
  )

  get size(): number {
    return this.#size
  }

  intern(hash: number, same: (known: T) => boolean, make: () => T): T {
    // Hashes are compared with what can be in a place.
    const whole = hash | 0
    const [places, bits] = [this.#places, this.#numberBits]
    for (let place = this.#firstPlace(whole); places[place] !== 0; place = this.#after(place)) {
      if (((places[place]! ^ whole) & ~bits) !== 0) continue
      const known = this.#refOf((places[place]! & bits) - 1).deref()
      if (known !== undefined && same(known)) return known
    }
    const one = make()
    this.#add(whole, new WeakRef(one))
    this.#sweeper.added(one, whole)
    return one
  }

  #hashOf(number: number): number {
    return this.#hashes[number >>> PAGE_BITS]![number & (PAGE - 1)]!
  }

  #refOf(number: number): WeakRef<T> {
    return this.#refs[number >>> PAGE_BITS]![number & (PAGE - 1)]!
  }

  #add(hash: number, ref: WeakRef<T>): void {
    const number = this.#size++
    if (number === this.#refs.length * PAGE) {
      this.#hashes.push(new Int32Array(PAGE))
      this.#refs.push(Array.from({ length: PAGE }))
    }
    this.#write(number, hash, ref)
    if (this.#size > this.#places.length * FULLEST) this.#resize()
    else this.#place(number, hash)
  }

  #write(number: number, hash: number, ref: WeakRef<T> | undefined): void {
    this.#hashes[number >>> PAGE_BITS]![number & (PAGE - 1)] = hash
    this.#refs[number >>> PAGE_BITS]![number & (PAGE - 1)] = ref
  }

  #place(number: number, hash: number): void {
    let place = this.#firstPlace(hash)
    while (this.#places[place] !== 0) place = this.#after(place)
    this.#places[place] = this.#entryOf(number, hash)
  }

  #entryOf(number: number, hash: number): number {
    return (hash & ~this.#numberBits) | (number + 1)
  }

  #placeOf(number: number): number {
    const entry = this.#entryOf(number, this.#hashOf(number))
    let place = this.#firstPlace(this.#hashOf(number))
    while (this.#places[place] !== entry) place = this.#after(place)
    return place
  }

  #firstPlace(hash: number): number {
    // Of a product the upper bits hang on all bits, and capacities need be no powers of two.
    return Math.floor(((Math.imul(hash, 0x9e3779b1) >>> 0) / 2 ** 32) * this.#places.length)
  }

  #after(place: number): number {
    return place + 1 < this.#places.length ? place + 1 : 0
  }

  #resize(): void {
    // Its memory is free at once, and not with the array.
    this.#places.buffer.transfer(0)
    this.#places = new Int32Array(Math.max(LEAST_CAPACITY, Math.ceil(this.#size * ROOM)))
    this.#numberBits = bitsOf(this.#places.length)
    for (let number = 0; number < this.#size; number++) this.#place(number, this.#hashOf(number))
  }

  /** Until it has met so many that are there: who is not is cleared. */
  #sweep(count: number): void {
    for (let met = 0, passed = 0; met < count && passed < this.#size;) {
      if (this.#swept >= this.#size) this.#swept = 0
      // The last one comes to its place, so that is looked at again.
      if (this.#refOf(this.#swept).deref() === undefined) this.#delete(this.#swept)
      else {
        this.#swept++
        passed++
        met++
      }
    }
    if (this.#size < this.#places.length * EMPTIEST && this.#places.length > LEAST_CAPACITY) this.#resize()
  }

  #delete(number: number): void {
    this.#clear(this.#placeOf(number))
    const last = --this.#size
    if (number !== last) {
      this.#places[this.#placeOf(last)] = this.#entryOf(number, this.#hashOf(last))
      this.#write(number, this.#hashOf(last), this.#refOf(last))
    }
    this.#write(last, 0, undefined)
    // One page is kept for those that come next.
    if ((this.#refs.length - 2) * PAGE < last) return
    this.#hashes.pop()
    this.#refs.pop()
  }

  /** Whatever was put behind it because it was taken moves up: who looks for something stops at the first place that is free. */
  #clear(place: number): void {
    const places = this.#places
    const { length } = places
    let free = place
    for (let next = this.#after(free); places[next] !== 0; next = this.#after(next)) {
      const first = this.#firstPlace(this.#hashOf((places[next]! & this.#numberBits) - 1))
      if ((next - first + length) % length < (next - free + length) % length) continue
      places[free] = places[next]!
      free = next
    }
    places[free] = 0
  }
}

/** All bits that a number up to this one may have. */
function bitsOf(most: number): number {
  return 2 ** (32 - Math.clz32(most)) - 1
}

/** FNV-1a over UTF-16 units; continue from `hash` to hash several strings. */
export function hashString(text: string, hash = 0x811c9dc5): number {
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  // A separator, so that ("ab", "c") and ("a", "bc") start from different states.
  return Math.imul(hash ^ 0x1ff, 0x01000193)
}
