/** A queue with two ends, as a ring: both ends give and take in constant time. */
export class Deque<T> {
  #ring: (T | undefined)[] = Array.from({ length: 16 })
  #first = 0
  length = 0

  get first(): T | undefined {
    return this.length === 0 ? undefined : this.#ring[this.#first]
  }

  push(item: T): void {
    this.#makeRoom()
    this.#ring[(this.#first + this.length++) & (this.#ring.length - 1)] = item
  }

  unshift(item: T): void {
    this.#makeRoom()
    this.#first = (this.#first - 1) & (this.#ring.length - 1)
    this.#ring[this.#first] = item
    this.length++
  }

  shift(): T | undefined {
    if (this.length === 0) return undefined
    const item = this.#ring[this.#first]
    this.#ring[this.#first] = undefined
    this.#first = (this.#first + 1) & (this.#ring.length - 1)
    this.length--
    return item
  }

  pop(): T | undefined {
    if (this.length === 0) return undefined
    const at = (this.#first + --this.length) & (this.#ring.length - 1)
    const item = this.#ring[at]
    this.#ring[at] = undefined
    return item
  }

  *[Symbol.iterator](): Generator<T> {
    for (let i = 0; i < this.length; i++) yield this.#ring[(this.#first + i) & (this.#ring.length - 1)]!
  }

  #makeRoom(): void {
    if (this.length < this.#ring.length) return
    const items = [...this]
    this.#ring = [...items, ...Array.from<undefined>({ length: items.length })]
    this.#first = 0
  }
}
