/** From here on room for as much again would be most of what is taken. */
const LARGE_BYTES = 1024 * 1024
const LARGE_GROWTH = 1.25

/**
 * Many short byte strings in one buffer, by number.
 *
 * When it grows or is trimmed, the buffer it had is gone at once, and not when garbage is looked for: whoever looks at `bytes` or
 * `view` does so anew after each call.
 */
export class ByteArena {
  bytes: Uint8Array
  /** String i is bytes[starts[i], starts[i + 1]). */
  starts: Uint32Array
  count = 0
  #view: DataView | undefined

  /** With room for so much. What never needs more, as what is known of a target, is all in one piece of memory. */
  constructor(bytes = 0, count = 0) {
    const startsBytes = (count + 1) * Uint32Array.BYTES_PER_ELEMENT
    const buffer = new ArrayBuffer(startsBytes + bytes)
    this.starts = new Uint32Array(buffer, 0, count + 1)
    // Where there are only starts, these have the buffer for themselves.
    this.bytes = bytes === 0 ? new Uint8Array(0) : new Uint8Array(buffer, startsBytes)
  }

  /** Most are never looked at in this way. */
  get view(): DataView {
    const { buffer, byteOffset, byteLength } = this.bytes
    return (this.#view ??= new DataView(buffer, byteOffset, byteLength))
  }

  get byteLength(): number {
    return this.starts[this.count]!
  }

  /** Makes room for so many bytes in all: what grows is there twice while it is moved. */
  reserve(bytes: number): void {
    if (bytes > this.bytes.length) this.#resize(bytes)
  }

  /** Appends source[from, to) and returns its number. */
  add(source: Uint8Array, from: number, to: number): number {
    const start = this.byteLength
    const end = start + to - from
    if (end > this.bytes.length) this.#growBytes(end)
    if (this.count + 2 > this.starts.length) this.#growCount()
    // For a few bytes the call of `set` costs more than the bytes.
    if (to - from > 64) this.bytes.set(to - from === source.length ? source : source.subarray(from, to), start)
    else for (let i = from, at = start; i < to; i++, at++) this.bytes[at] = source[i]!
    this.starts[++this.count] = end
    return this.count - 1
  }

  /** Appends several neighbours of another arena. There must be room for them. */
  addRun(other: ByteArena, from: number, count: number): void {
    const start = other.starts[from]!
    const shift = this.byteLength - start
    this.bytes.set(other.bytes.subarray(start, other.starts[from + count]), this.byteLength)
    for (let i = 1; i <= count; i++) this.starts[this.count + i] = other.starts[from + i]! + shift
    this.count += count
  }

  /** Gives back the room that was held for more strings; `slack` bytes stay behind the last one. */
  trim(slack = 0): void {
    const end = this.byteLength
    this.#resize(end + slack)
    this.bytes.fill(0, end)
    this.starts = this.starts.slice(0, this.count + 1)
  }

  /** Nobody needs it any more: its memory is free at once, and not when garbage is looked for. */
  release(): void {
    this.count = 0
    this.starts = new Uint32Array(1)
    this.#resize(0)
  }

  #growBytes(needed: number): void {
    const { length } = this.bytes
    this.#resize(Math.max(needed, Math.ceil(length * (length < LARGE_BYTES ? 2 : LARGE_GROWTH)), 4096))
  }

  #resize(length: number): void {
    this.bytes = new Uint8Array(resized(this.bytes, length))
    this.#view = undefined
  }

  #growCount(): void {
    const length = Math.max(this.starts.length * 2, 128)
    this.starts = new Uint32Array(resized(this.starts, length * this.starts.BYTES_PER_ELEMENT))
  }
}

/** The same bytes with more room, or less. What has a buffer with nothing else in it gives that up. */
function resized({ buffer, byteOffset, byteLength }: Uint8Array | Uint32Array, length: number): ArrayBuffer {
  const own = buffer as ArrayBuffer
  if (byteLength === own.byteLength) return own.transfer(length)
  const bytes = new Uint8Array(length)
  bytes.set(new Uint8Array(own, byteOffset, Math.min(byteLength, length)))
  return bytes.buffer
}

/** Those strings of both, the second arena's numbers continuing the first's, in an arena of exactly their size. */
export function pickStrings(first: ByteArena, second: ByteArena, numbers: Uint32Array): ByteArena {
  if (second.count === 0 && numbers.length === first.count && numbers.every((number, i) => number === i)) return first
  let length = 0
  for (const number of numbers) {
    const arena = number < first.count ? first : second
    const own = number < first.count ? number : number - first.count
    length += arena.starts[own + 1]! - arena.starts[own]!
  }
  const picked = new ByteArena(length, numbers.length)
  for (let i = 0; i < numbers.length;) {
    // Neighbours that stay neighbours are copied together: that is nearly all of them when little changed.
    let end = i + 1
    while (end < numbers.length && numbers[end] === numbers[end - 1]! + 1 && numbers[end] !== first.count) end++
    const arena = numbers[i]! < first.count ? first : second
    const offset = numbers[i]! < first.count ? 0 : first.count
    picked.addRun(arena, numbers[i]! - offset, end - i)
    i = end
  }
  return picked
}
