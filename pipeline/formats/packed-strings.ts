/**
 * Byte strings most of which are like one shortly before them, kept as what is different: the GPUs of a node have its labels, and all
 * nodes have the same ones.
 *
 * A string is the first bytes of the one that it is like, its own, the last bytes of that one, and a tail that all have. One that is
 * like no other is all its own but for the tail, and only such have others that are like them.
 */
import type { ByteArena } from './byte-arena.ts'

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
    const bytes = new Uint8Array(view.buffer)
    if (starts.length === 0) return bytes.subarray(tailStart)
    const length = this.lengthOf(string)
    if (scratch.length < length) scratch = new Uint8Array(2 * length)
    const like = string - parts[3 * string + BACK]!
    const first = parts[3 * string + FIRST]!
    const last = parts[3 * string + LAST]!
    let at = copy(bytes, starts[like]!, starts[like]! + first, 0)
    at = copy(bytes, starts[string]!, starts[string + 1]!, at)
    at = copy(bytes, starts[like + 1]! - last, starts[like + 1]!, at)
    copy(bytes, tailStart, bytes.length, at)
    return scratch.subarray(0, length)
  }

  areEqual(a: number, b: number): boolean {
    return this.isOne || Buffer.compare(this.read(a).slice(), this.read(b)) === 0
  }

  /** Nobody needs it any more: its memory is free at once, and not when garbage is looked for. */
  release(): void {
    this.view = new DataView(this.view.buffer.transfer(0))
  }
}

type Parts = Pick<PackedStrings, 'starts' | 'parts' | 'longest'>

/** Places in `parts`. */
export const BACK = 0
export const FIRST = 1
export const LAST = 2

let scratch = new Uint8Array(1024)

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

/** `slack` bytes stand before them. */
export function packStrings(arena: ByteArena, slack: number): PackedStrings {
  const { count } = arena
  const tail = commonTail(arena)
  const end = arena.starts[count]!
  const longest = longestOf(arena)
  if (longest === tail) {
    const bytes = new Uint8Array(slack + tail)
    bytes.set(arena.bytes.subarray(end - tail, end), slack)
    return new PackedStrings(count, new DataView(bytes.buffer), tail, { starts: NO_STARTS, parts: NO_PARTS, longest })
  }
  const starts = new Uint32Array(count + 1)
  const parts = new Uint16Array(3 * count)
  starts[0] = slack
  findLikes(arena, tail, (i, back, first, last) => {
    parts.set([back, first, last], 3 * i)
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

const NO_STARTS = new Uint32Array(0)
const NO_PARTS = new Uint16Array(0)

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
