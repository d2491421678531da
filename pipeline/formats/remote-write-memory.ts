/**
 * What a request knows of the series of one plan while they are written: where in it the bytes of pairs and label sets stand. It is one
 * piece of memory for all requests and sources; a new number makes everything in it unknown.
 */
export class SeriesMemory {
  /** Four numbers for each label set, two for each pair; what they are is the writer's affair. */
  sets = new Uint32Array(0)
  pairs = new Uint32Array(0)
  setSeen = new Uint32Array(0)
  pairSeen = new Uint32Array(0)
  /** An entry is known if it was seen under this number. */
  now = 0
  #owner: object | undefined

  /** Everything is unknown from now on, and known again is what this owner sees. */
  take(owner: object, sets: number, pairs: number): void {
    this.#owner = owner
    if (++this.now > 0xffff_ffff) {
      for (const seen of [this.setSeen, this.pairSeen]) seen.fill(0)
      this.now = 1
    }
    if (this.setSeen.length < sets) {
      this.setSeen = new Uint32Array(roomFor(sets))
      this.sets = new Uint32Array(4 * this.setSeen.length)
    }
    if (this.pairSeen.length < pairs) {
      this.pairSeen = new Uint32Array(roomFor(pairs))
      this.pairs = new Uint32Array(2 * this.pairSeen.length)
    }
  }

  isOf(owner: object): boolean {
    return this.#owner === owner
  }
}

function roomFor(count: number): number {
  return Math.max(64, 2 ** Math.ceil(Math.log2(count)))
}
