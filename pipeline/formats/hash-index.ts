/** Open tables over typed arrays, from hashes to numbers that count up from 0. Whoever looks up compares what the numbers stand for. */

/** Numbers things that have hashes. To find one: `for (s = hash & mask; slots[s] !== 0; s = (s + 1) & mask)`, number = slots[s] - 1. */
export class HashIndex {
  hashes: Int32Array
  /** Number plus one; 0 is free. */
  slots: Int32Array
  mask: number
  count = 0

  constructor(expected = 0) {
    this.hashes = new Int32Array(expected)
    this.slots = new Int32Array(capacityFor(expected))
    this.mask = this.slots.length - 1
  }

  /** Gives the next number to something that is not in the table. */
  add(hash: number): number {
    if (this.count === this.hashes.length) {
      const grown = new Int32Array(Math.max(64, this.count * 2))
      grown.set(this.hashes)
      this.hashes = grown
    }
    this.hashes[this.count] = hash
    if (isCrowded(++this.count, this.slots.length)) this.#rebuild(this.slots.length * 2)
    else this.#place(this.count - 1)
    return this.count - 1
  }

  copy(): HashIndex {
    const copy = new HashIndex()
    copy.hashes = this.hashes.slice()
    copy.slots = this.slots.slice()
    copy.mask = this.mask
    copy.count = this.count
    return copy
  }

  #rebuild(capacity: number): void {
    this.slots = new Int32Array(capacity)
    this.mask = capacity - 1
    for (let number = 0; number < this.count; number++) this.#place(number)
  }

  #place(number: number): void {
    let slot = this.hashes[number]! & this.mask
    while (this.slots[slot] !== 0) slot = (slot + 1) & this.mask
    this.slots[slot] = number + 1
  }
}

/** Finds the line of a literal and a block. */
export class PairIndex {
  #first: Int32Array
  #second: Int32Array
  #slots: Int32Array
  #mask: number
  #placed = 0

  /** The pairs first[i], second[i] below `count`, without those whose second number is below 0. Of equal pairs the first counts. */
  constructor(first: Int32Array, second: Int32Array, count: number) {
    this.#first = first
    this.#second = second
    this.#slots = new Int32Array(capacityFor(count))
    this.#mask = this.#slots.length - 1
    for (let number = 0; number < count; number++) this.#place(number)
  }

  /** -1 if there is none. */
  find(first: number, second: number): number {
    for (let slot = hashPair(first, second) & this.#mask; ; slot = (slot + 1) & this.#mask) {
      const number = this.#slots[slot]! - 1
      if (number < 0 || (this.#first[number] === first && this.#second[number] === second)) return number
    }
  }

  /** Adds the pair `number` of both arrays, which may have been replaced by longer ones. */
  add(first: Int32Array, second: Int32Array, number: number): void {
    this.#first = first
    this.#second = second
    if (isCrowded(this.#placed + 1, this.#slots.length)) {
      const old = this.#slots
      this.#slots = new Int32Array(old.length * 2)
      this.#mask = this.#slots.length - 1
      this.#placed = 0
      for (const entry of old) if (entry > 0) this.#place(entry - 1)
    }
    this.#place(number)
  }

  #place(number: number): void {
    const first = this.#first[number]!
    const second = this.#second[number]!
    if (second < 0) return
    for (let slot = hashPair(first, second) & this.#mask; ; slot = (slot + 1) & this.#mask) {
      const other = this.#slots[slot]! - 1
      if (other < 0) {
        this.#slots[slot] = number + 1
        this.#placed++
        return
      }
      if (this.#first[other] === first && this.#second[other] === second) return
    }
  }
}

function hashPair(first: number, second: number): number {
  const hash = Math.imul(first + 1, 0x9e3779b1) ^ Math.imul(second + 1, 0x85ebca6b)
  const mixed = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d)
  return mixed ^ (mixed >>> 13)
}

/** A power of two that leaves a third of the places free, so that searches stay short. */
function capacityFor(count: number): number {
  let capacity = 64
  while (isCrowded(count, capacity)) capacity *= 2
  return capacity
}

function isCrowded(count: number, capacity: number): boolean {
  return count * 3 > capacity * 2
}
