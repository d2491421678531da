/** Remote write read by others: messages as the specifications have them, by protobufjs, and snappy by snappyjs. */
import protobuf from 'protobufjs'
import snappy from 'snappyjs'

const { root } = protobuf.parse(`
  syntax = "proto3";
  package prometheus;
  message WriteRequest {
    repeated TimeSeries timeseries = 1;
    reserved 2;
    repeated MetricMetadata metadata = 3;
  }
  message TimeSeries { repeated Label labels = 1; repeated Sample samples = 2; repeated Exemplar exemplars = 3; }
  message Label { string name = 1; string value = 2; }
  message Sample { fixed64 value = 1; int64 timestamp = 2; }
  message Exemplar { repeated Label labels = 1; double value = 2; int64 timestamp = 3; }
  message MetricMetadata { uint32 type = 1; string metric_family_name = 2; string help = 4; string unit = 5; }
`)
protobuf.parse(
  `
  syntax = "proto3";
  package io.prometheus.write.v2;
  message Request { reserved 1 to 3; repeated string symbols = 4; repeated TimeSeries timeseries = 5; }
  message TimeSeries {
    repeated uint32 labels_refs = 1;
    repeated Sample samples = 2;
    repeated bytes histograms = 3;
    repeated bytes exemplars = 4;
    Metadata metadata = 5;
    int64 created_timestamp = 6;
  }
  message Sample { fixed64 value = 1; int64 timestamp = 2; int64 start_timestamp = 3; }
  message Metadata { uint32 type = 1; uint32 help_ref = 3; uint32 unit_ref = 4; }
`,
  root,
)

const TYPES = ['unknown', 'counter', 'gauge', 'histogram', 'gaugehistogram', 'summary', 'info', 'stateset']

export type DecodedSample = {
  readonly value: number
  /** The 64 bits, in hexadecimal: of a NaN they say what it means. */
  readonly bits: string
  readonly timeMs: number
  readonly startMs?: number
}
export type DecodedSeries = {
  /** In the order of the message. */
  readonly labels: readonly (readonly [string, string])[]
  readonly samples: readonly DecodedSample[]
  readonly metadata?: { readonly type: string; readonly help: string; readonly unit: string }
  readonly createdMs?: number
}
export type DecodedMetadata = {
  readonly family: string
  readonly type: string
  readonly help: string
  readonly unit: string
}
export type DecodedRequest = {
  readonly series: readonly DecodedSeries[]
  /** Of 1.0. */
  readonly metadata: readonly DecodedMetadata[]
  /** Of 2.0. */
  readonly symbols: readonly string[]
}

export const STALE_BITS = '7ff0000000000002'

export function decodeWriteRequest(body: Uint8Array, version: 1 | 2): DecodedRequest {
  const message = snappy.uncompress(new Uint8Array(body))
  return version === 1 ? decode1(message) : decode2(message)
}

type RawSample = { value?: bigint; timestamp?: bigint; startTimestamp?: bigint }
type RawMetadata = { type?: number; metricFamilyName?: string; help?: string; unit?: string }
type Raw1 = {
  timeseries: { labels: { name: string; value: string }[]; samples: RawSample[] }[]
  metadata: RawMetadata[]
}
type Raw2 = {
  symbols: string[]
  timeseries: {
    labelsRefs: number[]
    samples: RawSample[]
    metadata?: { type?: number; helpRef?: number; unitRef?: number }
    createdTimestamp?: bigint
  }[]
}

function decodeMessage<T>(type: string, message: Uint8Array): T {
  const reader = root.lookupType(type)
  return reader.toObject(reader.decode(message), { longs: BigInt as never, arrays: true, defaults: false }) as T
}

function decode1(bytes: Uint8Array): DecodedRequest {
  const message = decodeMessage<Raw1>('prometheus.WriteRequest', bytes)
  return {
    symbols: [],
    series: message.timeseries.map(series => ({
      labels: series.labels.map(({ name, value }) => [name, value]),
      samples: series.samples.map(sampleOf),
    })),
    metadata: message.metadata.map(({ metricFamilyName = '', type = 0, help = '', unit = '' }) => ({
      family: metricFamilyName,
      type: TYPES[type]!,
      help,
      unit,
    })),
  }
}

function decode2(bytes: Uint8Array): DecodedRequest {
  const message = decodeMessage<Raw2>('io.prometheus.write.v2.Request', bytes)
  const { symbols } = message
  function symbol(ref: number): string {
    const text = symbols[ref]
    if (text === undefined) throw new Error(`${ref} is no number of a symbol: there are ${symbols.length}`)
    return text
  }
  return {
    symbols,
    metadata: [],
    series: message.timeseries.map(series => {
      const refs = series.labelsRefs
      if (refs.length % 2 !== 0) throw new Error('a label has no value')
      const { metadata, createdTimestamp } = series
      return {
        labels: Array.from({ length: refs.length / 2 }, (_, i) => [symbol(refs[2 * i]!), symbol(refs[2 * i + 1]!)]),
        samples: series.samples.map(sampleOf),
        ...(metadata && {
          metadata: {
            type: TYPES[metadata.type ?? 0]!,
            help: symbol(metadata.helpRef ?? 0),
            unit: symbol(metadata.unitRef ?? 0),
          },
        }),
        ...(createdTimestamp !== undefined && { createdMs: Number(createdTimestamp) }),
      }
    }),
  }
}

function sampleOf({ value = 0n, timestamp = 0n, startTimestamp }: RawSample): DecodedSample {
  const bits = new DataView(new ArrayBuffer(8))
  bits.setBigUint64(0, BigInt.asUintN(64, value))
  return {
    value: bits.getFloat64(0),
    bits: BigInt.asUintN(64, value).toString(16).padStart(16, '0'),
    timeMs: Number(timestamp),
    ...(startTimestamp !== undefined && { startMs: Number(startTimestamp) }),
  }
}

/** `name{label="value"}`, the labels in the order of the message. */
export function seriesText({ labels }: DecodedSeries): string {
  const name = labels.find(([label]) => label === '__name__')?.[1] ?? ''
  const others = labels.filter(([label]) => label !== '__name__')
  return `${name}{${others.map(([label, value]) => `${label}="${value}"`).join(',')}}`
}
