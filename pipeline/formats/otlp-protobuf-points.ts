/** Reads data points in protobuf: one reader for each kind of metric. */
import { MalformedError } from './malformed.ts'
import { checkAttribute } from './otlp-attributes.ts'
import {
  addNumber,
  clearPoint,
  createExponentialPoint,
  createHistogramPoint,
  createNumberPoint,
  createSummaryPoint,
  type AttributeBytes,
  type MetricKind,
  type MetricsSink,
  type Numbers,
} from './otlp-points.ts'
import { fieldsOf, spanOf } from './protobuf-parts.ts'
import { BYTES, EIGHT_BYTES, ProtobufReader, VARINT } from './protobuf-reader.ts'

/** Reads the point that a reader has just come to, and tells it. */
export type PointReader = (data: ProtobufReader, sink: MetricsSink) => void

const START = (2 << 3) | EIGHT_BYTES
const TIME = (3 << 3) | EIGHT_BYTES
/** Of all but numbers. */
const COUNT = (4 << 3) | EIGHT_BYTES
const SUM = (5 << 3) | EIGHT_BYTES

export function createPointReaders(): Readonly<Record<MetricKind, PointReader>> {
  const number = createNumberReader()
  return {
    gauge: number,
    sum: number,
    histogram: createHistogramReader(),
    'exponential histogram': createExponentialReader(),
    summary: createSummaryReader(),
  }
}

function createNumberReader(): PointReader {
  const AS_DOUBLE = (4 << 3) | EIGHT_BYTES
  const AS_INT = (6 << 3) | EIGHT_BYTES
  const EXEMPLAR = (5 << 3) | BYTES
  const ATTRIBUTE = (7 << 3) | BYTES
  const FLAGS = (8 << 3) | VARINT
  const reader = new ProtobufReader()
  const point = createNumberPoint()

  return (data, sink) => {
    reader.enter(data)
    clearPoint(point)
    point.value = 0
    point.hasValue = false
    while (reader.next()) {
      switch (reader.tag) {
        case ATTRIBUTE:
          addAttribute(point.attributes, reader)
          break
        case START:
          point.startMs = reader.milliseconds()
          break
        case TIME:
          point.timeMs = reader.milliseconds()
          break
        case AS_DOUBLE:
          point.value = reader.double()
          point.hasValue = true
          break
        case AS_INT:
          point.value = reader.signedFixed()
          point.hasValue = true
          break
        case EXEMPLAR:
          checkExemplar(reader)
          point.exemplars++
          break
        case FLAGS:
          point.flags = reader.low
      }
    }
    gather(point.attributes, data, ATTRIBUTE)
    sink.number(point)
  }
}

function createHistogramReader(): PointReader {
  const BUCKET_COUNT = (6 << 3) | EIGHT_BYTES
  const BUCKET_COUNTS = (6 << 3) | BYTES
  const BOUND = (7 << 3) | EIGHT_BYTES
  const BOUNDS = (7 << 3) | BYTES
  const EXEMPLAR = (8 << 3) | BYTES
  const ATTRIBUTE = (9 << 3) | BYTES
  const FLAGS = (10 << 3) | VARINT
  const reader = new ProtobufReader()
  const point = createHistogramPoint()

  return (data, sink) => {
    reader.enter(data)
    clearPoint(point)
    point.count = 0
    point.sum = NaN
    point.bucketCounts.length = point.bounds.length = 0
    while (reader.next()) {
      switch (reader.tag) {
        case ATTRIBUTE:
          addAttribute(point.attributes, reader)
          break
        case START:
          point.startMs = reader.milliseconds()
          break
        case TIME:
          point.timeMs = reader.milliseconds()
          break
        case COUNT:
          point.count = reader.fixed()
          break
        case SUM:
          point.sum = reader.double()
          break
        case BUCKET_COUNT:
          addNumber(point.bucketCounts, reader.fixed())
          break
        case BUCKET_COUNTS:
          addPacked(point.bucketCounts, reader, 'fixed')
          break
        case BOUND:
          addNumber(point.bounds, reader.double())
          break
        case BOUNDS:
          addPacked(point.bounds, reader, 'double')
          break
        case EXEMPLAR:
          checkExemplar(reader)
          point.exemplars++
          break
        case FLAGS:
          point.flags = reader.low
      }
    }
    gather(point.attributes, data, ATTRIBUTE)
    sink.histogram(point)
  }
}

