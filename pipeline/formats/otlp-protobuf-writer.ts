/**
 * Writes requests of OTLP metrics in protobuf, from their end to their beginning: what has a length is written before its length is,
 * so that everything is written once, where it stays. Points come out in reverse order.
 */
import type { ByteArena } from './byte-arena.ts'
import { copyDown, copyExactly, copyPacked } from './otlp-copy.ts'
import { SLACK, type MetricBytes } from './otlp-dialect.ts'
import type { Groups } from './otlp-groups.ts'
import type { Shape } from './otlp-metric.ts'
import type { Pattern } from './otlp-patterns.ts'
import { FIELD_OF_SHAPE } from './otlp-protobuf-dialect.ts'
import {
  START_MS,
  TIME_MS,
  VALUE,
  type HistogramPoint,
  type PatternWriter,
  type RequestWriter,
  type SummaryPoint,
} from './otlp-request-writer.ts'

const FIRST_BYTES = 64 * 1024
/** Tag and eight bytes. */
const FIXED = 9
const TWO_32 = 2 ** 32
const scratch = new DataView(new ArrayBuffer(8))

// Tags: the number of the field, shifted by three, and how its value is written (1: eight bytes, 2: a length and so many bytes).
const RESOURCE_METRICS = 0x0a
const SCOPE_METRICS = 0x12
const METRICS = 0x12
const DATA_POINTS = 0x0a
const START_TIME = 0x11
const TIME = 0x19
const AS_DOUBLE = 0x21
const COUNT = 0x21
const SUM = 0x29
const BUCKET_COUNTS = 0x32
const QUANTILE_VALUES = 0x32
const QUANTILE = 0x09
const QUANTILE_VALUE = 0x11
const FLAGS: Readonly<Record<Shape, number>> = { gauge: 0x40, sum: 0x40, summary: 0x40, histogram: 0x50 }
const NO_RECORDED_VALUE = 1

export class ProtobufWriter implements RequestWriter, PatternWriter {
  readonly numberBytes = 4 * FIXED + 16
  readonly partBytes = 24
  readonly next = new Float64Array(3)
  #bytes!: Uint8Array<ArrayBuffer>
  #view!: DataView
  /** Where the last written byte is. */
  #at!: number
  #metricEnd = 0
  #groupEnd = 0
  #metric: MetricBytes | undefined
  #groups: Groups | undefined
  #group = 0
  /** The last time that was written, and the eight bytes of its nanoseconds, read as a double. In an array no double is an object. */
  readonly #time = Float64Array.of(-1, 0)
  /** How far the value of the last number is from the end of the request. */
  valueDistance = 0
  readonly patterns: PatternWriter = this
  readonly keep = (instead: ArrayBuffer): void => {
    this.#bytes = new Uint8Array(instead)
    this.#view = new DataView(instead)
    this.#at = instead.byteLength
  }

  constructor(expectedBytes = FIRST_BYTES) {
    this.keep(new ArrayBuffer(expectedBytes))
  }

  get length(): number {
    return this.#bytes.length - this.#at
  }

  openGroup(groups: Groups, group: number): void {
    this.#groups = groups
    this.#group = group
    this.#groupEnd = this.#at
  }

  openMetric(metric: MetricBytes): void {
    this.#reserve(metric.tail.length)
    this.#metric = metric
    this.#metricEnd = this.#at
    for (let i = metric.tail.length - 1; i >= 0; i--) this.#bytes[--this.#at] = metric.tail[i]!
  }

