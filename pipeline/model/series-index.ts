/**
 * Finds a column by name and number of the label set: an open table over typed arrays, because a Map with a million keys of two
 * parts costs ten times the memory.
 */
export class SeriesIndex {
  readonly #nameNumbers = new Map<string, number>()
  #slots: Int32Array
  #names: Uint32Array
  #labels: Uint32Array
  #size = 0

  constructor(expected: number) {
    let capacity = 16
    while (capacity < expected * 2) capacity *= 2
    this.#slots = new Int32Array(capacity).fill(-1)
    this.#names = new Uint32Array(capacity)
    this.#labels = new Uint32Array(capacity)
  }

  /** The column that has this series, or -1. */
  find(name: string, labels: number): number {
    const nameNumber = this.#nameNumbers.get(name)
    return nameNumber === undefined ? -1 : this.#slots[this.#find(nameNumber, labels)]!
  }

  /** The column that has this series, which is `column` from now on if none had. */
  findOrAdd(name: string, labels: number, column: number): number {
    let nameNumber = this.#nameNumbers.get(name)
    if (nameNumber === undefined) this.#nameNumbers.set(name, (nameNumber = this.#nameNumbers.size))
    if (this.#size * 2 >= this.#slots.length) this.#grow()
    const slot = this.#find(nameNumber, labels)
    if (this.#slots[slot]! >= 0) return this.#slots[slot]!
    this.#slots[slot] = column
    this.#names[slot] = nameNumber
    this.#labels[slot] = labels
    this.#size++
    return column
  }

  #find(name: number, labels: number): number {
    const mask = this.#slots.length - 1
    let hash = Math.imul(name + 1, 0x9e3779b1) ^ Math.imul(labels + 1, 0x85ebca6b)
    hash ^= hash >>> 15
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      if (this.#slots[slot]! < 0 || (this.#names[slot] === name && this.#labels[slot] === labels)) return slot
    }
  }

  #grow(): void {
    const slots = this.#slots
    const names = this.#names
    const labels = this.#labels
    this.#slots = new Int32Array(slots.length * 2).fill(-1)
    this.#names = new Uint32Array(this.#slots.length)
    this.#labels = new Uint32Array(this.#slots.length)
    slots.forEach((column, i) => {
      if (column < 0) return
      const slot = this.#find(names[i]!, labels[i]!)
      this.#slots[slot] = column
      this.#names[slot] = names[i]!
      this.#labels[slot] = labels[i]!
    })
  }
}
