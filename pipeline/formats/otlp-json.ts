/** Reads an `ExportMetricsServiceRequest` in JSON: names in lowerCamelCase, unknown names skipped. */
import { AttributeWriter } from './otlp-attribute-writer.ts'
import { readAttributes } from './otlp-attributes.ts'
import {
  checkHexId,
  jsonBoolean,
  jsonDouble,
  jsonEnum,
  jsonInt32,
  jsonInt64,
  jsonList,
  jsonMilliseconds,
  jsonObject,
  jsonText,
  jsonUint32,
  jsonUint64,
  wrong,
  type JsonObject,
} from './json-fields.ts'
import { readJson } from './json-pieces.ts'
import { MalformedError } from './malformed.ts'
import {
  addNumber,
  createExponentialPoint,
  createHistogramPoint,
  createNumberPoint,
  createSummaryPoint,
  type MetricKind,
  type MetricParts,
  type MetricsSink,
  type NumberPoint,
  type Numbers,
} from './otlp-points.ts'
import type { OtlpReader } from './otlp-protobuf.ts'
import { POINTS_BETWEEN_PAUSES } from './otlp-protobuf.ts'
import { pause, type Work } from './render-work.ts'

const KINDS: Readonly<Record<string, MetricKind>> = {
  gauge: 'gauge',
  sum: 'sum',
  histogram: 'histogram',
  exponentialHistogram: 'exponential histogram',
  summary: 'summary',
}

const TEMPORALITIES = {
  AGGREGATION_TEMPORALITY_UNSPECIFIED: 0,
  AGGREGATION_TEMPORALITY_DELTA: 1,
  AGGREGATION_TEMPORALITY_CUMULATIVE: 2,
}