  number(blocks: ByteArena, block: number): void {
    const timeMs = this.next[TIME_MS]!
    const startMs = this.next[START_MS]!
    const from = blocks.starts[block]! | 0
    const to = blocks.starts[block + 1]! | 0
    if (this.#at < to - from + this.numberBytes + SLACK) this.#reserve(to - from + this.numberBytes)
    const bytes = this.#bytes
    const view = this.#view
    const time = this.#time
    if (timeMs !== time[0]) this.#bitsOf(timeMs)
    const end = this.#at | 0
    copyDown(view, end, blocks.view, from, to)
    let at = (end - (to - from) - 2 * FIXED) | 0
    view.setFloat64((at + FIXED + 1) | 0, this.next[VALUE]!, true)
    bytes[(at + FIXED) | 0] = AS_DOUBLE
    this.valueDistance = bytes.length - (at + FIXED + 1)
    view.setFloat64((at + 1) | 0, time[1]!, true)
    bytes[at] = TIME
    if (startMs > 0) at = this.#writeStart(at, startMs)
    this.#at = this.#writeLength(at, end - at, DATA_POINTS)
  }

  histogram(blocks: ByteArena, block: number, point: HistogramPoint, timeMs: number, startMs: number): void {
    const { bounds, buckets } = point
    const { values, bytes } = bounds
    const from = blocks.starts[block]!
    const to = blocks.starts[block + 1]!
    this.#reserve(to - from + bytes.length + (values.length + 1) * 8 + 6 * FIXED)
    const end = this.#at
    let at = point.isEnded ? this.#writeEnded(end, 'histogram') : end
    copyDown(this.#view, at, blocks.view, from, to)
    at -= to - from
    if (values.length > 0) {
      at -= bytes.length
      this.#bytes.set(bytes, at)
      const bucketsEnd = at
      for (let i = values.length; i >= 0; i--) at = this.#writeCount(at, buckets[i]!)
      at = this.#writeLength(at, bucketsEnd - at, BUCKET_COUNTS)
    }
    if (point.hasSum) {
      at -= FIXED
      this.#bytes[at] = SUM
      this.#view.setFloat64(at + 1, point.sum, true)
    }
    at = this.#writeCount(at, point.count)
    this.#bytes[--at] = COUNT
    at = this.#writeTimes(at, timeMs, startMs)
    this.#at = this.#writeLength(at, end - at, DATA_POINTS)
  }

  summary(blocks: ByteArena, block: number, point: SummaryPoint, timeMs: number, startMs: number): void {
    const from = blocks.starts[block]!
    const to = blocks.starts[block + 1]!
    this.#reserve(to - from + point.length * this.partBytes + 6 * FIXED)
    const end = this.#at
    let at = point.isEnded ? this.#writeEnded(end, 'summary') : end
    copyDown(this.#view, at, blocks.view, from, to)
    at -= to - from
    for (let i = point.length - 1; i >= 0; i--) {
      at -= 2 * FIXED
      this.#bytes[at] = QUANTILE
      this.#view.setFloat64(at + 1, point.quantiles[i]!, true)
      this.#bytes[at + FIXED] = QUANTILE_VALUE
      this.#view.setFloat64(at + FIXED + 1, point.values[i]!, true)
      at = this.#writeLength(at, 2 * FIXED, QUANTILE_VALUES)
    }
    at -= FIXED
    this.#bytes[at] = SUM
    this.#view.setFloat64(at + 1, point.sum, true)
    at = this.#writeCount(at, point.count)
    this.#bytes[--at] = COUNT
    at = this.#writeTimes(at, timeMs, startMs)
    this.#at = this.#writeLength(at, end - at, DATA_POINTS)
  }

  ended(blocks: ByteArena, block: number, shape: Shape, timeMs: number): void {
    const from = blocks.starts[block]!
    const to = blocks.starts[block + 1]!
    this.#reserve(to - from + this.numberBytes)
    const end = this.#at
    const flagsAt = this.#writeEnded(end, shape)
    copyDown(this.#view, flagsAt, blocks.view, from, to)
    const at = this.#writeTimes(flagsAt - (to - from), timeMs, NaN)
    this.#at = this.#writeLength(at, end - at, DATA_POINTS)
  }

  #writeEnded(end: number, shape: Shape): number {
    this.#bytes[end - 1] = NO_RECORDED_VALUE
    this.#bytes[end - 2] = FLAGS[shape]
    return end - 2
  }

  closeMetric(): void {
    const { head, headStart, headEnd, shape } = this.#metric!
    this.#reserve(headEnd - headStart + 16)
    const at = this.#writeLength(this.#at, this.#metricEnd - this.#at, (FIELD_OF_SHAPE[shape] << 3) | 2)
    copyDown(this.#view, at, head, headStart, headEnd)
    const start = at - (headEnd - headStart)
    this.#at = this.#writeLength(start, this.#metricEnd - start, METRICS)
  }

  /** What is around the metrics of a group, but for its resource. */
  closeScope(): void {
    const { resources, scopes, isPlain } = this.#groups!
    // And for the resource.
    this.#reserve(scopes.longest + resources.longest + 32)
    const at = copyPacked(this.#view, this.#at, scopes, this.#group, isPlain)
    this.#at = this.#writeLength(at, this.#groupEnd - at, SCOPE_METRICS)
  }

  closeGroup(): void {
    this.closeScope()
    this.#closeResource(this.#groups!, this.#group, this.#groupEnd)
    // It may be of a plan that is not used any more.
    this.#groups = undefined
  }

  #closeResource({ resources, isPlain }: Groups, group: number, end: number): void {
    const at = copyPacked(this.#view, this.#at, resources, group, isPlain)
    this.#at = this.#writeLength(at, end - at, RESOURCE_METRICS)
  }

  group(pattern: Pattern, groups: Groups, group: number, blocks: ByteArena, block: number, values: Float64Array): void {
    const { bytes, length, places, count, attributeBytes } = pattern
    this.#reserve(length + groups.resources.longest + 16)
    const view = this.#view
    const end = this.#at | 0
    const start = (end - length) | 0
    if (this.next[TIME_MS]! !== pattern.timeMs) this.#stamp(pattern)
    this.#bytes.set(bytes, start)
    for (let i = 0; i < count; i++) view.setFloat64((end - places[i]!) | 0, values[i]!, true)
    if (attributeBytes > 0) {
      const from = blocks.starts[block]! | 0
      for (let i = 0; i < count; i++) {
        copyExactly(view, (end - places[i]! + 8) | 0, blocks.view, from, (from + attributeBytes) | 0)
      }
    }
    this.#at = start
    this.#closeResource(groups, group, end)
  }

  /** Many groups have the time of their batch, so it is copied with the rest. */
  #stamp(pattern: Pattern): void {
    const { view, places, length, count } = pattern
    pattern.timeMs = this.next[TIME_MS]!
    const time = this.#bitsOf(pattern.timeMs)
    for (let i = 0; i < count; i++) view.setFloat64(length - places[i]! - FIXED, time, true)
  }

  take(): Uint8Array {
    const request = this.#bytes.subarray(this.#at)
    this.#at = this.#bytes.length
    return request
  }

  #writeTimes(at: number, timeMs: number, startMs: number): number {
    at -= FIXED
    this.#view.setFloat64(at + 1, this.#bitsOf(timeMs), true)
    this.#bytes[at] = TIME
    return startMs > 0 ? this.#writeStart(at, startMs) : at
  }

  #writeStart(at: number, startMs: number): number {
    at -= FIXED
    this.#view.setFloat64(at + 1, this.#bitsOf(startMs), true)
    this.#bytes[at] = START_TIME
    return at
  }

  /** Nanoseconds of milliseconds, which may have a fraction. There is nothing before 1970 in OTLP. */
  #bitsOf(timeMs: number): number {
    const time = this.#time
    if (timeMs === time[0]) return time[1]!
    const whole = timeMs > 0 ? Math.floor(timeMs) : 0
    const high = Math.floor(whole / TWO_32)
    const low = (whole - high * TWO_32) * 1e6 + (timeMs > 0 ? Math.round((timeMs - whole) * 1e6) : 0)
    scratch.setUint32(0, low % TWO_32, true)
    scratch.setUint32(4, high * 1e6 + Math.floor(low / TWO_32), true)
    time[0] = timeMs
    time[1] = scratch.getFloat64(0, true)
    return time[1]!
  }

  #writeCount(at: number, count: number): number {
    this.#view.setUint32(at - 8, count % TWO_32, true)
    this.#view.setUint32(at - 4, count / TWO_32, true)
    return at - 8
  }

