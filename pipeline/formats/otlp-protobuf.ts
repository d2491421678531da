/**
 * Reads an `ExportMetricsServiceRequest` in protobuf. Field numbers are those of opentelemetry-proto's metrics.proto.
 *
 * Fields may come in any order, and the temporality of a sum comes after its points. So a message is looked through twice: once for
 * what is said of it as a whole, where its parts are only stepped over, and once for its parts.
 */
import type { AttributeValue } from '../model/origin.ts'
import { readAttributes } from './otlp-attributes.ts'
import { noAttributes, type AttributeBytes, type MetricKind, type MetricsSink } from './otlp-points.ts'
import type { PointReader } from './otlp-protobuf-point-parts.ts'
import { createPointReaders } from './otlp-protobuf-points.ts'
import { fieldsOf, Parts, spanOf, type Span } from './protobuf-parts.ts'
import { BYTES, ProtobufReader, VARINT } from './protobuf-reader.ts'
import { pause, type Work } from './render-work.ts'

const FIRST_PART = (1 << 3) | BYTES
const SECOND_PART = (2 << 3) | BYTES
const THIRD_PART = (3 << 3) | BYTES
const METADATA = (12 << 3) | BYTES
const TEMPORALITY = (2 << 3) | VARINT
const IS_MONOTONIC = (3 << 3) | VARINT

const KINDS: ReadonlyMap<number, MetricKind> = new Map([
  [(5 << 3) | BYTES, 'gauge'],
  [(7 << 3) | BYTES, 'sum'],
  [(9 << 3) | BYTES, 'histogram'],
  [(10 << 3) | BYTES, 'exponential histogram'],
  [(11 << 3) | BYTES, 'summary'],
])

export type OtlpReader = {
  /** Tells `sink` what the request says. Throws `MalformedError`, possibly after much has been told. One at a time. */
  read(body: Uint8Array, sink: MetricsSink): Work<void>
}

/** A few milliseconds, also where all of them are of series that nobody knew. */
export const POINTS_BETWEEN_PAUSES = 500

/** Keeps nothing of a request but room for the next. */
export function createProtobufReader(): OtlpReader {
  const points = createPointReaders()
  const request = new ProtobufReader()
  const resource = new ProtobufReader()
  const scope = new ProtobufReader()
  const metric = new ProtobufReader()
  const data = new ProtobufReader()
  const body = new Parts()
  /** Where it is: each of these is undefined outside of what it is for. */
  let ofResource: Parameters<MetricsSink['scope']>[0] | undefined
  let isInScope = false
  let readPoint: PointReader | undefined
  let hasScope = false

  /** Reads some points, and says whether there may be more. Not a generator, which would take a third longer. */
  function advance(sink: MetricsSink): boolean {
    let count = 0
    for (;;) {
      if (readPoint !== undefined) {
        while (data.next()) {
          if (data.tag !== FIRST_PART) continue
          readPoint(data, sink)
          if (++count === POINTS_BETWEEN_PAUSES) return true
        }
        readPoint = undefined
      }
      if (isInScope) {
        isInScope = scope.next()
        if (isInScope && scope.tag === SECOND_PART) readPoint = beginMetric(sink)
      } else if (ofResource !== undefined) {
        if (!resource.next()) endResource(ofResource)
        else if (resource.tag === SECOND_PART) beginScope(ofResource, sink)
      } else if (!request.next()) {
        return false
      } else if (request.tag === FIRST_PART) {
        beginResource(spanOf(request))
      }
    }
  }

  function beginResource(span: Span): void {
    resource.open(span.bytes, span.view, span.start, span.end)
    const own = new Parts()
    let schemaUrl = ''
    while (resource.next()) {
      if (resource.tag === FIRST_PART) own.add(resource)
      else if (resource.tag === THIRD_PART) schemaUrl = resource.text()
    }
    ofResource = { attributes: attributesOf(own.join(), FIRST_PART), schemaUrl }
    hasScope = false
    resource.open(span.bytes, span.view, span.start, span.end)
  }

  function endResource({ attributes }: NonNullable<typeof ofResource>): void {
    // Nobody else looks at them.
    if (!hasScope) readAttributes(attributes)
    ofResource = undefined
  }

  function beginScope(parts: NonNullable<typeof ofResource>, sink: MetricsSink): void {
    hasScope = isInScope = true
    scope.enter(resource)
    const own = new Parts()
    let schemaUrl = ''
    while (scope.next()) {
      if (scope.tag === FIRST_PART) own.add(scope)
      else if (scope.tag === THIRD_PART) schemaUrl = scope.text()
    }
    sink.scope(parts, { ...scopeOf(own.join()), schemaUrl })
    scope.enter(resource)
  }

  /** Opens its data; undefined if it has none. */
  function beginMetric(sink: MetricsSink): PointReader | undefined {
    metric.enter(scope)
    let name = ''
    let description = ''
    let unit = ''
    let hasMetadata = false
    let kind: MetricKind | undefined
    body.clear()
    while (metric.next()) {
      switch (metric.tag) {
        case FIRST_PART:
          name = metric.text()
          break
        case SECOND_PART:
          description = metric.text()
          break
        case THIRD_PART:
          unit = metric.text()
          break
        case METADATA:
          hasMetadata = true
          break
        default: {
          const found = KINDS.get(metric.tag)
          if (found === undefined) continue
          // One metric has one kind of data: the last that comes, which may come in parts.
          if (found !== kind) body.clear()
          body.add(metric)
          kind = found
        }
      }
    }
    const metadata = hasMetadata ? readAttributes(fieldsOf(spanOf(scope), METADATA)) : NO_METADATA
    const span = body.join()
    if (kind === undefined || span === undefined) return undefined
    data.open(span.bytes, span.view, span.start, span.end)
    let temporality = 0
    let isMonotonic = false
    while (data.next()) {
      if (data.tag === TEMPORALITY) temporality = data.low | 0
      else if (data.tag === IS_MONOTONIC) isMonotonic = data.low !== 0 || data.high !== 0
    }
    sink.metric({ name, description, unit, kind, temporality, isMonotonic, metadata })
    data.open(span.bytes, span.view, span.start, span.end)
    return points[kind]
  }

  return {
    *read(bytes, sink) {
      ofResource = readPoint = undefined
      isInScope = false
      request.open(bytes, new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), 0, bytes.length)
      while (advance(sink)) yield pause
    },
  }
}

const NO_METADATA: ReadonlyMap<string, AttributeValue> = new Map()

function scopeOf(own: Span | undefined): { name: string; version: string; attributes: AttributeBytes } {
  if (own === undefined) return { name: '', version: '', attributes: noAttributes() }
  const reader = new ProtobufReader().open(own.bytes, own.view, own.start, own.end)
  let name = ''
  let version = ''
  while (reader.next()) {
    if (reader.tag === FIRST_PART) name = reader.text()
    else if (reader.tag === SECOND_PART) version = reader.text()
  }
  return { name, version, attributes: attributesOf(own, THIRD_PART) }
}

function attributesOf(span: Span | undefined, tag: number): AttributeBytes {
  return span === undefined ? noAttributes() : fieldsOf(span, tag)
}
