/**
 * Byte strings most of which are like one shortly before them, kept as what is different: the GPUs of a node have its labels, and all
 * nodes have the same ones.
 *
 * A string is the first bytes of the one that it is like, its own, the last bytes of that one, and a tail that all have. One that is
 * like no other is all its own but for the tail, and only such have others that are like them.
 */
import { ByteArena } from './byte-arena.ts'

export class PackedStrings {
  readonly count: number
  /**
   * What string i has of its own is in [starts[i], starts[i + 1]); the tail comes after all of them. Some bytes stand before them, for
   * whoever copies in strides.
   */
  view: DataView<ArrayBuffer>
  readonly tailStart: number
  readonly tailLength: number
  /** Empty where all strings are the tail. */
  readonly starts: Uint32Array
  /** Of each three: how far back the one is that it is like, and how many bytes of its beginning and of its end count. */
  readonly parts: Uint16Array
  readonly longest: number

  constructor(count: number, view: DataView<ArrayBuffer>, tailLength: number, parts: Parts) {
    this.count = count
    this.view = view
    this.tailLength = tailLength
    this.tailStart = view.byteLength - tailLength
    this.starts = parts.starts
    this.parts = parts.parts
    this.longest = parts.longest
  }

  /** Whether all are the same. */
  get isOne(): boolean {
    return this.starts.length === 0
  }

  lengthOf(string: number): number {
    const { starts, parts, tailLength } = this
    if (starts.length === 0) return tailLength
    return tailLength + parts[3 * string + FIRST]! + parts[3 * string + LAST]! + starts[string + 1]! - starts[string]!
  }

  /** Valid until the next call. */
  read(string: number): Uint8Array {
    const { view, starts, parts, tailStart } = this
    if (starts.length === 0) return new Uint8Array(view.buffer, tailStart)
    const bytes = bytesOf(view.buffer)
    const length = this.lengthOf(string)
    const read = scratchOf(length)
    const like = string - parts[3 * string + BACK]!
    const first = parts[3 * string + FIRST]!
    const last = parts[3 * string + LAST]!
    let at = copy(bytes, starts[like]!, starts[like]! + first, 0)
    at = copy(bytes, starts[string]!, starts[string + 1]!, at)
    at = copy(bytes, starts[like + 1]! - last, starts[like + 1]!, at)
    copy(bytes, tailStart, bytes.length, at)
    return read
  }

  areEqual(a: number, b: number): boolean {
    return this.isOne || Buffer.compare(this.read(a).slice(), this.read(b)) === 0
  }

  /** Nobody needs it any more: its memory is free at once, and not when garbage is looked for. */
  release(): void {
    if (lastBytes.buffer === this.view.buffer) lastBytes = NO_BYTES
    this.view = new DataView(this.view.buffer.transfer(0))
    // Those of one string have the same ones as all others of one.
    if (this.isOne) return
    ;(this.starts.buffer as ArrayBuffer).transfer(0)
    ;(this.parts.buffer as ArrayBuffer).transfer(0)
  }
}

type Parts = Pick<PackedStrings, 'starts' | 'parts' | 'longest'>

/** Places in `parts`. */
export const BACK = 0
export const FIRST = 1
export const LAST = 2

let scratch = new Uint8Array(1024)
/** Of each length. A plan of a cluster is made of a hundred thousand strings that are read. */
let scratches: (Uint8Array | undefined)[] = []

function scratchOf(length: number): Uint8Array {
  if (scratch.length < length) {
    scratch = new Uint8Array(2 * length)
    scratches = []
  }
  if (length >= MOST_SCRATCHES) return scratch.subarray(0, length)
  return (scratches[length] ??= scratch.subarray(0, length))
}

const MOST_SCRATCHES = 1024
const NO_BYTES = new Uint8Array(0)
/** Of which strings were read last: what is read is read one after the other. */
let lastBytes = NO_BYTES

function bytesOf(buffer: ArrayBuffer): Uint8Array {
  if (lastBytes.buffer !== buffer) lastBytes = new Uint8Array(buffer)
  return lastBytes
}

