/**
 * Reads the fields of protobuf messages one after the other, where they are, without making objects of them.
 *
 * message = (tag value)*; tag = varint of (field number << 3 | wire type)
 * wire types: 0 varint, 1 eight bytes, 2 length and bytes, 3 begin of a group, 4 end of a group, 5 four bytes
 *
 * A group is skipped with all that is in it: nothing that is read here has any. Whoever reads compares whole tags, so a field that
 * comes with another wire type than its own is an unknown field, as the format wants it.
 */
import { isUtf8 } from 'node:buffer'
import { MalformedError } from './malformed.ts'

export const VARINT = 0
export const EIGHT_BYTES = 1
export const BYTES = 2
const BEGIN_GROUP = 3
const END_GROUP = 4
const FOUR_BYTES = 5

/** As deep as Google's own readers go. */
export const MAX_DEPTH = 100

const TWO_32 = 2 ** 32

export class ProtobufReader {
  bytes: Uint8Array = NO_BYTES
  view: DataView = NO_VIEW
  at = 0
  end = 0
  /** Of the field that was read last. */
  tag = 0
  /** Where its tag begins. */
  tagAt = 0
  /** Its bytes: of eight bytes, and of length and bytes. */
  from = 0
  to = 0
  /** Of a varint: its lower and upper 32 bits, neither below 0. */
  low = 0
  high = 0

  /** Goes to the beginning of another message. */
  open(bytes: Uint8Array, view: DataView, start: number, end: number): this {
    this.bytes = bytes
    this.view = view
    this.at = start
    this.end = end
    return this
  }

  /** Goes to the message that another reader has just read as a field. */
  enter(outer: ProtobufReader): this {
    return this.open(outer.bytes, outer.view, outer.from, outer.to)
  }

  /** Reads the next field. False at the end. */
  next(): boolean {
    if (this.at >= this.end) return false
    this.tagAt = this.at
    const first = this.bytes[this.at]!
    if (first < 0x80) {
      this.at++
      this.tag = first
    } else {
      this.readVarint()
      if (this.high !== 0) throw new MalformedError('the tag of a field has more than 32 bits')
      this.tag = this.low
    }
    if (this.tag < 8) throw new MalformedError('there is no field with the number 0')
    switch (this.tag & 7) {
      case VARINT:
        this.readVarint()
        break
      case EIGHT_BYTES:
        this.#take(8)
        break
      case BYTES:
        this.#takeCounted()
        break
      case FOUR_BYTES:
        this.#take(4)
        break
      case BEGIN_GROUP:
        this.#skipGroup()
        break
      case END_GROUP:
        throw new MalformedError('a group ends that did not begin')
      default:
        throw new MalformedError(`there is no wire type ${this.tag & 7}`)
    }
    return true
  }

  readVarint(): void {
    let low = 0
    let high = 0
    for (let shift = 0; shift < 70; shift += 7) {
      if (this.at >= this.end) throw truncated()
      const byte = this.bytes[this.at++]!
      const bits = byte & 0x7f
      if (shift < 28) low |= bits << shift
      else if (shift === 28) {
        low |= bits << 28
        high |= bits >>> 4
      } else if (shift < 63) high |= bits << (shift - 32)
      else high |= bits << 31
      if (byte < 0x80) {
        this.low = low >>> 0
        this.high = high >>> 0
        return
      }
    }
    throw new MalformedError('a varint is longer than ten bytes')
  }

  #take(length: number): void {
    this.from = this.at
    this.to = this.at + length
    if (this.to > this.end) throw truncated()
    this.at = this.to
  }

  #takeCounted(): void {
    const length = this.bytes[this.at]!
    if (this.at < this.end && length < 0x80) {
      this.at++
      this.#take(length)
    } else {
      this.readVarint()
      if (this.high !== 0) throw truncated()
      this.#take(this.low)
    }
  }

  #skipGroup(): void {
    const begun = [this.tag >>> 3]
    const { tag } = this
    while (begun.length > 0) {
      if (this.at >= this.end) throw new MalformedError('a group does not end')
      this.readVarint()
      const inner = this.low
      if (this.high !== 0 || inner < 8) throw new MalformedError('a group has a field that cannot be')
      switch (inner & 7) {
        case VARINT:
          this.readVarint()
          break
        case EIGHT_BYTES:
          this.#take(8)
          break
        case BYTES:
          this.#takeCounted()
          break
        case FOUR_BYTES:
          this.#take(4)
          break
        case BEGIN_GROUP:
          begun.push(inner >>> 3)
          if (begun.length > MAX_DEPTH) throw tooDeep()
          break
        case END_GROUP:
          if (begun.pop() !== inner >>> 3) throw new MalformedError('a group ends that is not the one that began last')
          break
        default:
          throw new MalformedError(`there is no wire type ${inner & 7}`)
      }
    }
    this.tag = tag
  }

  /** The varint that was read last. */
  unsigned(): number {
    return this.high * TWO_32 + this.low
  }

  /** A signed integer, as a bigint where a number cannot hold it. */
  signed(): number | bigint {
    return signed(this.low, this.high)
  }

  /** An `sint32`. */
  zigzag(): number {
    return (this.low >>> 1) ^ -(this.low & 1)
  }

  double(): number {
    return this.view.getFloat64(this.from, true)
  }

  /** A `fixed64`, rounded where a number cannot hold it. */
  fixed(): number {
    return this.view.getUint32(this.from + 4, true) * TWO_32 + this.view.getUint32(this.from, true)
  }

  /** An `sfixed64`, likewise. */
  signedFixed(): number {
    return this.view.getInt32(this.from + 4, true) * TWO_32 + this.view.getUint32(this.from, true)
  }

  /**
   * A `fixed64` of nanoseconds since 1970, in whole milliseconds; 0 is 0. In two steps, because no number can hold the nanoseconds:
   * 2^32 ns are 4294 ms and 967296 ns.
   */
  milliseconds(): number {
    const high = this.view.getUint32(this.from + 4, true)
    return high * 4294 + Math.floor((high * 967296 + this.view.getUint32(this.from, true)) / 1e6)
  }

  text(): string {
    return textOf(this.bytes, this.from, this.to)
  }
}

export function signed(low: number, high: number): number | bigint {
  const upper = high | 0
  // 2^53 needs 21 bits above the lower 32.
  if (upper >= -0x200000 && upper < 0x200000) return upper * TWO_32 + low
  return (BigInt(upper) << 32n) | BigInt(low)
}

const NO_BYTES = new Uint8Array(0)
const NO_VIEW = new DataView(NO_BYTES.buffer)
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

export function textOf(bytes: Uint8Array, start: number, end: number): string {
  if (start === end) return ''
  const part = bytes.subarray(start, end)
  if (!isUtf8(part)) throw new MalformedError('a text is not UTF-8')
  return decoder.decode(part)
}

export function tooDeep(): MalformedError {
  return new MalformedError(`it is nested deeper than ${MAX_DEPTH} levels`)
}

function truncated(): MalformedError {
  return new MalformedError('it ends in the middle of a field')
}
