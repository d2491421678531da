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
/** Parts of the capacity of a segment: how full it may be, and what is in it after it grew. A Map has room for twice as much as is in it. */
const FULLEST = 0.88
const AFTER_GROWTH = 0.78
const EMPTIEST = 0.7
/** A segment that has grown to so many places becomes two, unless a million things or one hash have made it that deep. */
const LARGEST_SEGMENT = 2048
const DEEPEST = 12

/**
 * An open table: a thing is at the place that its hash tells, or at the next one that was free. A hash is not an identity: things with
 * equal hashes are told apart by `same`.
 *
 * It is made of segments, each of which grows by itself. So it can be nearly full and is never there twice, as a large table is that
 * is copied into a larger one; and a few kilobytes are all that is left behind.
 */
class OpenTable<T extends object> implements InternTable<T> {
  /** By the first bits of a hash. A segment that has not been divided as often as others is there several times, in a row. */
  #segments = [new Segment<T>(0, LEAST_CAPACITY)]
  #depth = 0
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
    // Of a product the upper bits hang on all bits.
    const mixed = Math.imul(hash, 0x9e3779b1)
    const known = this.#segmentOf(mixed).find(mixed, same)
    if (known !== undefined) return known
    const one = make()
    // Making it may have added others.
    let segment = this.#segmentOf(mixed)
    for (; segment.isFull && segment.isLargest && segment.depth < DEEPEST; segment = this.#segmentOf(mixed)) {
      this.#divide(segment, mixed)
    }
    segment.add(mixed, new WeakRef(one))
    this.#size++
    this.#sweeper.added(one, hash)
    return one
  }

  #segmentOf(mixed: number): Segment<T> {
    return this.#segments[this.#indexOf(mixed)]!
  }

  #indexOf(mixed: number): number {
    // A shift by 32 is none.
    return this.#depth === 0 ? 0 : mixed >>> (32 - this.#depth)
  }

  #divide(segment: Segment<T>, mixed: number): void {
    if (segment.depth === this.#depth) {
      this.#segments = this.#segments.flatMap(one => [one, one])
      this.#depth++
      this.#swept *= 2
    }
    const half = 1 << (this.#depth - segment.depth - 1)
    const first = this.#indexOf(mixed) & -(half * 2)
    const [lower, upper] = segment.halves()
    this.#segments.fill(lower, first, first + half)
    this.#segments.fill(upper, first + half, first + half * 2)
  }

  #sweep(count: number): void {
    for (let met = 0, passed = 0; met < count && passed <= this.#segments.length; passed++) {
      const segment = this.#segments[this.#swept]!
      const before = segment.size
      met += segment.sweep(count - met)
      this.#size += segment.size - before
      if (segment.isBegun) return
      const next = this.#swept + (1 << (this.#depth - segment.depth))
      this.#swept = next < this.#segments.length ? next : 0
    }
  }
}

/** The things whose hashes begin with the same bits, `depth` of them. */
class Segment<T extends object> {
  readonly depth: number
  size = 0
  #hashes: Int32Array
  #refs: (WeakRef<T> | undefined)[]
  #swept = 0

  constructor(depth: number, capacity: number) {
    this.depth = depth
    this.#hashes = new Int32Array(capacity)
    this.#refs = Array.from({ length: capacity })
  }

  get isFull(): boolean {
    return this.size >= this.#refs.length * FULLEST
  }

  get isLargest(): boolean {
    return this.#refs.length >= LARGEST_SEGMENT
  }

  /** Whether some, and not all, of it has been swept. */
  get isBegun(): boolean {
    return this.#swept > 0
  }

  find(hash: number, same: (known: T) => boolean): T | undefined {
    const [hashes, refs] = [this.#hashes, this.#refs]
    for (let place = this.#firstPlace(hash); refs[place] !== undefined; place = this.#after(place)) {
      if (hashes[place] !== hash) continue
      const known = refs[place]!.deref()
      if (known !== undefined && same(known)) return known
    }
    return undefined
  }

  add(hash: number, ref: WeakRef<T>): void {
    if (this.isFull) this.#resize()
    this.#put(hash, ref)
  }

  /** By the next bit. */
  halves(): readonly [Segment<T>, Segment<T>] {
    const capacity = Math.ceil(this.size / 2 / AFTER_GROWTH)
    const halves = [new Segment<T>(this.depth + 1, capacity), new Segment<T>(this.depth + 1, capacity)] as const
    this.#refs.forEach((ref, place) => {
      const hash = this.#hashes[place]!
      if (ref !== undefined) halves[((hash << this.depth) >>> 31) as 0 | 1].add(hash, ref)
    })
    return halves
  }

  /** Clears places whose thing was collected until it has met so many things that are there, or is through; how many it has met. */
  sweep(count: number): number {
    let met = 0
    while (met < count && this.#swept < this.#refs.length) {
      const ref = this.#refs[this.#swept]
      // What follows moves into a place that is cleared, so that is looked at again.
      if (ref !== undefined && ref.deref() === undefined) this.#clear(this.#swept)
      else {
        this.#swept++
        if (ref !== undefined) met++
      }
    }
    if (this.#swept < this.#refs.length) return met
    this.#swept = 0
    if (this.size < this.#refs.length * EMPTIEST && this.#refs.length > LEAST_CAPACITY) this.#resize()
    return met
  }

  #put(hash: number, ref: WeakRef<T>): void {
    let place = this.#firstPlace(hash)
    while (this.#refs[place] !== undefined) place = this.#after(place)
    this.#hashes[place] = hash
    this.#refs[place] = ref
    this.size++
  }

  #firstPlace(hash: number): number {
    // Capacities need be no powers of two.
    return Math.floor((((hash << this.depth) >>> 0) / 2 ** 32) * this.#refs.length)
  }

  #after(place: number): number {
    return place + 1 < this.#refs.length ? place + 1 : 0
  }

  #resize(): void {
    const [hashes, refs] = [this.#hashes, this.#refs]
    const capacity = Math.max(LEAST_CAPACITY, Math.ceil(this.size / AFTER_GROWTH))
    this.#hashes = new Int32Array(capacity)
    this.#refs = Array.from({ length: capacity })
    this.size = 0
    for (let place = 0; place < refs.length; place++) {
      const ref = refs[place]
      if (ref !== undefined) this.#put(hashes[place]!, ref)
    }
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
    this.size--
  }
}

/** FNV-1a over UTF-16 units; continue from `hash` to hash several strings. */
export function hashString(text: string, hash = 0x811c9dc5): number {
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  // A separator, so that ("ab", "c") and ("a", "bc") start from different states.
  return Math.imul(hash ^ 0x1ff, 0x01000193)
}
