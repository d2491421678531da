/**
 * How many have a hash, for millions of which nearly each is the only one: six bytes for each on average. Many small tables, because
 * one that has to grow would hold up everybody.
 */
const SHARDS = 256
const SMALLEST = 8

type Shard = { slots: Uint32Array; count: number }

export class HashCounts {
  /** Hashes that are there; 0 is a free slot. One that is taken is in the first free slot from its own on. */
  readonly #shards: Shard[] = Array.from({ length: SHARDS }, () => ({ slots: new Uint32Array(SMALLEST), count: 0 }))
  /** Of those that are there more than once, how often. */
  readonly #repeated = new Map<number, number>()

  /** Whether any is there more than once. */
  get hasRepeated(): boolean {
    return this.#repeated.size > 0
  }

  isRepeated(hash: number): boolean {
    return this.#repeated.has(hash)
  }

  /** Hashes are whole numbers above 0 and below 2^32. */
  add(hash: number): void {
    const shard = this.#shardOf(hash)
    const at = find(shard.slots, hash)
    if (shard.slots[at] === hash) {
      this.#repeated.set(hash, (this.#repeated.get(hash) ?? 1) + 1)
      return
    }
    shard.slots[at] = hash
    if (++shard.count * 4 > shard.slots.length * 3) grow(shard)
  }

  /** It has to be there. */
  remove(hash: number): void {
    const times = this.#repeated.get(hash)
    if (times === undefined) {
      const shard = this.#shardOf(hash)
      shard.count--
      free(shard.slots, find(shard.slots, hash))
    } else if (times === 2) {
      this.#repeated.delete(hash)
    } else {
      this.#repeated.set(hash, times - 1)
    }
  }

  #shardOf(hash: number): Shard {
    return this.#shards[hash >>> 24]!
  }
}

/** Where it is, or would be. */
function find(slots: Uint32Array, hash: number): number {
  const mask = slots.length - 1
  let at = hash & mask
  while (slots[at] !== 0 && slots[at] !== hash) at = (at + 1) & mask
  return at
}

function grow(shard: Shard): void {
  const { slots } = shard
  shard.slots = new Uint32Array(2 * slots.length)
  for (const hash of slots) if (hash !== 0) shard.slots[find(shard.slots, hash)] = hash
}

/** Moves those behind it that may be where it was, so that none is behind a free slot. */
function free(slots: Uint32Array, freed: number): void {
  const mask = slots.length - 1
  let hole = freed
  for (let at = (freed + 1) & mask; slots[at] !== 0; at = (at + 1) & mask) {
    const distance = (at - (slots[at]! & mask)) & mask
    if (distance < ((at - hole) & mask)) continue
    slots[hole] = slots[at]!
    hole = at
  }
  slots[hole] = 0
}
