/** The texts of OTLP metrics in JSON: keys in lowerCamelCase, enums as integers, 64-bit integers as decimal strings, bytes in base64. */
import type { AttributeValue } from '../model/origin.ts'
import { metricBytes, type Dialect } from './otlp-dialect.ts'
import type { Attribute } from './otlp-entity.ts'
import { doubleText } from './otlp-json-number.ts'
import type { OtlpMetric } from './otlp-metric.ts'

export function createJsonDialect(): Dialect {
  return {
    resource: (attributes, schemaUrl) =>
      bytes(`{"resource":{${listOf(attributes)}},${optional('schemaUrl', schemaUrl)}"scopeMetrics":[`),
    scope: ({ name, version, attributes, schemaUrl }) => {
      const scope = `${optional('name', name)}${optional('version', version)}${listOf(attributes)}`
      return bytes(`{"scope":{${scope.replace(/,$/, '')}},${optional('schemaUrl', schemaUrl)}"metrics":[`)
    },
    // The end of a point: there is a comma before it, and a brace after it.
    point: attributes => bytes(attributes.length === 0 ? '}' : `,${listOf(attributes)}}`),
    metric: metric => metricBytes(metric.shape, bytes(headOf(metric)), bytes(tailOf(metric))),
    bounds: bounds => bytes(bounds.length === 0 ? '' : `,"explicitBounds":[${bounds.map(doubleText).join(',')}]`),
  }
}

function headOf({ name, description, unit, shape, prometheusType }: OtlpMetric): string {
  const texts = `"name":${JSON.stringify(name)},${optional('description', description)}${optional('unit', unit)}`
  const metadata = prometheusType === undefined ? '' : `"metadata":[${keyValue(['prometheus.type', prometheusType])}],`
  return `{${texts}${metadata}"${shape}":{"dataPoints":[`
}

function tailOf({ shape, temporality, isMonotonic }: OtlpMetric): string {
  const ofSum = shape === 'sum' && isMonotonic ? ',"isMonotonic":true' : ''
  return shape === 'sum' || shape === 'histogram' ? `],"aggregationTemporality":${temporality}${ofSum}}}` : ']}}'
}

function optional(key: string, text: string): string {
  return text === '' ? '' : `"${key}":${JSON.stringify(text)},`
}

function listOf(attributes: readonly Attribute[]): string {
  return attributes.length === 0 ? '' : `"attributes":[${attributes.map(keyValue).join(',')}]`
}

function keyValue([key, value]: Attribute): string {
  return `{"key":${JSON.stringify(key)},"value":${anyValue(value)}}`
}

function anyValue(value: AttributeValue): string {
  if (value === null) return '{}'
  if (typeof value === 'string') return `{"stringValue":${JSON.stringify(value)}}`
  if (typeof value === 'boolean') return `{"boolValue":${value}}`
  if (typeof value === 'bigint') return `{"intValue":"${value}"}`
  if (typeof value === 'number') {
    return Number.isSafeInteger(value) && !Object.is(value, -0)
      ? `{"intValue":"${value}"}`
      : `{"doubleValue":${doubleText(value)}}`
  }
  if (value instanceof Uint8Array) return `{"bytesValue":"${Buffer.from(value).toString('base64')}"}`
  if (Array.isArray(value)) {
    return `{"arrayValue":{"values":[${(value as readonly AttributeValue[]).map(anyValue).join(',')}]}}`
  }
  return `{"kvlistValue":{"values":[${Object.entries(value as Record<string, AttributeValue>)
    .map(keyValue)
    .join(',')}]}}`
}

/** Halves of characters, which JavaScript's texts may have, are written as the sign for what cannot be read. */
function bytes(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text.toWellFormed()))
}
