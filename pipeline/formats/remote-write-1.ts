/**
 * Requests of remote write 1.0, the message `prometheus.WriteRequest`:
 *
 *     WriteRequest  1: TimeSeries*, 3: MetricMetadata*
 *     TimeSeries    1: Label*, sorted by name, 2: Sample*
 *     Label         1: name, 2: value
 *     Sample        1: value (double), 2: timestamp (milliseconds)
 *     MetricMetadata 1: type, 2: name of the family, 4: help, 5: unit
 *
 * A label set, a pair or a name that the request has already is not written again: it is a copy, which is what the compression would
 * find out much later.
 */
import { SET_LENGTH, type LabelPlan } from './remote-write-labels.ts'
import type { SeriesMemory } from './remote-write-memory.ts'
import { STALE_BITS, TimeVarint, writeBits, writeValue, type RequestWriter } from './remote-write-request.ts'
import { SnappyWriter, snappyBlock } from './snappy-writer.ts'

export function createWriter1(memory: SeriesMemory): RequestWriter {
  const out = new SnappyWriter()
  const time = new TimeVarint()
  const owner = {}
  let plan: LabelPlan
  let samples = 0

  function take(): void {
    memory.take(owner, plan.layout.labels.length, plan.pairs.count, plan.metrics.length)
  }

  /** Everything of a series up to its sample. */
  function writeSeries(metric: number, set: number): void {
    const { sets, setSeen, now } = memory
    const name = plan.metrics[metric]!.label
    const at = set * SET_LENGTH
    const isKnown = setSeen[set] === now
    if (!isKnown) {
      setSeen[set] = now
      const [first, split, end] = [plan.sets[at]!, plan.sets[at + 1]!, plan.sets[at + 2]!]
      sets[at + 1] = lengthOf(first, split)
      sets[at + 3] = lengthOf(split, end)
    }
    out.open(6)
    out.bytes[out.at++] = 0x0a
    out.varint(sets[at + 1]! + name.length + sets[at + 3]! + 12 + time.size)
    if (isKnown) {
      out.copy(sets[at]!, sets[at + 1]!)
      writeName(metric, name)
      out.copy(sets[at + 2]!, sets[at + 3]!)
      return
    }
    const [first, split, end] = [plan.sets[at]!, plan.sets[at + 1]!, plan.sets[at + 2]!]
    sets[at] = out.length
    for (let i = first; i < split; i++) writePair(plan.pairsOf[i]!)
    writeName(metric, name)
    sets[at + 2] = out.length
    for (let i = split; i < end; i++) writePair(plan.pairsOf[i]!)
  }

  function lengthOf(from: number, to: number): number {
    const { pairsOf, pairs } = plan
    let length = 0
    for (let i = from; i < to; i++) length += pairs.starts[pairsOf[i]! + 1]! - pairs.starts[pairsOf[i]!]!
    return length
  }

  function writePair(pair: number): void {
    const { starts, bytes } = plan.pairs
    const [start, end] = [starts[pair]!, starts[pair + 1]!]
    if (memory.pairSeen[pair] === memory.now) {
      out.copy(memory.pairs[4 * pair]!, end - start)
      return
    }
    memory.pairSeen[pair] = memory.now
    memory.pairs[4 * pair] = out.length
    out.literal(bytes, start, end)
  }

  function writeName(metric: number, name: Uint8Array): void {
    if (memory.metricSeen[metric] === memory.now) {
      out.copy(memory.metrics[4 * metric]!, name.length)
      return
    }
    memory.metricSeen[metric] = memory.now
    memory.metrics[4 * metric] = out.length
    out.literal(name, 0, name.length)
  }

  /** Returns where its value goes. */
  function writeSample(metric: number, set: number, timeMs: number): number {
    if (!memory.isOf(owner)) take()
    time.set(timeMs)
    writeSeries(metric, set)
    out.open(12 + time.size)
    const { bytes } = out
    let { at } = out
    bytes[at++] = 0x12
    bytes[at++] = 10 + time.size
    bytes[at++] = 0x09
    const value = at
    at += 8
    bytes[at++] = 0x10
    for (let i = 0; i < time.size; i++) bytes[at++] = time.bytes[i]!
    out.at = at
    samples++
    return value
  }

  return {
    get samples() {
      return samples
    },
    get length() {
      return out.length
    },
    use(used) {
      plan = used
      take()
    },
    add(metric, set, value, timeMs) {
      writeValue(out.view, writeSample(metric, set, timeMs), value)
    },
    end(metric, set, timeMs) {
      writeBits(out.view, writeSample(metric, set, timeMs), STALE_BITS)
    },
    finish() {
      const block = snappyBlock(out)
      out.clear()
      samples = 0
      take()
      return block
    },
  }
}
