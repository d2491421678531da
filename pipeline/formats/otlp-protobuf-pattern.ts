/** Makes patterns of groups in protobuf, by the writer that writes groups without one. */
import { ByteArena } from './byte-arena.ts'
import { SLACK, type MetricBytes } from './otlp-dialect.ts'
import type { Pattern } from './otlp-patterns.ts'
import { ProtobufWriter } from './otlp-protobuf-writer.ts'
import { START_MS } from './otlp-request-writer.ts'

export function createProtobufPattern(metrics: readonly MetricBytes[], attributeBytes: number): Pattern {
  const writer = new ProtobufWriter(1024)
  const blocks = new ByteArena(SLACK + attributeBytes, 2)
  blocks.add(new Uint8Array(SLACK), 0, SLACK)
  const block = blocks.add(new Uint8Array(attributeBytes), 0, attributeBytes)
  const places = new Uint32Array(metrics.length)
  let before: MetricBytes | undefined
  writer.next[START_MS] = NaN
  for (const [i, metric] of metrics.entries()) {
    if (metric !== before) {
      if (before !== undefined) writer.closeMetric()
      writer.openMetric(metric)
      before = metric
    }
    writer.number(blocks, block)
    places[i] = writer.valueDistance
  }
  writer.closeMetric()
  const written = writer.take()
  const bytes = new Uint8Array(SLACK + written.length)
  bytes.set(written, SLACK)
  return { bytes: new DataView(bytes.buffer), start: SLACK, end: bytes.length, places }
}
