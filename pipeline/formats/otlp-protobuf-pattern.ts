/** Makes patterns of groups in protobuf, by the writer that writes groups without one. */
import { ByteArena } from './byte-arena.ts'
import { SLACK, type MetricBytes } from './otlp-dialect.ts'
import { GroupTable } from './otlp-groups.ts'
import type { Pattern } from './otlp-patterns.ts'
import { ProtobufWriter } from './otlp-protobuf-writer.ts'
import { START_MS } from './otlp-request-writer.ts'

export function createProtobufPattern(
  scope: Uint8Array,
  metrics: readonly MetricBytes[],
  attributeBytes: number,
): Pattern {
  const writer = new ProtobufWriter(1024)
  const blocks = new ByteArena(SLACK + attributeBytes, 2)
  blocks.add(new Uint8Array(SLACK), 0, SLACK)
  const block = blocks.add(new Uint8Array(attributeBytes), 0, attributeBytes)
  const groups = new GroupTable()
  const group = groups.intern(new Uint8Array(0), scope)
  const places = new Uint32Array(metrics.length)
  let before: MetricBytes | undefined
  writer.next[START_MS] = NaN
  writer.openGroup(groups.finish(), group)
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
  writer.closeScope()
  const bytes = new Uint8Array(writer.take())
  const view = new DataView(bytes.buffer)
  return { bytes, view, timeMs: NaN, length: bytes.length, places, count: places.length, attributeBytes }
}
