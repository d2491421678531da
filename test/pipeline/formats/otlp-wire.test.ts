/** The wire cases of other projects: one message in JSON and in protobuf. */
import assert from 'node:assert/strict'
import { createJsonReader } from '../../../pipeline/formats/otlp-json.ts'
import { createProtobufReader } from '../../../pipeline/formats/otlp-protobuf.ts'
import { recordPoints, type Told } from '../../support/recorded-points.ts'
import { sharedJson } from '../../support/shared.ts'
import { finishNow } from '../../../pipeline/formats/render-work.ts'

type Case = { name: string; json: unknown; protobuf_base64: string; canonical_json: Message }
type Message = Record<string, Told>

const wire = sharedJson<{ cases: Case[] }>('conformance', 'otlp', 'wire.json')
const example = sharedJson<{ cases?: Message[] }>('conformance', 'otlp', 'metrics-example.json')

function told(body: Uint8Array, encoding: 'json' | 'protobuf'): unknown[] {
  const reader = encoding === 'json' ? createJsonReader() : createProtobufReader()
  return recordPoints(sink => finishNow(reader.read(body, sink)))
}

describe('OTLP on the wire', () => {
  for (const { name, json, protobuf_base64, canonical_json } of wire?.cases ?? []) {
    it(`reads the same from JSON, protobuf and canonical JSON: ${name}`, () => {
      const expected = expectedOf(canonical_json)
      assert.deepEqual(told(Buffer.from(JSON.stringify(json)), 'json'), expected)
      assert.deepEqual(told(Buffer.from(protobuf_base64, 'base64'), 'protobuf'), expected)
      assert.deepEqual(told(Buffer.from(JSON.stringify(canonical_json)), 'json'), expected)
    })

    // Between two resources a message may end.
    if ((canonical_json.resourceMetrics ?? []).length !== 1) continue
    it(`finds the end of ${name} wherever it is cut`, () => {
      const whole = Buffer.from(protobuf_base64, 'base64')
      for (let length = 1; length < whole.length; length++) {
        assert.throws(() => told(whole.subarray(0, length), 'protobuf'), { name: 'MalformedError' }, `at ${length}`)
      }
    })
  }

  it('reads the example of opentelemetry-proto', () => {
    if (example === undefined) return
    const message = (example as Message).cases?.[0]?.json ?? (example as Message).json ?? example
    assert.deepEqual(told(Buffer.from(JSON.stringify(message)), 'json'), expectedOf(message))
  })
})

/** Straight from canonical JSON, without any of the code that is tested. */
function expectedOf({ resourceMetrics = [] }: Message): unknown[] {
  const events: unknown[] = []
  for (const { resource = {}, scopeMetrics = [], schemaUrl: resourceSchemaUrl = '' } of resourceMetrics as Message[]) {
    for (const { scope = {}, metrics = [], schemaUrl = '' } of scopeMetrics as Message[]) {
      const { name = '', version = '' } = scope as Message
      events.push({
        resource: attributes(resource.attributes),
        resourceSchemaUrl,
        scope: attributes(scope.attributes),
        name,
        version,
        schemaUrl,
      })
      for (const metric of metrics as Message[]) events.push(...metricEvents(metric))
    }
  }
  return events
}

const KINDS = {
  gauge: ['gauge', 'number'],
  sum: ['sum', 'number'],
  histogram: ['histogram', 'histogram'],
  exponentialHistogram: ['exponential histogram', 'exponential'],
  summary: ['summary', 'summary'],
} as const

function metricEvents({ name = '', description = '', unit = '', metadata, ...data }: Message): unknown[] {
  const key = Object.keys(KINDS).find(kind => data[kind] !== undefined) as keyof typeof KINDS | undefined
  if (key === undefined) return []
  const { aggregationTemporality: temporality = 0, isMonotonic = false, dataPoints = [] } = data[key] as Message
  const [kind, pointKind] = KINDS[key]
  return [
    { name, description, unit, kind, temporality, isMonotonic, metadata: attributes(metadata) },
    ...(dataPoints as Message[]).map(point => ({
      kind: pointKind,
      attributes: attributes(point.attributes),
      startMs: milliseconds(point.startTimeUnixNano),
      timeMs: milliseconds(point.timeUnixNano),
      flags: point.flags ?? 0,
      exemplars: point.exemplars?.length ?? 0,
      ...PARTS[pointKind](point),
    })),
  ]
}

const PARTS: Record<'number' | 'histogram' | 'exponential' | 'summary', (point: Message) => object> = {
  number: ({ asInt, asDouble }) => ({
    value: Number(asInt ?? asDouble ?? 0),
    hasValue: asInt !== undefined || asDouble !== undefined,
  }),
  histogram: ({ count = 0, sum, bucketCounts = [], explicitBounds = [] }) => ({
    count: Number(count),
    sum: sum ?? NaN,
    hasSum: sum !== undefined,
    bucketCounts: bucketCounts.map(Number),
    bounds: explicitBounds,
  }),
  exponential: ({ count = 0, sum, scale = 0, zeroCount = 0, zeroThreshold = 0, positive = {}, negative = {} }) => ({
    count: Number(count),
    sum: sum ?? NaN,
    hasSum: sum !== undefined,
    scale,
    zeroCount: Number(zeroCount),
    zeroThreshold,
    positiveOffset: positive.offset ?? 0,
    positive: (positive.bucketCounts ?? []).map(Number),
    negativeOffset: negative.offset ?? 0,
    negative: (negative.bucketCounts ?? []).map(Number),
  }),
  summary: ({ count = 0, sum = 0, quantileValues = [] }) => ({
    count: Number(count),
    sum,
    quantiles: quantileValues.map(({ quantile = 0 }: Message) => quantile),
    values: quantileValues.map(({ value = 0 }: Message) => value),
  }),
}

function milliseconds(nanoseconds: string | number = 0): number {
  return Number(BigInt(nanoseconds) / 1_000_000n)
}

function attributes(list: Message[] = []): [string, unknown][] {
  return list.map(({ key, value }) => [key, valueOf(value)])
}

function valueOf(value: Message = {}): unknown {
  if (value.intValue !== undefined) {
    const integer = BigInt(value.intValue)
    return BigInt.asIntN(53, integer) === integer ? Number(integer) : integer
  }
  if (value.bytesValue !== undefined) return Uint8Array.from(Buffer.from(value.bytesValue, 'base64'))
  if (value.arrayValue !== undefined) return (value.arrayValue.values as Message[]).map(valueOf)
  if (value.kvlistValue !== undefined) return Object.fromEntries(attributes(value.kvlistValue.values))
  return value.stringValue ?? value.boolValue ?? value.doubleValue ?? null
}
