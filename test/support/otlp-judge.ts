/** An independent reader of OTLP: protobufjs with the published schema. What it reads comes out as OTLP's JSON has it. */
import { join } from 'node:path'
import protobuf from 'protobufjs'

const root = protobuf.loadSync(join(import.meta.dirname, 'otlp-metrics.proto'))
const request = root.lookupType('opentelemetry.proto.ExportMetricsServiceRequest')
const response = root.lookupType('opentelemetry.proto.ExportMetricsServiceResponse')

export type KeyValue = { key: string; value: Record<string, unknown> }
export type Point = {
  attributes?: KeyValue[]
  startTimeUnixNano?: string
  timeUnixNano?: string
  asDouble?: number | string
  flags?: number
  count?: string
  sum?: number | string
  bucketCounts?: string[]
  explicitBounds?: number[]
  quantileValues?: { quantile?: number; value?: number | string }[]
}
type Points = { dataPoints: Point[]; aggregationTemporality?: number; isMonotonic?: boolean }
export type OtlpMetricJson = {
  name: string
  description?: string
  unit?: string
  metadata?: KeyValue[]
  gauge?: Points
  sum?: Points
  histogram?: Points
  summary?: Points
}
export type OtlpRequest = {
  resourceMetrics: {
    resource: { attributes?: KeyValue[] }
    schemaUrl?: string
    scopeMetrics: {
      scope: { name?: string; version?: string; attributes?: KeyValue[] }
      schemaUrl?: string
      metrics: OtlpMetricJson[]
    }[]
  }[]
}

export function decodeProtobuf(body: Uint8Array): OtlpRequest {
  const message = request.decode(body)
  const plain = request.toObject(message, { longs: String, enums: Number, bytes: String, json: true })
  return plain as OtlpRequest
}

/** Of a request in JSON. */
export function encodeRequest(json: object): Uint8Array {
  return request.encode(request.fromObject(json)).finish()
}

export function decodeRequest(encoding: 'proto' | 'json', body: Uint8Array): OtlpRequest {
  return encoding === 'proto' ? decodeProtobuf(body) : (JSON.parse(Buffer.from(body).toString()) as OtlpRequest)
}

export function encodeResponse(partialSuccess: { rejectedDataPoints: number; errorMessage: string }): Uint8Array {
  return response.encode(response.fromObject({ partialSuccess })).finish()
}

/** Points as lines, sorted: `{resource} scope name type {attributes} value`, for tests that show what they expect. */
export function linesOf({ resourceMetrics = [] }: Partial<OtlpRequest>): string[] {
  const lines: string[] = []
  for (const { resource, scopeMetrics } of resourceMetrics) {
    for (const { metrics } of scopeMetrics) {
      for (const metric of metrics) {
        for (const { kind, point } of pointsOf(metric)) {
          lines.push(
            [attributesText(resource.attributes), metric.name, kind, attributesText(point.attributes), valueText(point)]
              .filter(text => text !== '')
              .join(' '),
          )
        }
      }
    }
  }
  return lines.sort()
}

export function pointsOf(metric: OtlpMetricJson): { kind: string; point: Point }[] {
  for (const shape of ['gauge', 'sum', 'histogram', 'summary'] as const) {
    const data = metric[shape]
    if (data === undefined) continue
    const temporality = ['unspecified', 'delta', 'cumulative'][data.aggregationTemporality ?? 0]
    const monotonic = shape === 'sum' ? (data.isMonotonic === true ? ' monotonic' : ' not monotonic') : ''
    const kind = shape === 'sum' || shape === 'histogram' ? `${shape} ${temporality}${monotonic}` : shape
    return data.dataPoints.map(point => ({ kind, point }))
  }
  return []
}

function valueText(point: Point): string {
  const parts: string[] = []
  if (point.asDouble !== undefined) parts.push(String(point.asDouble))
  if (point.count !== undefined) parts.push(`count=${point.count}`)
  if (point.sum !== undefined) parts.push(`sum=${point.sum}`)
  if (point.bucketCounts?.length)
    parts.push(`[${point.bucketCounts.join(' ')}] le [${point.explicitBounds?.join(' ')}]`)
  if (point.quantileValues?.length) {
    parts.push(point.quantileValues.map(({ quantile = 0, value = 0 }) => `q${quantile}=${value}`).join(' '))
  }
  if (point.flags === 1) parts.push('ended')
  if (point.startTimeUnixNano !== undefined) parts.push(`since ${seconds(point.startTimeUnixNano)}`)
  if (point.timeUnixNano !== undefined && point.timeUnixNano !== '0') parts.push(`@${seconds(point.timeUnixNano)}`)
  return parts.join(' ')
}

function seconds(nanoseconds: string): string {
  return String(Number(BigInt(nanoseconds) / 1000n) / 1e6)
}

export function attributesText(attributes: readonly KeyValue[] = []): string {
  if (attributes.length === 0) return ''
  const pairs = attributes.map(({ key, value }) => {
    const [kind = 'none', content = ''] = Object.entries(value)[0] ?? []
    return `${key}=${kind === 'stringValue' ? String(content) : `${kind}:${JSON.stringify(content)}`}`
  })
  return `{${pairs.sort().join(', ')}}`
}
