/** What the readers of data points share. */
import { MalformedError } from './malformed.ts'
import { checkAttribute } from './otlp-attributes.ts'
import { addNumber, type AttributeBytes, type MetricsSink, type Numbers } from './otlp-points.ts'
import { fieldsOf, spanOf } from './protobuf-parts.ts'
import { BYTES, EIGHT_BYTES, ProtobufReader } from './protobuf-reader.ts'

/** Reads the point that a reader has just come to, and tells it. */
export type PointReader = (data: ProtobufReader, sink: MetricsSink) => void

export const START = (2 << 3) | EIGHT_BYTES
export const TIME = (3 << 3) | EIGHT_BYTES
/** Of all but numbers. */
export const COUNT = (4 << 3) | EIGHT_BYTES
export const SUM = (5 << 3) | EIGHT_BYTES

/** Attributes are nearly always neighbours; where they are not, this is said by an `end` of -1. */
export function addAttribute(attributes: AttributeBytes, { bytes, view, tagAt, to }: ProtobufReader): void {
  if (attributes.end === 0) {
    attributes.bytes = bytes
    attributes.view = view
    attributes.start = tagAt
    attributes.end = to
  } else {
    attributes.end = attributes.end === tagAt ? to : APART
  }
}

const APART = -1

/** Puts side by side what lies apart. */
export function gather(attributes: AttributeBytes, data: ProtobufReader, tag: number): void {
  if (attributes.end === APART) Object.assign(attributes, fieldsOf(spanOf(data), tag))
}

export function addPacked(numbers: Numbers, { view, from, to }: ProtobufReader, type: 'fixed' | 'double'): void {
  if ((to - from) % 8 !== 0) throw new MalformedError('a list of numbers ends in the middle of one')
  for (let at = from; at < to; at += 8) {
    addNumber(
      numbers,
      type === 'double' ? view.getFloat64(at, true) : view.getUint32(at + 4, true) * 2 ** 32 + view.getUint32(at, true),
    )
  }
}

const packedReader = new ProtobufReader()

export function addPackedVarints(numbers: Numbers, outer: ProtobufReader): void {
  packedReader.enter(outer)
  while (packedReader.at < packedReader.end) {
    packedReader.readVarint()
    addNumber(numbers, packedReader.unsigned())
  }
}

const exemplarReader = new ProtobufReader()

/** Exemplars are counted and left out, but what is none is no good request. */
export function checkExemplar(outer: ProtobufReader): void {
  const FILTERED_ATTRIBUTE = (7 << 3) | BYTES
  exemplarReader.enter(outer)
  while (exemplarReader.next()) if (exemplarReader.tag === FILTERED_ATTRIBUTE) checkAttribute(exemplarReader)
}
