/**
 * Messages of protobuf, for what is written once and kept. A field that has its default value is left out, as proto3 has it; who
 * needs it nevertheless writes it as a message or as a number that is not zero.
 */
const VARINT = 0
const FIXED64 = 1
const BYTES = 2

export class ProtobufBuilder {
  #buffer = Buffer.allocUnsafeSlow(4096)
  #at = 0

  clear(): void {
    this.#at = 0
  }

  /** A copy of what was written. */
  bytes(): Uint8Array {
    return new Uint8Array(this.#buffer.subarray(0, this.#at))
  }

  text(field: number, text: string): void {
    if (text !== '') this.message(field, () => this.raw(text))
  }

  /** A field with a length: `write` writes what is in it. */
  message(field: number, write: () => void): void {
    this.#varint((field << 3) | BYTES)
    this.#reserve(1)
    const lengthAt = this.#at++
    const start = this.#at
    write()
    const length = this.#at - start
    const room = varintLength(length)
    if (room > 1) {
      // Most are shorter than 128 bytes; the others move to make room for their length.
      this.#reserve(room)
      this.#buffer.copyWithin(start + room - 1, start, this.#at)
    }
    this.#at = lengthAt
    this.#varint(length)
    this.#at += length
  }

  raw(content: string | Uint8Array): void {
    if (typeof content === 'string') {
      // No UTF-16 unit becomes more than three bytes.
      this.#reserve(content.length * 3)
      this.#at += this.#buffer.write(content, this.#at)
    } else {
      this.#reserve(content.length)
      this.#buffer.set(content, this.#at)
      this.#at += content.length
    }
  }

  /** Also where it is zero. */
  unsigned(field: number, value: number): void {
    this.#varint((field << 3) | VARINT)
    this.#varint(value)
  }

  signed(field: number, value: bigint): void {
    this.#varint((field << 3) | VARINT)
    this.#reserve(10)
    let rest = BigInt.asUintN(64, value)
    for (; rest > 0x7fn; rest >>= 7n) this.#buffer[this.#at++] = Number(rest & 0x7fn) | 0x80
    this.#buffer[this.#at++] = Number(rest)
  }

  double(field: number, value: number): void {
    this.#varint((field << 3) | FIXED64)
    this.#double(value)
  }

  packedDoubles(field: number, values: readonly number[]): void {
    if (values.length === 0) return
    this.message(field, () => {
      for (const value of values) this.#double(value)
    })
  }

  #double(value: number): void {
    this.#reserve(8)
    this.#at = this.#buffer.writeDoubleLE(value, this.#at)
  }

  #varint(value: number): void {
    this.#reserve(5)
    let rest = value
    for (; rest > 0x7f; rest >>>= 7) this.#buffer[this.#at++] = (rest & 0x7f) | 0x80
    this.#buffer[this.#at++] = rest
  }

  #reserve(more: number): void {
    if (this.#at + more <= this.#buffer.length) return
    const larger = Buffer.allocUnsafeSlow(Math.max(this.#buffer.length * 2, this.#at + more))
    larger.set(this.#buffer.subarray(0, this.#at))
    this.#buffer = larger
  }
}

function varintLength(value: number): number {
  let length = 1
  for (let rest = value; rest > 0x7f; rest >>>= 7) length++
  return length
}
