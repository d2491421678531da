/** Writes attributes that came as JSON in the bytes that protobuf has for them: what is known of a series is found by those bytes. */
import { jsonBoolean, jsonBytes, jsonDouble, jsonInt64, jsonList, jsonObject, jsonText, wrong } from './json-fields.ts'
import { MAX_DEPTH, tooDeep } from './protobuf-reader.ts'
import type { AttributeBytes } from './otlp-points.ts'

const VALUE_KINDS = [
  'stringValue',
  'boolValue',
  'intValue',
  'doubleValue',
  'arrayValue',
  'kvlistValue',
  'bytesValue',
] as const

export class AttributeWriter {
  #bytes = Buffer.alloc(4096)
  #view = viewOf(this.#bytes)
  #at = 0

  /** Makes `attributes` those of a JSON list of `KeyValue`s. They stay valid until the next call. */
  write(list: unknown, field: string, attributes: AttributeBytes): void {
    this.#at = 0
    for (const item of jsonList(list, field)) this.#keyValue(item, field, ATTRIBUTE, 1)
    attributes.bytes = this.#bytes
    attributes.view = this.#view
    attributes.start = 0
    attributes.end = this.#at
  }

  /** The same, with bytes of their own. */
  copy(list: unknown, field: string): AttributeBytes {
    this.#at = 0
    for (const item of jsonList(list, field)) this.#keyValue(item, field, ATTRIBUTE, 1)
    const bytes = Buffer.from(this.#bytes.subarray(0, this.#at))
    return { bytes, view: viewOf(bytes), start: 0, end: bytes.length }
  }

  #keyValue(item: unknown, field: string, tag: number, depth: number): void {
    const { key, value } = jsonObject(item, field)
    const end = this.#begin(tag)
    this.#text(KEY, jsonText(key, 'key'))
    if (value !== undefined && value !== null) this.#value(jsonObject(value, 'value'), VALUE, depth)
    this.#end(end)
  }

  #value(value: Readonly<Record<string, unknown>>, tag: number, depth: number): void {
    if (depth > MAX_DEPTH) throw tooDeep()
    const end = this.#begin(tag)
    // Nearly all are texts.
    if (typeof value.stringValue === 'string' && value.intValue === undefined) this.#text(STRING, value.stringValue)
    else this.#other(value, depth)
    this.#end(end)
  }

  #other(value: Readonly<Record<string, unknown>>, depth: number): void {
    const kinds = VALUE_KINDS.filter(kind => value[kind] !== undefined && value[kind] !== null)
    if (kinds.length > 1) throw wrong('value', 'one kind of value', value)
    const kind = kinds[0]
    const given = value[kind!]
    switch (kind) {
      case 'stringValue':
        return this.#text(STRING, jsonText(given, kind))
      case 'boolValue':
        this.#room(2)
        this.#bytes[this.#at++] = BOOL
        this.#bytes[this.#at++] = jsonBoolean(given, kind) ? 1 : 0
        return
      case 'intValue':
        return this.#integer(jsonInt64(given, kind))
      case 'doubleValue':
        this.#room(9)
        this.#bytes[this.#at++] = DOUBLE
        this.#view.setFloat64(this.#at, jsonDouble(given, kind), true)
        this.#at += 8
        return
      case 'arrayValue': {
        const end = this.#begin(ARRAY)
        for (const item of jsonList(jsonObject(given, kind).values, kind)) {
          this.#value(jsonObject(item, kind), ITEM, depth + 2)
        }
        return this.#end(end)
      }
      case 'kvlistValue': {
        const end = this.#begin(KEY_VALUE_LIST)
        for (const item of jsonList(jsonObject(given, kind).values, kind)) this.#keyValue(item, kind, ITEM, depth + 3)
        return this.#end(end)
      }
      case 'bytesValue': {
        const bytes = jsonBytes(given, kind)
        const end = this.#begin(RAW_BYTES)
        this.#room(bytes.length)
        this.#bytes.set(bytes, this.#at)
        this.#at += bytes.length
        return this.#end(end)
      }
      case undefined:
    }
  }

  #integer(value: number | bigint): void {
    this.#room(11)
    this.#bytes[this.#at++] = INT
    if (typeof value === 'number' && value >= 0 && value < 2 ** 31) {
      let rest = value
      for (; rest >= 0x80; rest >>>= 7) this.#bytes[this.#at++] = (rest & 0x7f) | 0x80
      this.#bytes[this.#at++] = rest
    } else {
      let rest = BigInt.asUintN(64, BigInt(value))
      for (; rest >= 0x80n; rest >>= 7n) this.#bytes[this.#at++] = Number(rest & 0x7fn) | 0x80
      this.#bytes[this.#at++] = Number(rest)
    }
  }

  #text(tag: number, text: string): void {
    const end = this.#begin(tag)
    // A character has at most three bytes.
    this.#room(text.length * 3)
    let i = 0
    let at = this.#at
    if (text.length < 64) {
      for (; i < text.length; i++) {
        const code = text.charCodeAt(i)
        if (code >= 0x80) break
        this.#bytes[at++] = code
      }
    }
    if (i < text.length) this.#at += this.#bytes.write(text, this.#at)
    else this.#at = at
    this.#end(end)
  }

  /** Writes a tag and leaves one byte for the length, which is enough for nearly all. */
  #begin(tag: number): number {
    this.#room(2)
    this.#bytes[this.#at++] = tag
    return ++this.#at
  }

  #end(start: number): void {
    const length = this.#at - start
    if (length < 0x80) {
      this.#bytes[start - 1] = length
      return
    }
    let more = 0
    for (let rest = length >>> 7; rest > 0; rest >>>= 7) more++
    this.#room(more)
    this.#bytes.copyWithin(start + more, start, this.#at)
    this.#at += more
    let at = start - 1
    let rest = length
    for (; rest >= 0x80; rest >>>= 7) this.#bytes[at++] = (rest & 0x7f) | 0x80
    this.#bytes[at] = rest
  }

  #room(length: number): void {
    if (this.#at + length <= this.#bytes.length) return
    const grown = Buffer.alloc(Math.max(this.#bytes.length * 2, this.#at + length))
    this.#bytes.copy(grown, 0, 0, this.#at)
    this.#bytes = grown
    this.#view = viewOf(grown)
  }
}

const ATTRIBUTE = (7 << 3) | 2
const KEY = (1 << 3) | 2
const VALUE = (2 << 3) | 2
const STRING = (1 << 3) | 2
const BOOL = 2 << 3
const INT = 3 << 3
const DOUBLE = (4 << 3) | 1
const ARRAY = (5 << 3) | 2
const KEY_VALUE_LIST = (6 << 3) | 2
const RAW_BYTES = (7 << 3) | 2
const ITEM = (1 << 3) | 2

function viewOf(bytes: Buffer): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