/** Keeps nothing of a request but room for the next. */
export function createJsonReader(): OtlpReader {
  const attributes = new AttributeWriter()
  const scopeAttributes = new AttributeWriter()
  const number = createNumberPoint()
  const histogram = createHistogramPoint()
  const exponential = createExponentialPoint()
  const summary = createSummaryPoint()
  let sincePause = 0

  function* readResource(item: unknown, sink: MetricsSink): Work<void> {
    const { resource, scopeMetrics, schemaUrl } = jsonObject(item, 'resourceMetrics')
    const parts = {
      attributes: attributes.copy(objectOr(resource, 'resource').attributes, 'attributes'),
      schemaUrl: jsonText(schemaUrl, 'schemaUrl'),
    }
    for (const scopeItem of jsonList(scopeMetrics, 'scopeMetrics')) {
      const ofScope = jsonObject(scopeItem, 'scopeMetrics')
      const scope = objectOr(ofScope.scope, 'scope')
      sink.scope(parts, {
        name: jsonText(scope.name, 'name'),
        version: jsonText(scope.version, 'version'),
        attributes: scopeAttributes.copy(scope.attributes, 'attributes'),
        schemaUrl: jsonText(ofScope.schemaUrl, 'schemaUrl'),
      })
      for (const metric of jsonList(ofScope.metrics, 'metrics')) yield* readMetric(jsonObject(metric, 'metrics'), sink)
    }
  }

  function* readMetric(metric: JsonObject, sink: MetricsSink): Work<void> {
    const name = jsonText(metric.name, 'name')
    const keys = Object.keys(KINDS).filter(key => metric[key] !== undefined && metric[key] !== null)
    if (keys.length > 1) throw wrong(name, 'one kind of data', keys)
    const key = keys[0]
    const metadata = jsonList(metric.metadata, 'metadata')
    const parts = {
      name,
      description: jsonText(metric.description, 'description'),
      unit: jsonText(metric.unit, 'unit'),
      metadata: metadata.length === 0 ? NO_METADATA : readAttributes(attributes.copy(metadata, 'metadata')),
    }
    if (key === undefined) return
    const data = jsonObject(metric[key], key)
    const kind = KINDS[key]!
    sink.metric({
      ...parts,
      kind,
      temporality: jsonEnum(data.aggregationTemporality, 'aggregationTemporality', TEMPORALITIES),
      isMonotonic: jsonBoolean(data.isMonotonic, 'isMonotonic'),
    })
    try {
      for (const point of jsonList(data.dataPoints, 'dataPoints')) {
        readPoint(jsonObject(point, 'dataPoints'), kind, sink)
        if (++sincePause >= POINTS_BETWEEN_PAUSES) {
          sincePause = 0
          yield pause
        }
      }
    } catch (error) {
      if (!(error instanceof MalformedError)) throw error
      throw new MalformedError(`metric "${name}": ${error.message}`, { cause: error })
    }
  }

  function readPoint(item: JsonObject, kind: MetricKind, sink: MetricsSink): void {
    switch (kind) {
      case 'gauge':
      case 'sum':
        return readNumber(item, sink)
      case 'histogram':
        return readHistogram(item, sink)
      case 'exponential histogram':
        return readExponential(item, sink)
      case 'summary':
        return readSummary(item, sink)
    }
  }

  /** What all points have. */
  function begin(
    item: JsonObject,
    point: Pick<NumberPoint, 'attributes' | 'startMs' | 'timeMs' | 'flags' | 'exemplars'>,
  ) {
    attributes.write(item.attributes, 'attributes', point.attributes)
    point.startMs = jsonMilliseconds(item.startTimeUnixNano, 'startTimeUnixNano')
    point.timeMs = jsonMilliseconds(item.timeUnixNano, 'timeUnixNano')
    point.flags = jsonUint32(item.flags, 'flags')
    point.exemplars = item.exemplars === undefined ? 0 : readExemplars(item.exemplars)
  }

  function readExemplars(items: unknown): number {
    const list = jsonList(items, 'exemplars')
    for (const item of list) {
      const { filteredAttributes, timeUnixNano, traceId, spanId } = jsonObject(item, 'exemplars')
      scopeAttributes.copy(filteredAttributes, 'filteredAttributes')
      jsonMilliseconds(timeUnixNano, 'timeUnixNano')
      checkHexId(traceId, 'traceId', 16)
      checkHexId(spanId, 'spanId', 8)
    }
    return list.length
  }

  function readNumber(item: JsonObject, sink: MetricsSink): void {
    const { asDouble, asInt } = item
    begin(item, number)
    const hasDouble = asDouble !== undefined && asDouble !== null
    const hasInteger = asInt !== undefined && asInt !== null
    if (hasDouble && hasInteger) throw wrong('asDouble', 'no asInt beside it', asInt)
    number.hasValue = hasDouble || hasInteger
    number.value = hasDouble ? jsonDouble(asDouble, 'asDouble') : hasInteger ? Number(jsonInt64(asInt, 'asInt')) : 0
    sink.number(number)
  }

  function readHistogram(item: JsonObject, sink: MetricsSink): void {
    begin(item, histogram)
    histogram.count = Number(jsonUint64(item.count, 'count'))
    histogram.sum = doubleOr(NaN, item.sum, 'sum')
    histogram.hasSum = isThere(item.sum)
    fill(histogram.bucketCounts, item.bucketCounts, 'bucketCounts', countOf)
    fill(histogram.bounds, item.explicitBounds, 'explicitBounds', jsonDouble)
    doubleOr(NaN, item.min, 'min')
    doubleOr(NaN, item.max, 'max')
    sink.histogram(histogram)
  }

  function readExponential(item: JsonObject, sink: MetricsSink): void {
    const positive = objectOr(item.positive, 'positive')
    const negative = objectOr(item.negative, 'negative')
    begin(item, exponential)
    exponential.count = Number(jsonUint64(item.count, 'count'))
    exponential.sum = doubleOr(NaN, item.sum, 'sum')
    exponential.hasSum = isThere(item.sum)
    exponential.scale = jsonInt32(item.scale, 'scale')
    exponential.zeroCount = Number(jsonUint64(item.zeroCount, 'zeroCount'))
    exponential.zeroThreshold = doubleOr(0, item.zeroThreshold, 'zeroThreshold')
    exponential.positiveOffset = jsonInt32(positive.offset, 'offset')
    fill(exponential.positive, positive.bucketCounts, 'bucketCounts', countOf)
    exponential.negativeOffset = jsonInt32(negative.offset, 'offset')
    fill(exponential.negative, negative.bucketCounts, 'bucketCounts', countOf)
    doubleOr(NaN, item.min, 'min')
    doubleOr(NaN, item.max, 'max')
    sink.exponential(exponential)
  }

  function readSummary(item: JsonObject, sink: MetricsSink): void {
    begin(item, summary)
    summary.count = Number(jsonUint64(item.count, 'count'))
    summary.sum = doubleOr(0, item.sum, 'sum')
    summary.quantiles.length = summary.values.length = 0
    for (const pair of jsonList(item.quantileValues, 'quantileValues')) {
      const { quantile, value } = jsonObject(pair, 'quantileValues')
      addNumber(summary.quantiles, doubleOr(0, quantile, 'quantile'))
      addNumber(summary.values, doubleOr(0, value, 'value'))
    }
    sink.summary(summary)
  }

  return {
    *read(body, sink) {
      const { resourceMetrics } = jsonObject(yield* readJson(body), 'the request')
      for (const item of jsonList(resourceMetrics, 'resourceMetrics')) yield* readResource(item, sink)
    },
  }
}

const NO_METADATA: MetricParts['metadata'] = new Map()
const NO_FIELDS: JsonObject = {}
function objectOr(value: unknown, field: string): JsonObject {
  return value === undefined || value === null ? NO_FIELDS : jsonObject(value, field)
}

function doubleOr(otherwise: number, value: unknown, field: string): number {
  return isThere(value) ? jsonDouble(value, field) : otherwise
}

function isThere(value: unknown): boolean {
  return value !== undefined && value !== null
}

function countOf(value: unknown, field: string): number {
  if (value === null) throw wrong(field, 'an integer', value)
  return Number(jsonUint64(value, field))
}

function fill(numbers: Numbers, list: unknown, field: string, read: (value: unknown, field: string) => number): void {
  numbers.length = 0
  for (const value of jsonList(list, field)) addNumber(numbers, read(value, field))
}
