/** Reads data points of histograms in protobuf. */
import { addNumber, clearPoint, createExponentialPoint, createHistogramPoint, type Numbers } from './otlp-points.ts'
import {
  addAttribute,
  addPacked,
  addPackedVarints,
  checkExemplar,
  COUNT,
  gather,
  START,
  SUM,
  TIME,
  type PointReader,
} from './otlp-protobuf-point-parts.ts'
import { BYTES, EIGHT_BYTES, ProtobufReader, VARINT } from './protobuf-reader.ts'

export function createHistogramReader(): PointReader {
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
    point.hasSum = false
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
          point.hasSum = true
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

export function createExponentialReader(): PointReader {
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
    point.hasSum = false
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
          point.hasSum = true
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