/** Into the scratch, byte by byte: there are so few of them that a call would cost more. Returns where it ends. */
function copy(bytes: Uint8Array, from: number, to: number, at: number): number {
  let end = at
  for (let i = from; i < to; i++) scratch[end++] = bytes[i]!
  return end
}

const MAX = 0xffff
/** So much more than what is different from the string before makes it worth a look whether that should be the one to be like. */
const WORTH_A_LOOK = 8
/** How many of those that come are asked. */
const AHEAD = 8

const NO_STARTS = new Uint32Array(0)
const NO_PARTS = new Uint16Array(0)

/** So many are looked at together, to see which of them are alike. */
const MOST_TOGETHER = 4096

/**
 * Strings that come one after the other, and are packed as soon as there are some: all of them as they are would be more memory than
 * anything that is made of them.
 */
export class StringPacker {
  count = 0
  /** While there is no other. */
  #only: Uint8Array | undefined
  /** Those that are not packed yet, and the number of the first of them. */
  readonly #together = new ByteArena()
  #first = 0
  /** What those before have of their own, and the tail that all of them have. */
  #own = new ByteArena()
  #tail: Uint8Array | undefined
  #parts = NO_PARTS
  #longest = 0
  readonly #expectedBytes: number

  /** `expectedBytes` is about what all of them take when they are packed. */
  constructor(expectedBytes = 0) {
    this.#expectedBytes = expectedBytes
  }

