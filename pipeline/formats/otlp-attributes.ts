/**
 * Attributes from their bytes.
 *
 * KeyValue = 1: key, 2: AnyValue
 * AnyValue = 1: string | 2: bool | 3: int64 | 4: double | 5: { 1: AnyValue* } | 6: { 1: KeyValue* } | 7: bytes
 */
import type { AttributeValue } from '../model/origin.ts'
import { MAX_DEPTH, ProtobufReader, tooDeep } from './protobuf-reader.ts'
import type { AttributeBytes } from './otlp-points.ts'
import { Parts, spanOf, type Span } from './protobuf-parts.ts'

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

/** Of equal keys the first counts, as in OpenTelemetry's own libraries. Throws `MalformedError`. */
export function readAttributes({ bytes, view, start, end }: AttributeBytes): Map<string, AttributeValue> {
  const attributes = new Map<string, AttributeValue>()
  const reader = new ProtobufReader().open(bytes, view, start, end)
  while (reader.next()) addKeyValue(attributes, new ProtobufReader().enter(reader), 1)
  return attributes
}

function addKeyValue(attributes: Map<string, AttributeValue>, reader: ProtobufReader, depth: number): void {
  let key = ''
  const parts = new Parts()
  while (reader.next()) {
    if (reader.tag === KEY) key = reader.text()
    else if (reader.tag === VALUE) parts.add(reader)
  }
  const value = parts.join()
  const read = value === undefined ? null : readValue(value, depth)
  if (!attributes.has(key)) attributes.set(key, read)
}

function readValue(span: Span, depth: number): AttributeValue {
  if (depth > MAX_DEPTH) throw tooDeep()
  const reader = new ProtobufReader().open(span.bytes, span.view, span.start, span.end)
  let value: AttributeValue = null
  // Of a message that comes in two parts both count, unless another kind of value is between them.
  const parts = new Parts()
  let partTag = 0
  while (reader.next()) {
    const { tag } = reader
    if (tag === ARRAY || tag === KEY_VALUE_LIST) {
      if (partTag !== tag) parts.clear()
      parts.add(reader)
      partTag = tag
      continue
    }
    if (tag === STRING) value = reader.text()
    else if (tag === BOOL) value = reader.low !== 0 || reader.high !== 0
    else if (tag === INT) value = reader.signed()
    else if (tag === DOUBLE) value = reader.double()
    else if (tag === RAW_BYTES) value = new Uint8Array(reader.bytes.subarray(reader.from, reader.to))
    else continue
    partTag = 0
  }
  if (partTag === ARRAY) return readArray(parts.join()!, depth)
  if (partTag === KEY_VALUE_LIST) return readMap(parts.join()!, depth)
  return value
}

function readArray({ bytes, view, start, end }: Span, depth: number): AttributeValue[] {
  const values: AttributeValue[] = []
  const reader = new ProtobufReader().open(bytes, view, start, end)
  while (reader.next()) if (reader.tag === ITEM) values.push(readValue(spanOf(reader), depth + 2))
  return values
}

function readMap({ bytes, view, start, end }: Span, depth: number): { [key: string]: AttributeValue } {
  const values = new Map<string, AttributeValue>()
  const reader = new ProtobufReader().open(bytes, view, start, end)
  while (reader.next()) if (reader.tag === ITEM) addKeyValue(values, new ProtobufReader().enter(reader), depth + 3)
  return Object.fromEntries(values)
}

/** Checks that bytes are the attributes they should be, where nobody needs them. */
export function checkAttribute(reader: ProtobufReader): void {
  addKeyValue(new Map(), new ProtobufReader().enter(reader), 1)
}
