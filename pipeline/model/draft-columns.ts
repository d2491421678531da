/**
 * The outgoing columns of a plan while it is made, found by name and label set: an open table over typed arrays. What it takes is garbage
 * soon after, and of the plan for a large layout that is much.
 */
export class DraftColumns {
  length = 0
  /** By outgoing column: the incoming one, and numbers of its metric and its label set. There may be more room than columns. */
  gather = new Uint32Array(0)
  metricOf = new Uint32Array(0)
  labelsOf = new Uint32Array(0)
  /** Outgoing columns; -1 is free. At most half of the places are taken. */
  #slots = new Int32Array(0)
  readonly #names: readonly number[]
  readonly #expected: number

  /** `names` are numbers of names by number of the metric. There are mostly as many columns as expected, or none. */
  constructor(names: readonly number[], expected: number) {
    this.#names = names
    this.#expected = expected
  }

  /** The outgoing column that has this name and label set; one more, made of the incoming one, if none had. */
  findOrAdd(column: number, metric: number, labels: number): number {
    if (this.length === this.gather.length) this.#grow()
    const slot = this.#find(this.#names[metric]!, labels)
    if (this.#slots[slot]! >= 0) return this.#slots[slot]!
    const next = this.length++
    this.gather[next] = column
    this.metricOf[next] = metric
    this.labelsOf[next] = labels
    return (this.#slots[slot] = next)
  }

  #find(name: number, labels: number): number {
    const mask = this.#slots.length - 1
    let hash = Math.imul(name + 1, 0x9e3779b1) ^ Math.imul(labels + 1, 0x85ebca6b)
    hash ^= hash >>> 15
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const known = this.#slots[slot]!
      if (known < 0 || (this.labelsOf[known] === labels && this.#names[this.metricOf[known]!] === name)) return slot
    }
  }

  #grow(): void {
    const room = this.length === 0 ? Math.max(8, this.#expected) : this.length * 2
    this.gather = longer(this.gather, room)
    this.metricOf = longer(this.metricOf, room)
    this.labelsOf = longer(this.labelsOf, room)
    let capacity = 16
    while (capacity < room * 2) capacity *= 2
    this.#slots = new Int32Array(capacity).fill(-1)
    for (let column = 0; column < this.length; column++) {
      this.#slots[this.#find(this.#names[this.metricOf[column]!]!, this.labelsOf[column]!)] = column
    }
  }
}

function longer(array: Uint32Array, length: number): Uint32Array<ArrayBuffer> {
  const result = new Uint32Array(length)
  result.set(array)
  return result
}
