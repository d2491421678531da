/**
 * Finds the numbers of things by their keys, where whoever has the things knows the key of a number: an open table of the numbers alone,
 * because a Map with as many keys as there are GPUs takes four times the memory.
 */
const LEAST_CAPACITY = 16
/** Parts of the capacity. */
const FULLEST = 0.8
const EMPTIEST = 0.2
/** What the capacity is after either, in parts of what is in it. */
const ROOM = 1.6

export class NumberIndex<K> {
  readonly #hashOf: (key: K) => number
  readonly #keyOf: (number: number) => K
  /** Numbers plus one; 0 is free. */
  #places = new Int32Array(LEAST_CAPACITY)
  #size = 0

  /** `keyOf` is asked for numbers that are in the table, and for the one that is just added to it or deleted from it. */
  constructor(hashOf: (key: K) => number, keyOf: (number: number) => K) {
    this.#hashOf = hashOf
    this.#keyOf = keyOf
  }

  get size(): number {
    return this.#size
  }

  /** -1 if there is none. */
  find(key: K): number {
    return this.#places[this.#placeOf(key)]! - 1
  }

  /** A number whose key is not in the table. */
  add(number: number): void {
    if (this.#size >= this.#places.length * FULLEST) this.#resize()
    this.#places[this.#placeOf(this.#keyOf(number))] = number + 1
    this.#size++
  }

  /** What was put behind it because it was taken moves up: who looks for something stops at the first place that is free. */
  delete(key: K): void {
    const places = this.#places
    const { length } = places
    let free = this.#placeOf(key)
    if (places[free] === 0) return
    for (let next = this.#after(free); places[next] !== 0; next = this.#after(next)) {
      const first = this.#firstPlace(this.#keyOf(places[next]! - 1))
      if ((next - first + length) % length < (next - free + length) % length) continue
      places[free] = places[next]!
      free = next
    }
    places[free] = 0
    this.#size--
    if (this.#size < length * EMPTIEST && length > LEAST_CAPACITY) this.#resize()
  }

  /** Where a key is, or the free place where it would be. */
  #placeOf(key: K): number {
    let place = this.#firstPlace(key)
    for (; this.#places[place] !== 0; place = this.#after(place)) {
      if (this.#keyOf(this.#places[place]! - 1) === key) break
    }
    return place
  }

  #firstPlace(key: K): number {
    // Of a product the upper bits hang on all bits, and capacities need be no powers of two.
    return Math.floor(((Math.imul(this.#hashOf(key), 0x9e3779b1) >>> 0) / 2 ** 32) * this.#places.length)
  }

  #after(place: number): number {
    return place + 1 < this.#places.length ? place + 1 : 0
  }

  #resize(): void {
    const before = this.#places
    this.#places = new Int32Array(Math.max(LEAST_CAPACITY, Math.ceil(this.#size * ROOM)))
    for (const entry of before) if (entry !== 0) this.#places[this.#placeOf(this.#keyOf(entry - 1))] = entry
    // Its memory is free at once: a table that has to grow is old, and garbage among what is old is looked for once in minutes.
    before.buffer.transfer(0)
  }
}
