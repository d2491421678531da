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
import { SET_LENGTH, type LabelPlan, type MetricBytes } from './remote-write-labels.ts'
import type { SeriesMemory } from './remote-write-memory.ts'
import { STALE_BITS, TimeVarint, writeBits, writeValue, type RequestWriter } from './remote-write-request.ts'
import { SnappyWriter, snappyBlock } from './snappy-writer.ts'

/** Where a name stands, -1 where it is not there yet. */
type Place = { at: number }

export function createWriter1(memory: SeriesMemory): RequestWriter {
  const out = new SnappyWriter()
  const time = new TimeVarint()
  const owner = {}
  const places = new Map<MetricBytes, Place>()
  /** Of the metrics of the plan. */
  let placesByMetric: (Place | undefined)[] = []
  let plan: LabelPlan
  let samples = 0
  let valueAt = 0
  let lastTimeMs = NaN
  let lastTimeAt = 0

  function take(): void {
    memory.take(owner, plan.sets.length / SET_LENGTH, plan.pairs.count)
  }

  /** Everything of a series up to its value. */
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
      out.copy(sets[at + 2]!, sets[at + 3]! + 3)
      return
    }
    const [first, split, end] = [plan.sets[at]!, plan.sets[at + 1]!, plan.sets[at + 2]!]
    sets[at] = out.length
    for (let i = first; i < split; i++) writePair(plan.pairsOf[i]!)
    writeName(metric, name)
    sets[at + 2] = out.length
    for (let i = split; i < end; i++) writePair(plan.pairsOf[i]!)
    out.open(3)
    out.bytes[out.at++] = 0x12
    out.bytes[out.at++] = 10 + time.size
    out.bytes[out.at++] = 0x09
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
      out.copy(memory.pairs[2 * pair]!, end - start)
      return
    }
    memory.pairSeen[pair] = memory.now
    memory.pairs[2 * pair] = out.length
    out.literal(bytes, start, end)
  }

  /** Other sources may have the metric, too, so names are remembered for as long as the request. */
  function writeName(metric: number, name: Uint8Array): void {
    const place = (placesByMetric[metric] ??= placeOf(plan.metrics[metric]!))
    if (place.at >= 0) {
      out.copy(place.at, name.length)
      return
    }
    place.at = out.length
    out.literal(name, 0, name.length)
  }

  function placeOf(metric: MetricBytes): Place {
    let place = places.get(metric)
    if (place === undefined) places.set(metric, (place = { at: -1 }))
    return place
  }

  /** Everything of a sample but its value, and returns where that goes. */
  function writeSample(metric: number, set: number, timeMs: number): number {
    // What is remembered of a label set has the first bytes of its sample, so times must be of one length.
    const size = time.size
    time.set(timeMs)
    if (!memory.isOf(owner) || time.size !== size) take()
    writeSeries(metric, set)
    out.open(8)
    out.at += 8
    writeTime()
    samples++
    return valueAt
  }

  /** Mostly the time of the sample before. */
  function writeTime(): void {
    valueAt = out.at - 8
    const length = 1 + time.size
    if (lastTimeMs === time.timeMs) {
      out.copy(lastTimeAt, length)
      lastTimeAt = out.length - length
      return
    }
    out.open(length)
    lastTimeMs = time.timeMs
    lastTimeAt = out.length
    out.bytes[out.at++] = 0x10
    for (let i = 0; i < time.size; i++) out.bytes[out.at++] = time.bytes[i]!
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
      placesByMetric = []
      take()
    },
    add(metric, set, value, timeMs) {
      // Writing may move what was written to a larger place, so the place is looked up afterwards.
      const at = writeSample(metric, set, timeMs)
      writeValue(out.view, at, value)
    },
    end(metric, set, timeMs) {
      const at = writeSample(metric, set, timeMs)
      writeBits(out.view, at, STALE_BITS)
    },
    finish() {
      const block = snappyBlock(out)
      out.clear()
      samples = 0
      lastTimeMs = NaN
      places.clear()
      placesByMetric = []
      take()
      return block
    },
  }
}
