/**
 * The texts of OTLP metrics in protobuf. Field numbers are those of opentelemetry/proto/metrics/v1:
 *
 *     ResourceMetrics 1 resource, 2 scope_metrics, 3 schema_url     Resource 1 attributes
 *     ScopeMetrics    1 scope, 2 metrics, 3 schema_url              InstrumentationScope 1 name, 2 version, 3 attributes
 *     Metric          1 name, 2 description, 3 unit, 5 gauge, 7 sum, 9 histogram, 11 summary, 12 metadata
 *     KeyValue        1 key, 2 value    AnyValue 1 string, 2 bool, 3 int, 4 double, 5 array, 6 list of KeyValue, 7 bytes
 */
import type { AttributeValue } from '../model/origin.ts'
import { metricBytes, type Dialect } from './otlp-dialect.ts'
import type { Attribute } from './otlp-entity.ts'
import type { OtlpMetric, Shape } from './otlp-metric.ts'
import { ProtobufBuilder } from './protobuf-builder.ts'

export const FIELD_OF_SHAPE: Readonly<Record<Shape, number>> = { gauge: 5, sum: 7, histogram: 9, summary: 11 }
const ATTRIBUTES_FIELD: Readonly<Record<Shape, number>> = { gauge: 7, sum: 7, histogram: 9, summary: 7 }

export function createProtobufDialect(): Dialect {
  const builder = new ProtobufBuilder()

  function built(build: () => void): Uint8Array {
    builder.clear()
    build()
    return builder.bytes()
  }

  return {
    resource: (attributes, schemaUrl) =>
      built(() => {
        builder.message(1, () => writeAttributes(builder, 1, attributes))
        builder.text(3, schemaUrl)
      }),
    scope: ({ name, version, attributes, schemaUrl }) =>
      built(() => {
        builder.message(1, () => {
          builder.text(1, name)
          builder.text(2, version)
          writeAttributes(builder, 3, attributes)
        })
        builder.text(3, schemaUrl)
      }),
    point: (attributes, shape) => built(() => writeAttributes(builder, ATTRIBUTES_FIELD[shape], attributes)),
    metric(metric) {
      const head = built(() => writeHead(builder, metric))
      return metricBytes(
        metric.shape,
        head,
        built(() => writeTail(builder, metric)),
      )
    },
    bounds: bounds => built(() => builder.packedDoubles(7, bounds)),
  }
}

function writeHead(builder: ProtobufBuilder, { name, description, unit, prometheusType }: OtlpMetric): void {
  builder.text(1, name)
  builder.text(2, description)
  builder.text(3, unit)
  if (prometheusType !== undefined) writeAttributes(builder, 12, [['prometheus.type', prometheusType]])
}

/** What follows the points inside of a sum or histogram. */
function writeTail(builder: ProtobufBuilder, { shape, temporality, isMonotonic }: OtlpMetric): void {
  if (shape !== 'sum' && shape !== 'histogram') return
  builder.unsigned(2, temporality)
  if (shape === 'sum' && isMonotonic) builder.unsigned(3, 1)
}

function writeAttributes(builder: ProtobufBuilder, field: number, attributes: readonly Attribute[]): void {
  for (const [key, value] of attributes) {
    builder.message(field, () => {
      builder.text(1, key)
      builder.message(2, () => writeValue(builder, value))
    })
  }
}

/** An empty text is a text, while a value with nothing in it is none. */
function writeValue(builder: ProtobufBuilder, value: AttributeValue): void {
  if (value === null) return
  if (typeof value === 'string') builder.message(1, () => builder.raw(value))
  else if (typeof value === 'boolean') builder.unsigned(2, Number(value))
  else if (typeof value === 'bigint') builder.signed(3, value)
  else if (typeof value === 'number') {
    if (Number.isSafeInteger(value) && !Object.is(value, -0)) builder.signed(3, BigInt(value))
    else builder.double(4, value)
  } else if (value instanceof Uint8Array) builder.message(7, () => builder.raw(value))
  else if (Array.isArray(value)) {
    builder.message(5, () => {
      for (const item of value as readonly AttributeValue[]) builder.message(1, () => writeValue(builder, item))
    })
  } else {
    builder.message(6, () => writeAttributes(builder, 1, Object.entries(value as Record<string, AttributeValue>)))
  }
}
