/** The strings of a request of remote write 2.0, each of them once. The first is the empty one. */
import { ByteArena } from './byte-arena.ts'
import { varintSize, writeVarint, type SnappyWriter } from './snappy-writer.ts'

export class Symbols {
  #arena = new ByteArena(4096, 128)
  /** Open addressing; a place has the number of a symbol, 0 where it is free: nobody looks for the empty string. */
  #slots = new Uint32Array(256)
  /** What they take in the message. */
  length = 0

  constructor() {
    this.clear()
  }

  clear(): void {
    this.#arena.count = 0
    this.#slots.fill(0)
    this.#arena.add(EMPTY, 0, 0)
    this.length = 2
  }

  /** The number of bytes[start, end). */
  numberOf(bytes: Uint8Array, start: number, end: number): number {
    if (start === end) return 0
    const mask = this.#slots.length - 1
    let slot = hash(bytes, start, end) & mask
    for (;;) {
      const number = this.#slots[slot]!
      if (number === 0) break
      if (this.#isSame(number, bytes, start, end)) return number
      slot = (slot + 1) & mask
    }
    const number = this.#arena.add(bytes, start, end)
    this.#slots[slot] = number
    this.length += 1 + varintSize(end - start) + end - start
    if (this.#arena.count * 2 > this.#slots.length) this.#grow()
    return number
  }

  writeTo(out: SnappyWriter): void {
    const { bytes, starts, count } = this.#arena
    const head = new Uint8Array(6)
    for (let i = 0; i < count; i++) {
      const [start, end] = [starts[i]!, starts[i + 1]!]
      head[0] = 0x22
      const headLength = writeVarint(head, 1, end - start)
      // Short ones share a literal.
      if (end - start <= 40) {
        out.open(headLength + end - start)
        for (let k = 0; k < headLength; k++) out.bytes[out.at++] = head[k]!
        for (let k = start; k < end; k++) out.bytes[out.at++] = bytes[k]!
      } else {
        out.literal(head, 0, headLength)
        out.literal(bytes, start, end)
      }
    }
  }

  #isSame(number: number, bytes: Uint8Array, start: number, end: number): boolean {
    const own = this.#arena.starts[number]!
    if (this.#arena.starts[number + 1]! - own !== end - start) return false
    const shift = own - start
    for (let i = start; i < end; i++) if (bytes[i] !== this.#arena.bytes[i + shift]) return false
    return true
  }

  #grow(): void {
    this.#slots = new Uint32Array(this.#slots.length * 2)
    const mask = this.#slots.length - 1
    for (let number = 1; number < this.#arena.count; number++) {
      let slot = hash(this.#arena.bytes, this.#arena.starts[number]!, this.#arena.starts[number + 1]!) & mask
      while (this.#slots[slot] !== 0) slot = (slot + 1) & mask
      this.#slots[slot] = number
    }
  }
}

const EMPTY = new Uint8Array(0)

function hash(bytes: Uint8Array, start: number, end: number): number {
  let value = 0x811c9dc5
  for (let i = start; i < end; i++) value = Math.imul(value ^ bytes[i]!, 0x01000193)
  return value ^ (value >>> 15)
}
