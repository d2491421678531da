/** Many short byte strings in one buffer, by number. */
export class ByteArena {
  bytes: Uint8Array
  view: DataView
  /** String i is bytes[starts[i], starts[i + 1]). */
  starts: Uint32Array
  count = 0

  constructor(bytes = 0, count = 0) {
    this.bytes = new Uint8Array(bytes)
    this.view = new DataView(this.bytes.buffer)
    this.starts = new Uint32Array(count + 1)
  }

  get byteLength(): number {
    return this.starts[this.count]!
  }

  /** Appends source[from, to) and returns its number. */
  add(source: Uint8Array, from: number, to: number): number {
    const start = this.byteLength
    const end = start + to - from
    if (end > this.bytes.length) this.#growBytes(end)
    if (this.count + 2 > this.starts.length) this.#growCount()
    // For a few bytes the call of `set` costs more than the bytes.
    if (to - from > 64) this.bytes.set(source.subarray(from, to), start)
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
    const bytes = new Uint8Array(this.byteLength + slack)
    bytes.set(this.bytes.subarray(0, this.byteLength))
    this.bytes = bytes
    this.view = new DataView(bytes.buffer)
    this.starts = this.starts.slice(0, this.count + 1)
  }

  #growBytes(needed: number): void {
    const grown = new Uint8Array(Math.max(needed, this.bytes.length * 2, 4096))
    grown.set(this.bytes)
    this.bytes = grown
    this.view = new DataView(grown.buffer)
  }

  #growCount(): void {
    const grown = new Uint32Array(Math.max(this.starts.length * 2, 128))
    grown.set(this.starts)
    this.starts = grown
  }
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