  /** Returns its number. */
  add(string: Uint8Array): number {
    if (this.count === 0) this.#only = string.slice()
    else if (this.#only !== undefined && !isOnly(this.#only, string)) {
      for (let i = 0; i < this.count; i++) this.#append(this.#only)
      this.#only = undefined
    }
    if (this.#only === undefined) this.#append(string)
    return this.count++
  }

  is(number: number, other: Uint8Array): boolean {
    if (this.#only !== undefined) return isOnly(this.#only, other)
    return number < this.#first ? this.#isPacked(number, other) : isString(this.#together, number - this.#first, other)
  }

  /** All that there are, and nothing comes after them. `slack` bytes stand before them. */
  finish(slack: number): PackedStrings {
    const packed = this.#finish(slack)
    this.#together.release()
    this.#own.release()
    return packed
  }

  #append(string: Uint8Array): void {
    if (this.#together.count === MOST_TOGETHER) this.#pack()
    this.#together.add(string, 0, string.length)
    this.#longest = Math.max(this.#longest, string.length)
  }

  #pack(): void {
    const together = this.#together
    const end = this.#first + together.count
    if (3 * end > this.#parts.length) {
      const parts = new Uint16Array(Math.ceil(3 * end * ROOM))
      parts.set(this.#parts)
      this.#parts = parts
    }
    const tail = this.#tailWith(together)
    if (this.#first === 0) this.#own.reserve(this.#expectedBytes)
    findLikes(together, tail, (i, back, first, last) => {
      setPart(this.#parts, this.#first + i, back, first, last)
      this.#own.add(together.bytes, together.starts[i]! + first, together.starts[i + 1]! - last - tail)
    })
    this.#first = end
    together.count = 0
  }

  /** How long the tail is that those have, too, which becomes the tail of all. */
  #tailWith(together: ByteArena): number {
    const known = this.#tail
    const its = longestOf(together) > LONG ? 0 : commonTail(together)
    const end = together.byteLength
    if (known === undefined) this.#tail = together.bytes.slice(end - its, end)
    else {
      let same = 0
      while (same < Math.min(its, known.length) && together.bytes[end - 1 - same] === known.at(-1 - same)) same++
      if (same < known.length) this.#shorten(known.subarray(0, known.length - same))
      this.#tail = known.subarray(known.length - same)
    }
    return this.#tail!.length
  }

  /** These bytes are no part of the tail any more: who is like no other has them now, and the others have them from there. */
  #shorten(bytes: Uint8Array): void {
    const before = this.#own
    const own = new ByteArena()
    for (let i = 0; i < this.#first; i++) {
      const string = before.bytes.subarray(before.starts[i], before.starts[i + 1])
      const isLikeNone = this.#parts[3 * i + BACK] === 0
      if (!isLikeNone) this.#parts[3 * i + LAST]! += bytes.length
      const whole = isLikeNone ? Buffer.concat([string, bytes]) : string
      own.add(whole, 0, whole.length)
    }
    before.release()
    this.#own = own
  }

  #isPacked(number: number, other: Uint8Array): boolean {
    const { bytes, starts } = this.#own
    const like = number - this.#parts[3 * number + BACK]!
    const [first, last] = [this.#parts[3 * number + FIRST]!, this.#parts[3 * number + LAST]!]
    const [start, end] = [starts[number]!, starts[number + 1]!]
    const tail = this.#tail!
    const body = other.length - tail.length
    return (
      first + end - start + last === body &&
      areSame(bytes, starts[like]!, other, 0, first) &&
      areSame(bytes, start, other, first, body - last) &&
      areSame(bytes, starts[like + 1]! - last, other, body - last, body) &&
      areSame(tail, 0, other, body)
    )
  }

  #finish(slack: number): PackedStrings {
    const { count } = this
    if (count === 0 || this.#only !== undefined) return onlyString(count, this.#only ?? new Uint8Array(0), slack)
    if (this.#first === 0) return packStrings(this.#together, slack)
    this.#pack()
    const { bytes: own, byteLength } = this.#own
    const tail = this.#tail!
    const bytes = new Uint8Array(slack + byteLength + tail.length)
    bytes.set(own.subarray(0, byteLength), slack)
    bytes.set(tail, slack + byteLength)
    const starts = this.#own.starts.slice(0, count + 1)
    for (let i = 0; i <= count; i++) starts[i]! += slack
    const parts = this.#parts.slice(0, 3 * count)
    return new PackedStrings(count, new DataView(bytes.buffer), tail.length, { starts, parts, longest: this.#longest })
  }
}

function setPart(parts: Uint16Array, string: number, back: number, first: number, last: number): void {
  parts[3 * string + BACK] = back
  parts[3 * string + FIRST] = first
  parts[3 * string + LAST] = last
}

/** Of longer ones the tail is not looked for: more of it than can be counted might have to be had from others. */
const LONG = 0x4000

/** What a list that grows has room for, in parts of what is in it. */
const ROOM = 1.25

/** Whether the bytes at `start` are other[from, to). */
function areSame(bytes: Uint8Array, start: number, other: Uint8Array, from = 0, to = other.length): boolean {
  if (bytes.length - start < to - from) return false
  for (let i = from; i < to; i++) if (bytes[start + i - from] !== other[i]) return false
  return true
}

function isOnly(only: Uint8Array, other: Uint8Array): boolean {
  return only.length === other.length && areSame(only, 0, other)
}

function isString({ bytes, starts }: ByteArena, number: number, other: Uint8Array): boolean {
  return starts[number + 1]! - starts[number]! === other.length && areSame(bytes, starts[number]!, other)
}

/** All are this one. */
function onlyString(count: number, string: Uint8Array, slack: number): PackedStrings {
  const bytes = new Uint8Array(slack + string.length)
  bytes.set(string, slack)
  const parts = { starts: NO_STARTS, parts: NO_PARTS, longest: string.length }
  return new PackedStrings(count, new DataView(bytes.buffer), string.length, parts)
}

/** Some that are not all the same. */
function packStrings(arena: ByteArena, slack: number): PackedStrings {
  const { count } = arena
  const tail = commonTail(arena)
  const end = arena.starts[count]!
  const longest = longestOf(arena)
  const starts = new Uint32Array(count + 1)
  const parts = new Uint16Array(3 * count)
  starts[0] = slack
  findLikes(arena, tail, (i, back, first, last) => {
    setPart(parts, i, back, first, last)
    starts[i + 1] = starts[i]! + arena.starts[i + 1]! - arena.starts[i]! - tail - first - last
  })
  const bytes = new Uint8Array(starts[count]! + tail)
  for (let i = 0; i < count; i++) {
    const from = arena.starts[i]! + parts[3 * i + FIRST]!
    bytes.set(arena.bytes.subarray(from, from + starts[i + 1]! - starts[i]!), starts[i])
  }
  bytes.set(arena.bytes.subarray(end - tail, end), starts[count])
  return new PackedStrings(count, new DataView(bytes.buffer), tail, { starts, parts, longest })
}

/** Says of each string, without the tail, which one it is like, and in how much of its beginning and its end. */
export function findLikes(
  arena: ByteArena,
  tail: number,
  found: (string: number, back: number, first: number, last: number) => void,
): void {
  const strings = new Strings(arena, tail)
  let like = 0
  for (let i = 0; i < arena.count; i++) {
    if (i - like > MAX || (i > 0 && strings.isBetter(i, like))) like = i
    const first = like === i ? 0 : strings.first(i, like)
    found(i, i - like, first, like === i ? 0 : strings.last(i, like, first))
  }
}

function longestOf({ starts, count }: ByteArena): number {
  let longest = 0
  for (let i = 0; i < count; i++) longest = Math.max(longest, starts[i + 1]! - starts[i]!)
  return longest
}

/** How many bytes at the end all strings have in common. */
function commonTail({ bytes, starts, count }: ByteArena): number {
  let tail = count === 0 ? 0 : starts[1]!
  for (let i = 1; i < count; i++) {
    const end = starts[i + 1]!
    tail = Math.min(tail, end - starts[i]!)
    let same = 0
    while (same < tail && bytes[end - 1 - same] === bytes[starts[1]! - 1 - same]) same++
    tail = same
  }
  return tail
}

/** Whether it is no first byte of a character: those are not cut, since pieces of two of them might be a NaN to whoever copies doubles. */
function isInside(byte: number | undefined): boolean {
  return (byte! & 0xc0) === 0x80
}

/** Of an arena, without the tail. */
class Strings {
  readonly #arena: ByteArena
  readonly #tail: number

  constructor(arena: ByteArena, tail: number) {
    this.#arena = arena
    this.#tail = tail
  }

  length(i: number): number {
    const { starts } = this.#arena
    return starts[i + 1]! - starts[i]! - this.#tail
  }

  /** How many bytes at the beginning are those of another one. */
  first(i: number, other: number): number {
    const { bytes, starts } = this.#arena
    const [a, b] = [starts[i]!, starts[other]!]
    const most = Math.min(this.length(i), this.length(other), MAX)
    let same = 0
    while (same < most && bytes[a + same] === bytes[b + same]) same++
    while (same > 0 && isInside(bytes[a + same])) same--
    return same
  }

  /** The same at the end, of those that `first` leaves. */
  last(i: number, other: number, first: number): number {
    const { bytes, starts } = this.#arena
    const [a, b] = [starts[i + 1]! - this.#tail - 1, starts[other + 1]! - this.#tail - 1]
    const most = Math.min(this.length(i) - first, this.length(other) - first, MAX)
    let same = 0
    while (same < most && bytes[a - same] === bytes[b - same]) same++
    while (same > 0 && isInside(bytes[a - same + 1])) same--
    return same
  }

  /** What it has of its own if it is like another one. */
  #own(i: number, other: number): number {
    const first = this.first(i, other)
    return this.length(i) - first - this.last(i, other, first)
  }

  /** Whether it is one to be like, instead of the one that is now: all its bytes are kept then, and those that come have less of their own. */
  isBetter(i: number, like: number): boolean {
    const length = this.length(i)
    const own = this.#own(i, like)
    if (2 * own > length) return true
    const end = Math.min(i + 1 + AHEAD, this.#arena.count)
    let gain = own - length
    for (let next = i + 1; next < end; next++) {
      const now = this.#own(next, like)
      if (next === i + 1 && now < WORTH_A_LOOK) return false
      const less = now - this.#own(next, i)
      if (next === i + 1 && less < WORTH_A_LOOK) return false
      gain += less
    }
    return gain > 0
  }
}
