/**
 * Requests of remote write 2.0, the message `io.prometheus.write.v2.Request`:
 *
 *     Request     4: symbols (strings; the first is empty), 5: TimeSeries*
 *     TimeSeries  1: numbers of symbols, name and value in turns, packed, 2: Sample*, 5: Metadata, 6: when it began (milliseconds)
 *     Sample      1: value (double), 2: timestamp (milliseconds), 3: when it began (milliseconds)
 *     Metadata    1: type, 3: symbol of the help, 4: symbol of the unit
 *
 * The specification moved the time at which a counter began from the series (up to 2.0-rc.3) to the sample (2.0-rc.4). Receivers of both
 * kinds are about, so it is in both places; it is rarely known.
 */
import { NAME_LABEL, SET_LENGTH, type LabelPlan, type MetricBytes } from './remote-write-labels.ts'
import type { SeriesMemory } from './remote-write-memory.ts'
import { STALE_BITS, TimeVarint, writeBits, writeValue, type RequestWriter } from './remote-write-request.ts'
import { Symbols } from './remote-write-symbols.ts'
import { SnappyWriter, snappyBlock, varintSize, writeVarint } from './snappy-writer.ts'

const NAME = Buffer.from(NAME_LABEL)

export type Writer2Options = {
  /** Whether series say their type, help and unit. */
  readonly sendMetadata: boolean
}

export function createWriter2(memory: SeriesMemory, { sendMetadata }: Writer2Options): RequestWriter {
  const out = new SnappyWriter()
  const strings = new SnappyWriter()
  const symbols = new Symbols()
  const time = new TimeVarint()
  const start = new TimeVarint()
  const owner = {}
  let refs = new Uint8Array(256)
  const metricSymbols = new Map<MetricBytes, MetricSymbols>()
  /** Of the metrics of the plan. */
  let symbolsByMetric: (MetricSymbols | undefined)[] = []
  /** The bytes after the last value. */
  const tail: Tail = { place: 0, size: 0, timeMs: NaN, metric: undefined }
  let plan: LabelPlan
  let samples = 0
  let sampleSize = 0

  function take(): void {
    memory.take(owner, plan.sets.length / SET_LENGTH, plan.pairs.count)
  }

  function symbolsAt(metric: number): MetricSymbols {
    return (symbolsByMetric[metric] ??= symbolsOf(plan.metrics[metric]!))
  }

  /** Everything of a series up to its value. The sample has `size` bytes, and from its tag on there are `more` of the series. */
  function writeSeries(name: number, set: number, size: number, more: number): void {
    const { sets, setSeen, now } = memory
    const at = set * SET_LENGTH
    const isKnown = setSeen[set] === now
    if (!isKnown) {
      setSeen[set] = now
      const [first, split, end] = [plan.sets[at]!, plan.sets[at + 1]!, plan.sets[at + 2]!]
      if (refs.length < 10 * (end - first) + 3) refs = new Uint8Array(20 * (end - first) + 3)
      sets[at + 1] = writeRefs(0, first, split)
      sets[at + 3] = writeRefs(sets[at + 1]!, split, end)
    }
    const [before, after] = [sets[at + 1]!, sets[at + 3]!]
    const length = before + varintSize(NAME_NUMBER) + varintSize(name) + after
    out.open(12)
    out.bytes[out.at++] = 0x2a
    out.varint(1 + varintSize(length) + length + more)
    out.bytes[out.at++] = 0x0a
    out.varint(length)
    if (before > 0 && isKnown) out.copy(sets[at]!, before)
    else if (before > 0) {
      sets[at] = out.length
      out.literal(refs, 0, before)
    }
    out.open(10)
    out.varint(NAME_NUMBER)
    out.varint(name)
    if (isKnown) {
      out.copy(sets[at + 2]!, after + 3)
      return
    }
    refs[before + after] = 0x12
    refs[before + after + 1] = size
    refs[before + after + 2] = 0x09
    sets[at + 2] = out.length
    out.literal(refs, before, before + after + 3)
  }

  /** Writes the symbols of some pairs into `refs` and returns how many bytes that are. */
  function writeRefs(at: number, from: number, to: number): number {
    let next = at
    for (let i = from; i < to; i++) {
      const pair = plan.pairsOf[i]!
      if (memory.pairSeen[pair] !== memory.now) see(pair)
      next = writeVarint(refs, next, memory.pairs[2 * pair]!)
      next = writeVarint(refs, next, memory.pairs[2 * pair + 1]!)
    }
    return next - at
  }

  /** Finds the symbols of a pair, whose bytes are `0a` length `0a` length name `12` length value. */
  function see(pair: number): void {
    const { bytes, starts } = plan.pairs
    const name = skipLength(bytes, skipLength(bytes, starts[pair]! + 1) + 1)
    const nameEnd = name + bytesBefore(bytes, name)
    const value = skipLength(bytes, nameEnd + 1)
    memory.pairSeen[pair] = memory.now
    memory.pairs[2 * pair] = symbols.numberOf(bytes, name, nameEnd)
    memory.pairs[2 * pair + 1] = symbols.numberOf(bytes, value, starts[pair + 1]!)
  }

  /** The symbols of a metric, which other sources may have, too. */
  function symbolsOf(metric: MetricBytes): MetricSymbols {
    let known = metricSymbols.get(metric)
    if (known === undefined) {
      const [name, help, unit] = [symbolOf(metric.name), symbolOf(metric.help), symbolOf(metric.unit)]
      known = { name, metadata: sendMetadata ? metadataBytes(metric.type, help, unit) : NOTHING, place: -1 }
      metricSymbols.set(metric, known)
    }
    return known
  }

  function symbolOf(bytes: Uint8Array): number {
    return symbols.numberOf(bytes, 0, bytes.length)
  }

  function writeSample(metric: number, set: number, value: number | undefined, timeMs: number, startMs: number): void {
    const hasStart = !Number.isNaN(startMs)
    time.set(timeMs)
    if (hasStart) start.set(startMs)
    const size = 10 + time.size + (hasStart ? 1 + start.size : 0)
    // What is remembered of a label set has the first bytes of its sample, so that is the same for all.
    if (!memory.isOf(owner) || size !== sampleSize) take()
    sampleSize = size
    const known = symbolsAt(metric)
    const more = 2 + size + known.metadata.length + (hasStart ? 1 + start.size : 0)
    writeSeries(known.name, set, size, more)
    out.open(8)
    if (value === undefined) writeBits(out.view, out.at, STALE_BITS)
    else writeValue(out.view, out.at, value)
    out.at += 8
    if (hasStart) writeWithStart(known)
    else writeTimeAndMetadata(known)
    samples++
  }

  /** What follows a value is mostly what followed the one before: its time, and the description of the same metric. */
  function writeTimeAndMetadata(known: MetricSymbols): void {
    const { metadata } = known
    const length = 1 + time.size + metadata.length
    const isSame = tail.timeMs === time.timeMs && tail.size > 0
    if (isSame && tail.metric === known && tail.size >= length) {
      out.copy(tail.place, length)
    } else {
      const place = out.length
      if (isSame) out.copy(tail.place, 1 + time.size)
      else {
        out.open(1 + time.size)
        out.bytes[out.at++] = 0x10
        out.at = append(out.bytes, out.at, time)
      }
      if (known.place >= 0) out.copy(known.place, metadata.length)
      else {
        out.open(metadata.length)
        known.place = out.length
        for (let i = 0; i < metadata.length; i++) out.bytes[out.at++] = metadata[i]!
      }
      tail.place = place
      tail.size = length
      tail.metric = known
      tail.timeMs = time.timeMs
      return
    }
    tail.place = out.length - length
  }

  function writeWithStart({ metadata }: MetricSymbols): void {
    out.open(2 + time.size + start.size)
    out.bytes[out.at++] = 0x10
    out.at = append(out.bytes, out.at, time)
    out.bytes[out.at++] = 0x18
    out.at = append(out.bytes, out.at, start)
    out.literal(metadata, 0, metadata.length)
    out.open(1 + start.size)
    out.bytes[out.at++] = 0x30
    out.at = append(out.bytes, out.at, start)
  }

  symbolOf(NAME)
  return {
    get samples() {
      return samples
    },
    get length() {
      return symbols.length + out.length
    },
    use(used) {
      plan = used
      symbolsByMetric = []
      take()
    },
    add: writeSample,
    end: (metric, set, timeMs) => writeSample(metric, set, undefined, timeMs, NaN),
    finish() {
      symbols.writeTo(strings)
      const block = snappyBlock(strings, out)
      strings.clear()
      out.clear()
      symbols.clear()
      symbolOf(NAME)
      metricSymbols.clear()
      symbolsByMetric = []
      tail.size = 0
      samples = 0
      take()
      return block
    },
  }
}