function createExponentialReader(): PointReader {
  const ATTRIBUTE = (1 << 3) | BYTES
  const SCALE = (6 << 3) | VARINT
  const ZERO_COUNT = (7 << 3) | EIGHT_BYTES
  const POSITIVE = (8 << 3) | BYTES
  const NEGATIVE = (9 << 3) | BYTES
  const FLAGS = (10 << 3) | VARINT
  const EXEMPLAR = (11 << 3) | BYTES
  const ZERO_THRESHOLD = (14 << 3) | EIGHT_BYTES
  const OFFSET = (1 << 3) | VARINT
  const BUCKET_COUNT = (2 << 3) | VARINT
  const BUCKET_COUNTS = (2 << 3) | BYTES
  const reader = new ProtobufReader()
  const bucketReader = new ProtobufReader()
  const point = createExponentialPoint()

  /** Of buckets that come in two parts the counts follow each other, and the last offset counts. */
  function addBuckets(counts: Numbers, before: number): number {
    bucketReader.enter(reader)
    let offset = before
    while (bucketReader.next()) {
      if (bucketReader.tag === OFFSET) offset = bucketReader.zigzag()
      else if (bucketReader.tag === BUCKET_COUNT) addNumber(counts, bucketReader.unsigned())
      else if (bucketReader.tag === BUCKET_COUNTS) addPackedVarints(counts, bucketReader)
    }
    return offset
  }

  return (data, sink) => {
    reader.enter(data)
    clearPoint(point)
    point.count = point.scale = point.zeroCount = point.zeroThreshold = 0
    point.sum = NaN
    point.positiveOffset = point.negativeOffset = 0
    point.positive.length = point.negative.length = 0
    while (reader.next()) {
      switch (reader.tag) {
        case ATTRIBUTE:
          addAttribute(point.attributes, reader)
          break
        case START:
          point.startMs = reader.milliseconds()
          break
        case TIME:
          point.timeMs = reader.milliseconds()
          break
        case COUNT:
          point.count = reader.fixed()
          break
        case SUM:
          point.sum = reader.double()
          break
        case SCALE:
          point.scale = reader.zigzag()
          break
        case ZERO_COUNT:
          point.zeroCount = reader.fixed()
          break
        case ZERO_THRESHOLD:
          point.zeroThreshold = reader.double()
          break
        case POSITIVE:
          point.positiveOffset = addBuckets(point.positive, point.positiveOffset)
          break
        case NEGATIVE:
          point.negativeOffset = addBuckets(point.negative, point.negativeOffset)
          break
        case EXEMPLAR:
          checkExemplar(reader)
          point.exemplars++
          break
        case FLAGS:
          point.flags = reader.low
      }
    }
    gather(point.attributes, data, ATTRIBUTE)
    sink.exponential(point)
  }
}

function createSummaryReader(): PointReader {
  const VALUE_AT_QUANTILE = (6 << 3) | BYTES
  const ATTRIBUTE = (7 << 3) | BYTES
  const FLAGS = (8 << 3) | VARINT
  const QUANTILE = (1 << 3) | EIGHT_BYTES
  const VALUE = (2 << 3) | EIGHT_BYTES
  const reader = new ProtobufReader()
  const pairReader = new ProtobufReader()
  const point = createSummaryPoint()

  return (data, sink) => {
    reader.enter(data)
    clearPoint(point)
    point.count = point.sum = 0
    point.quantiles.length = point.values.length = 0
    while (reader.next()) {
      switch (reader.tag) {
        case ATTRIBUTE:
          addAttribute(point.attributes, reader)
          break
        case START:
          point.startMs = reader.milliseconds()
          break
        case TIME:
          point.timeMs = reader.milliseconds()
          break
        case COUNT:
          point.count = reader.fixed()
          break
        case SUM:
          point.sum = reader.double()
          break
        case VALUE_AT_QUANTILE: {
          pairReader.enter(reader)
          let quantile = 0
          let value = 0
          while (pairReader.next()) {
            if (pairReader.tag === QUANTILE) quantile = pairReader.double()
            else if (pairReader.tag === VALUE) value = pairReader.double()
          }
          addNumber(point.quantiles, quantile)
          addNumber(point.values, value)
          break
        }
        case FLAGS:
          point.flags = reader.low
      }
    }
    gather(point.attributes, data, ATTRIBUTE)
    sink.summary(point)
  }
}

/** Attributes are nearly always neighbours; where they are not, this is said by an `end` of -1. */
function addAttribute(attributes: AttributeBytes, { bytes, view, tagAt, to }: ProtobufReader): void {
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
function gather(attributes: AttributeBytes, data: ProtobufReader, tag: number): void {
  if (attributes.end === APART) Object.assign(attributes, fieldsOf(spanOf(data), tag))
}

function addPacked(numbers: Numbers, { view, from, to }: ProtobufReader, type: 'fixed' | 'double'): void {
  if ((to - from) % 8 !== 0) throw new MalformedError('a list of numbers ends in the middle of one')
  for (let at = from; at < to; at += 8) {
    addNumber(
      numbers,
      type === 'double' ? view.getFloat64(at, true) : view.getUint32(at + 4, true) * 2 ** 32 + view.getUint32(at, true),
    )
  }
}

const packedReader = new ProtobufReader()

function addPackedVarints(numbers: Numbers, outer: ProtobufReader): void {
  packedReader.enter(outer)
  while (packedReader.at < packedReader.end) {
    packedReader.readVarint()
    addNumber(numbers, packedReader.unsigned())
  }
}

const exemplarReader = new ProtobufReader()

/** Exemplars are counted and left out, but what is none is no good request. */
function checkExemplar(outer: ProtobufReader): void {
  const FILTERED_ATTRIBUTE = (7 << 3) | BYTES
  exemplarReader.enter(outer)
  while (exemplarReader.next()) if (exemplarReader.tag === FILTERED_ATTRIBUTE) checkAttribute(exemplarReader)
}
