/**
 * Writes snappy's block format while the bytes are made. Whoever writes knows what it has written before, so nothing needs to be
 * searched for: what is there already is a reference to it.
 *
 * A block is the length of what it unpacks to, as a varint, then elements. The two low bits of an element's first byte say what it is:
 * 0 a literal of (tag >> 2) + 1 bytes, or, for 60 to 62, of as many as the next one to three bytes say, and one more; 1 a copy of 4 to 11
 * bytes from up to 2047 bytes back, 2 and 3 one of 1 to 64 bytes from a distance in two or four bytes.
 */
export class SnappyWriter {
  bytes: Uint8Array
  view: DataView
  at = 0
  /** How long what was written is when it is unpacked, the open literal not counted. */
  #length = 0
  /** Where the tag of the open literal goes, or -1. */
  #tag = -1

  constructor(expectedBytes = 1024) {
    this.bytes = new Uint8Array(expectedBytes)
    this.view = new DataView(this.bytes.buffer)
  }

  /** The place of the next byte, once it is unpacked. */
  get length(): number {
    return this.#tag < 0 ? this.#length : this.#length + this.at - this.#tag - 1
  }

  /**
   * From here on `bytes` may be written to at `at`, at most 60 bytes until `close` is called, by this or by a copy. Nothing happens
   * where that is so already and `room` more fit.
   */
  open(room: number): void {
    if (this.#tag >= 0 && this.at - this.#tag - 1 + room <= 60) return
    this.close()
    this.reserve(64)
    this.#tag = this.at++
  }

  close(): void {
    if (this.#tag < 0) return
    const length = this.at - this.#tag - 1
    if (length === 0) this.at--
    else this.bytes[this.#tag] = (length - 1) << 2
    this.#length += length
    this.#tag = -1
  }

  literal(from: Uint8Array, start: number, end: number): void {
    this.close()
    const length = end - start
    if (length === 0) return
    this.reserve(length + 4)
    const { bytes } = this
    let at = this.at
    if (length <= 60) {
      bytes[at++] = (length - 1) << 2
    } else {
      const sizeBytes = length <= 0x100 ? 1 : length <= 0x1_0000 ? 2 : 3
      bytes[at++] = (59 + sizeBytes) << 2
      for (let i = 0, rest = length - 1; i < sizeBytes; i++, rest >>>= 8) bytes[at++] = rest & 0xff
    }
    // For a few bytes the call of `set` costs more than the bytes.
    if (length > 48) bytes.set(from.subarray(start, end), at)
    else for (let i = start, to = at; i < end; i++, to++) bytes[to] = from[i]!
    this.at = at + length
    this.#length += length
  }

  /** Once more what stands at `place`, `length` bytes of it. */
  copy(place: number, length: number): void {
    this.close()
    if (length === 0) return
    this.reserve(5 * ((length >> 6) + 1))
    const { bytes } = this
    const distance = this.#length - place
    let at = this.at
    let rest = length
    while (rest > 0) {
      const size = rest > 64 ? 64 : rest
      if (distance < 2048 && size >= 4 && size < 12) {
        bytes[at++] = 1 | ((size - 4) << 2) | ((distance >>> 8) << 5)
        bytes[at++] = distance & 0xff
      } else if (distance < 0x1_0000) {
        bytes[at++] = 2 | ((size - 1) << 2)
        bytes[at++] = distance & 0xff
        bytes[at++] = distance >>> 8
      } else {
        bytes[at++] = 3 | ((size - 1) << 2)
        this.view.setUint32(at, distance, true)
        at += 4
      }
      rest -= size
    }
    this.at = at
    this.#length += length
  }

  varint(value: number): void {
    this.at = writeVarint(this.bytes, this.at, value)
  }

  reserve(more: number): void {
    if (this.at + more <= this.bytes.length) return
    const grown = new Uint8Array(Math.max(this.at + more, this.bytes.length * 2))
    grown.set(this.bytes.subarray(0, this.at))
    this.bytes = grown
    this.view = new DataView(grown.buffer)
  }

  /** Forgets everything but its memory. */
  clear(): void {
    this.at = 0
    this.#length = 0
    this.#tag = -1
  }
}

/** The block that unpacks to what several writers wrote, one after the other. Copies reach back within their own writer only. */
export function snappyBlock(...writers: SnappyWriter[]): Uint8Array {
  let length = 0
  let size = 0
  for (const writer of writers) {
    writer.close()
    length += writer.length
    size += writer.at
  }
  const head = varintSize(length)
  const block = new Uint8Array(head + size)
  writeVarint(block, 0, length)
  let at = head
  for (const writer of writers) {
    block.set(writer.bytes.subarray(0, writer.at), at)
    at += writer.at
  }
  return block
}

/** Of whole numbers from 0 to 2^53; returns where it ends. */
export function writeVarint(bytes: Uint8Array, at: number, value: number): number {
  let rest = value
  while (rest >= 0x8000_0000) {
    bytes[at++] = (rest % 128) | 0x80
    rest = Math.floor(rest / 128)
  }
  while (rest >= 0x80) {
    bytes[at++] = (rest & 0x7f) | 0x80
    rest >>>= 7
  }
  bytes[at++] = rest
  return at
}

export function varintSize(value: number): number {
  let size = 1
  for (let rest = value; rest >= 128; rest = Math.floor(rest / 128)) size++
  return size
}
