/** A set of places, in the order in which they were added. At the start everybody is in it: a Set would take eight times the memory. */
import { resized, roomFor } from './room.ts'

/** What is set aside for so many is kept for the next ones. */
const FEW = 1024

export class PlaceSet implements Iterable<number> {
  #places = new Int32Array(0)
  #size = 0
  /** By place: 1 for those that are in it. */
  #marks = new Uint8Array(0)

  get size(): number {
    return this.#size
  }

  has(place: number): boolean {
    return this.#marks[place] === 1
  }

  add(place: number): void {
    if (this.has(place)) return
    if (this.#size === this.#places.length)
      this.#places = resized(this.#places, Math.max(64, Math.ceil(this.#size * 1.5)))
    this.#marks = roomFor(this.#marks, place + 1)
    this.#places[this.#size++] = place
    this.#marks[place] = 1
  }

  clear(): void {
    for (const place of this) this.#marks[place] = 0
    this.#size = 0
    if (this.#places.length > FEW) this.#places = resized(this.#places, 0)
  }

  [Symbol.iterator](): IterableIterator<number> {
    return this.#places.subarray(0, this.#size).values()
  }
}
