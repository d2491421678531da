/** Requests of remote write 1.0 that say what metrics are; 2.0 has it in each series. */
import type { Metric, MetricType } from '../model/series.ts'
import { varintSize, writeVarint } from './snappy-writer.ts'

/** Numbers of metric types in both versions. */
export const TYPE_NUMBERS: Record<MetricType, number> = {
  unknown: 0,
  counter: 1,
  gauge: 2,
  histogram: 3,
  gaugehistogram: 4,
  summary: 5,
  info: 6,
  stateset: 7,
}

/** The message, not compressed. */
export function encodeMetadata(metrics: Iterable<Metric>): Uint8Array {
  const messages = Array.from(metrics, ({ family, type, help, unit }) => {
    const texts = [text(0x12, family), text(0x22, help), text(0x2a, unit)]
    return Buffer.concat([Uint8Array.of(0x08, TYPE_NUMBERS[type]), ...texts])
  })
  return Buffer.concat(messages.map(message => field(0x1a, message)))
}

function text(tag: number, value: string): Uint8Array {
  return value === '' ? new Uint8Array(0) : field(tag, Buffer.from(value))
}

function field(tag: number, content: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(1 + varintSize(content.length) + content.length)
  bytes[0] = tag
  bytes.set(content, writeVarint(bytes, 1, content.length))
  return bytes
}
