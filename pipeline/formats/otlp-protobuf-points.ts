/** Reads data points in protobuf: one reader for each kind of metric. */
import { addNumber, clearPoint, createNumberPoint, createSummaryPoint, type MetricKind } from './otlp-points.ts'
import { createExponentialReader, createHistogramReader } from './otlp-protobuf-histograms.ts'
import {
  addAttribute,
  checkExemplar,
  COUNT,
  gather,
  START,
  SUM,
  TIME,
  type PointReader,
} from './otlp-protobuf-point-parts.ts'
import { BYTES, EIGHT_BYTES, ProtobufReader, VARINT } from './protobuf-reader.ts'

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
