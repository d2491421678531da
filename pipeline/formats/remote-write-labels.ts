/**
 * The label sets of a layout as remote write has them: made once for a layout, and only for those that its predecessor did not have.
 *
 * Each pair of a name and a value is there once, encoded as the message `Label`; a label set is a list of pairs. So the memory that a
 * GPU takes is its UUID and little more, and a request can refer to a pair that it has already.
 */
import { hashString } from '../model/intern.ts'
import type { Labels } from '../model/labels.ts'
import type { Layout } from '../model/layout.ts'
import type { Metric } from '../model/series.ts'
import { ByteArena } from './byte-arena.ts'
import { TYPE_NUMBERS } from './remote-write-metadata.ts'
import { varintSize, writeVarint } from './snappy-writer.ts'

export const NAME_LABEL = '__name__'

export type LabelPlan = {
  readonly layout: Layout
  /**
   * Pair i, as it stands in a series of remote write 1.0: `0a` length `0a` length name `12` length value. Grows with the layouts that
   * follow, so there may be pairs that no label set has any more.
   */
  readonly pairs: ByteArena
  /** The pairs of label set i are pairsOf[sets[4 * i], sets[4 * i + 2]); from sets[4 * i + 1] on their names come after `__name__`. */
  readonly pairsOf: Uint32Array
  /** By label set: first pair, first pair after the name, end of its pairs, hash. */
  readonly sets: Uint32Array
  /** The metrics of the layout. */
  readonly metrics: readonly MetricBytes[]
  /** How many pairs there were when the plan was last made from nothing. */
  readonly pairsAtFirst: number
}

export const SET_LENGTH = 4

/** What a metric is in a request. */
export type MetricBytes = {
  /** The pair of `__name__` and its name, as other pairs are. */
  readonly label: Uint8Array
  readonly name: Uint8Array
  readonly help: Uint8Array
  readonly unit: Uint8Array
  readonly type: number
  /** Of its name. */
  readonly hash: number
}

const metricBytes = new WeakMap<Metric, MetricBytes>()

function bytesOf(metric: Metric): MetricBytes {
  let bytes = metricBytes.get(metric)
  if (bytes === undefined) {
    const { name, help, unit, type } = metric
    bytes = {
      label: encodeLabel(NAME_LABEL, name),
      name: Buffer.from(name),
      help: Buffer.from(help),
      unit: Buffer.from(unit),
      type: TYPE_NUMBERS[type],
      hash: hashString(name),
    }
    metricBytes.set(metric, bytes)
  }
  return bytes
}

export function labelPlanOf(layout: Layout, previous?: LabelPlan): LabelPlan {
  // What nobody has any more is left behind when there may be as much of it as of the rest.
  const isLarge = previous !== undefined && previous.pairs.count > 2 * previous.pairsAtFirst + 1000
  const known = isLarge ? undefined : previous
  const pairs = known?.pairs ?? new ByteArena()
  const origin = known && originOf(layout, known.layout)
  const numbers = new PairNumbers(pairs)
  const { labels } = layout
  const sets = new Uint32Array(labels.length * SET_LENGTH)
  let total = 0
  for (let i = 0; i < labels.length; i++) total += labels[i]!.names.length
  const pairsOf = new Uint32Array(total)
  let next = 0
  for (let i = 0; i < labels.length; i++) {
    const at = i * SET_LENGTH
    const from = origin === undefined ? -1 : origin[i]!
    sets[at] = next
    if (from >= 0) {
      const was = from * SET_LENGTH
      const [first, split, end] = [known!.sets[was]!, known!.sets[was + 1]!, known!.sets[was + 2]!]
      for (let pair = first; pair < end; pair++) pairsOf[next++] = known!.pairsOf[pair]!
      sets[at + 1] = sets[at]! + split - first
      sets[at + 3] = known!.sets[was + 3]!
    } else {
      const { names, values } = labels[i]!
      let before = 0
      // Upper-case letters come before the underscore.
      while (before < names.length && names[before]! < NAME_LABEL) before++
      for (let label = 0; label < names.length; label++) pairsOf[next++] = numbers.of(names[label]!, values[label]!)
      sets[at + 1] = sets[at]! + before
      sets[at + 3] = hashLabels(labels[i]!)
    }
    sets[at + 2] = next
  }
  const metrics = layout.metrics.map(bytesOf)
  return { layout, pairs: trimmed(pairs), pairsOf, sets, metrics, pairsAtFirst: known?.pairsAtFirst ?? pairs.count }
}

/** Room to grow is worth something only while it grows. */
function trimmed(pairs: ByteArena): ByteArena {
  if (pairs.bytes.length <= pairs.byteLength * 1.25 && pairs.starts.length <= pairs.count * 1.25 + 1) return pairs
  const exact = new ByteArena(pairs.byteLength, pairs.count)
  exact.addRun(pairs, 0, pairs.count)
  return exact
}

/** The same in every process, so that what is queued on disk and what comes later share a shard. */
function hashLabels({ names, values }: Labels): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < names.length; i++) hash = hashString(values[i]!, hashString(names[i]!, hash))
  hash = Math.imul(hash ^ (hash >>> 15), 0x85ebca6b)
  return (hash ^ (hash >>> 13)) >>> 0
}

/** Where each label set of a layout stood in an earlier layout of the same source, -1 where it is new. */
function originOf(layout: Layout, previous: Layout): Int32Array {
  const origin = new Int32Array(layout.labels.length).fill(-1)
  if (layout.keptFrom?.id === previous.id) {
    const { runs } = layout.keptFrom
    for (let run = 0; run < runs.length; run += 3) {
      const [to, from, length] = [runs[run]!, runs[run + 1]!, runs[run + 2]!]
      for (let i = 0; i < length; i++) origin[layout.labelsOf[to + i]!] = previous.labelsOf[from + i]!
    }
    return origin
  }
  const numbers = new Map(previous.labels.map((labels, i) => [labels, i]))
  for (let i = 0; i < origin.length; i++) origin[i] = numbers.get(layout.labels[i]!) ?? -1
  return origin
}

/** Gives each pair of a name and a value a number, and writes those that are new. */
class PairNumbers {
  readonly #pairs: ByteArena
  readonly #numbers = new Map<string, Map<string, number>>()

  constructor(pairs: ByteArena) {
    this.#pairs = pairs
  }

  of(name: string, value: string): number {
    let values = this.#numbers.get(name)
    if (values === undefined) this.#numbers.set(name, (values = new Map()))
    let number = values.get(value)
    if (number === undefined) {
      const bytes = encodeLabel(name, value)
      values.set(value, (number = this.#pairs.add(bytes, 0, bytes.length)))
    }
    return number
  }
}

/** A label of a series in remote write 1.0. */
export function encodeLabel(name: string, value: string): Uint8Array {
  const [nameLength, valueLength] = [Buffer.byteLength(name), Buffer.byteLength(value)]
  const length = 2 + varintSize(nameLength) + nameLength + varintSize(valueLength) + valueLength
  const bytes = Buffer.allocUnsafe(1 + varintSize(length) + length)
  bytes[0] = 0x0a
  let at = writeVarint(bytes, 1, length)
  bytes[at++] = 0x0a
  at = writeVarint(bytes, at, nameLength)
  at += bytes.write(name, at)
  bytes[at++] = 0x12
  at = writeVarint(bytes, at, valueLength)
  bytes.write(value, at)
  return bytes
}