  /** Before `at`, the tag of a field and how long it is. */
  #writeLength(at: number, length: number, tag: number): number {
    const bytes = this.#bytes
    if (length < 0x80) {
      bytes[--at] = length
    } else if (length < 0x4000) {
      bytes[--at] = length >> 7
      bytes[--at] = (length & 0x7f) | 0x80
    } else {
      let shift = 14
      while (length >= 2 ** (shift + 7)) shift += 7
      bytes[--at] = length >>> shift
      for (shift -= 7; shift >= 0; shift -= 7) bytes[--at] = ((length >>> shift) & 0x7f) | 0x80
    }
    bytes[--at] = tag
    return at
  }

  /** Room for so many bytes, and for what copying in strides writes too much. */
  #reserve(more: number): void {
    if (this.#at >= more + SLACK) return
    const length = this.#bytes.length
    // It grows to what a request takes, and stays: twice as much each time would be up to twice what is needed.
    const shift = Math.max(length >> 2, more + SLACK)
    // The buffer before it is gone at once, and not when garbage is looked for.
    const grown = new Uint8Array(this.#bytes.buffer.transfer(length + shift))
    grown.copyWithin(this.#at + shift, this.#at, length)
    this.#bytes = grown
    this.#view = new DataView(grown.buffer)
    this.#at += shift
    this.#metricEnd += shift
    this.#groupEnd += shift
  }
}
