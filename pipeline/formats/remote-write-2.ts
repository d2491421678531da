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
  let plan: LabelPlan
  let samples = 0

  function take(): void {
    memory.take(owner, plan.layout.labels.length, plan.pairs.count, plan.metrics.length)
  }

  /** Everything of a series up to its sample, and what follows the sample is `more` bytes. */
  function writeSeries(metric: number, set: number, more: number): void {
    const { sets, setSeen, now } = memory
    const at = set * SET_LENGTH
    const isKnown = setSeen[set] === now
    const name = nameOf(metric)
    if (!isKnown) {
      setSeen[set] = now
      const [first, split, end] = [plan.sets[at]!, plan.sets[at + 1]!, plan.sets[at + 2]!]
      if (refs.length < 10 * (end - first)) refs = new Uint8Array(20 * (end - first))
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
      out.close()
      sets[at] = out.length
      out.literal(refs, 0, before)
    }
    out.open(10)
    out.varint(NAME_NUMBER)
    out.varint(name)
    if (isKnown) out.copy(sets[at + 2]!, after)
    else {
      sets[at + 2] = out.length
      out.literal(refs, before, before + after)
    }
  }

  /** Writes the symbols of some pairs into `refs` and returns how many bytes that are. */
  function writeRefs(at: number, from: number, to: number): number {
    let next = at
    for (let i = from; i < to; i++) {
      const pair = plan.pairsOf[i]!
      if (memory.pairSeen[pair] !== memory.now) see(pair)
      next = writeVarint(refs, next, memory.pairs[4 * pair]!)
      next = writeVarint(refs, next, memory.pairs[4 * pair + 1]!)
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
    memory.pairs[4 * pair] = symbols.numberOf(bytes, name, nameEnd)
    memory.pairs[4 * pair + 1] = symbols.numberOf(bytes, value, starts[pair + 1]!)
  }

  /** The symbol of a metric's name. Of a metric that is new here it also finds the others. */
  function nameOf(metric: number): number {
    const { metrics, metricSeen, now } = memory
    const at = 4 * metric
    if (metricSeen[metric] !== now) {
      metricSeen[metric] = now
      metrics[at] = symbolOf(plan.metrics[metric]!.name)
      metrics[at + 1] = 0
      metrics[at + 2] = sendMetadata ? lengthOfMetadata(plan.metrics[metric]!) : 0
    }
    return metrics[at]!
  }

  function symbolOf(bytes: Uint8Array): number {
    return symbols.numberOf(bytes, 0, bytes.length)
  }

  function lengthOfMetadata({ help, unit }: MetricBytes): number {
    const [helpRef, unitRef] = [symbolOf(help), symbolOf(unit)]
    const rest = (helpRef === 0 ? 0 : 1 + varintSize(helpRef)) + (unitRef === 0 ? 0 : 1 + varintSize(unitRef))
    return 4 + rest
  }

  /** Places are one more than they are, because 0 says that there is none yet. */
  function writeMetadata(metric: number): void {
    const at = 4 * metric
    const { metrics } = memory
    if (metrics[at + 1]! > 0) {
      out.copy(metrics[at + 1]! - 1, metrics[at + 2]!)
      return
    }
    const { help, unit, type } = plan.metrics[metric]!
    out.open(metrics[at + 2]!)
    metrics[at + 1] = out.length + 1
    out.bytes[out.at++] = 0x2a
    out.bytes[out.at++] = metrics[at + 2]! - 2
    out.bytes[out.at++] = 0x08
    out.bytes[out.at++] = type
    for (const [field, symbol] of [
      [0x18, symbolOf(help)],
      [0x20, symbolOf(unit)],
    ] as const) {
      if (symbol === 0) continue
      out.bytes[out.at++] = field
      out.varint(symbol)
    }
  }

  function writeSample(metric: number, set: number, value: number | undefined, timeMs: number, startMs: number): void {
    if (!memory.isOf(owner)) take()
    const hasStart = !Number.isNaN(startMs)
    time.set(timeMs)
    if (hasStart) start.set(startMs)
    const size = 10 + time.size + (hasStart ? 1 + start.size : 0)
    nameOf(metric)
    const metadata = memory.metrics[4 * metric + 2]!
    writeSeries(metric, set, 2 + size + metadata + (hasStart ? 1 + start.size : 0))
    out.open(2 + size)
    const { bytes, view } = out
    let { at } = out
    bytes[at++] = 0x12
    bytes[at++] = size
    bytes[at++] = 0x09
    if (value === undefined) writeBits(view, at, STALE_BITS)
    else writeValue(view, at, value)
    at += 8
    bytes[at++] = 0x10
    at = append(bytes, at, time)
    if (hasStart) {
      bytes[at++] = 0x18
      at = append(bytes, at, start)
    }
    out.at = at
    if (metadata > 0) writeMetadata(metric)
    if (hasStart) {
      out.open(1 + start.size)
      out.bytes[out.at++] = 0x30
      out.at = append(out.bytes, out.at, start)
    }
    samples++
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
      samples = 0
      take()
      return block
    },
  }
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