/** Numbers of symbols in a request; `place` is where the message about the metric stands in it, -1 where it is not there yet. */
type MetricSymbols = { readonly name: number; readonly metadata: Uint8Array; place: number }
type Tail = { place: number; size: number; timeMs: number; metric: MetricSymbols | undefined }

const NOTHING = new Uint8Array(0)

function metadataBytes(type: number, help: number, unit: number): Uint8Array {
  const bytes = new Uint8Array(16)
  let at = 2
  bytes[at++] = 0x08
  bytes[at++] = type
  if (help > 0) {
    bytes[at++] = 0x18
    at = writeVarint(bytes, at, help)
  }
  if (unit > 0) {
    bytes[at++] = 0x20
    at = writeVarint(bytes, at, unit)
  }
  bytes[0] = 0x2a
  bytes[1] = at - 2
  return bytes.subarray(0, at)
}

/** `__name__` is the first symbol of every request, after the empty one. */
const NAME_NUMBER = 1

function append(bytes: Uint8Array, at: number, { bytes: from, size }: TimeVarint): number {
  for (let i = 0; i < size; i++) bytes[at++] = from[i]!
  return at
}

/** Where a varint that begins at `at` ends. */
function skipLength(bytes: Uint8Array, at: number): number {
  while (bytes[at]! >= 0x80) at++
  return at + 1
}

/** The varint that ends before `end`; the byte before it is a tag, which is below 0x80. */
function bytesBefore(bytes: Uint8Array, end: number): number {
  let value = bytes[end - 1]!
  for (let at = end - 2; bytes[at]! >= 0x80; at--) value = value * 128 + (bytes[at]! & 0x7f)
  return value
}
