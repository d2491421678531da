/** Writes requests of OTLP metrics in JSON. */
import type { ByteArena } from './byte-arena.ts'
import type { MetricBytes } from './otlp-dialect.ts'
import type { Groups } from './otlp-groups.ts'
import { JSON_NUMBER_ROOM, writeAscii, writeCount, writeDouble, writeNanoseconds } from './otlp-json-number.ts'
import type { Shape } from './otlp-metric.ts'
import {
  START_MS,
  TIME_MS,
  VALUE,
  type HistogramPoint,
  type RequestWriter,
  type SummaryPoint,
} from './otlp-request-writer.ts'

const FIRST_BYTES = 64 * 1024
const COMMA = 0x2c
const BEGIN = '{"resourceMetrics":['
const END = ']}'
const ENDED = ',"flags":1'

export class JsonWriter implements RequestWriter {
  readonly numberBytes = 3 * JSON_NUMBER_ROOM + 64
  readonly partBytes = 2 * JSON_NUMBER_ROOM + 24
  readonly next = new Float64Array(3)
  #bytes = Buffer.allocUnsafeSlow(FIRST_BYTES)
  #at = 0
  #tail: Uint8Array = Buffer.alloc(0)
  #isFirst = { metric: true, point: true }

  get length(): number {
    return this.#at + BEGIN.length + END.length
  }

  openGroup(groups: Groups, group: number): void {
    this.#reserve(BEGIN.length)
    if (this.#at > 0) this.#bytes[this.#at++] = COMMA
    else this.#ascii(BEGIN)
    this.#isFirst.metric = true
    this.#append(groups.resources.read(group))
    this.#append(groups.scopes.read(group))
  }

  openMetric({ head, headStart, headEnd, tail }: MetricBytes): void {
    this.#separate('metric')
    this.#isFirst.point = true
    this.#tail = tail
    this.#reserve(headEnd - headStart)
    this.#bytes.set(new Uint8Array(head.buffer, headStart, headEnd - headStart), this.#at)
    this.#at += headEnd - headStart
  }

  number(blocks: ByteArena, block: number): void {
    this.#openPoint(this.next[TIME_MS]!, this.next[START_MS]!)
    this.#ascii(',"asDouble":')
    this.#at = writeDouble(this.#bytes, this.#at, this.next[VALUE]!)
    this.#copy(blocks, block)
  }

  histogram(blocks: ByteArena, block: number, point: HistogramPoint, timeMs: number, startMs: number): void {
    const { bounds, buckets } = point
    this.#openPoint(timeMs, startMs)
    if (point.isEnded) this.#ascii(ENDED)
    this.#reserve(this.numberBytes + (bounds.values.length + 1) * this.partBytes + bounds.bytes.length)
    this.#ascii(',"count":')
    this.#at = writeCount(this.#bytes, this.#at, point.count)
    if (point.hasSum) {
      this.#ascii(',"sum":')
      this.#at = writeDouble(this.#bytes, this.#at, point.sum)
    }
    if (bounds.values.length > 0) {
      this.#ascii(',"bucketCounts":[')
      for (let i = 0; i <= bounds.values.length; i++) {
        if (i > 0) this.#bytes[this.#at++] = COMMA
        this.#at = writeCount(this.#bytes, this.#at, buckets[i]!)
      }
      this.#ascii(']')
      this.#bytes.set(bounds.bytes, this.#at)
      this.#at += bounds.bytes.length
    }
    this.#copy(blocks, block)
  }

  summary(blocks: ByteArena, block: number, point: SummaryPoint, timeMs: number, startMs: number): void {
    this.#openPoint(timeMs, startMs)
    if (point.isEnded) this.#ascii(ENDED)
    this.#reserve(this.numberBytes + point.length * this.partBytes)
    this.#ascii(',"count":')
    this.#at = writeCount(this.#bytes, this.#at, point.count)
    this.#ascii(',"sum":')
    this.#at = writeDouble(this.#bytes, this.#at, point.sum)
    if (point.length > 0) this.#ascii(',"quantileValues":[')
    for (let i = 0; i < point.length; i++) {
      this.#ascii(i > 0 ? ',{"quantile":' : '{"quantile":')
      this.#at = writeDouble(this.#bytes, this.#at, point.quantiles[i]!)
      this.#ascii(',"value":')
      this.#at = writeDouble(this.#bytes, this.#at, point.values[i]!)
      this.#ascii('}')
    }
    if (point.length > 0) this.#ascii(']')
    this.#copy(blocks, block)
  }

  ended(blocks: ByteArena, block: number, _shape: Shape, timeMs: number): void {
    this.#openPoint(timeMs, NaN)
    this.#ascii(ENDED)
    this.#copy(blocks, block)
  }

  closeMetric(): void {
    this.#reserve(this.#tail.length)
    this.#bytes.set(this.#tail, this.#at)
    this.#at += this.#tail.length
  }

  closeGroup(): void {
    this.#reserve(8)
    this.#ascii(']}]}')
  }

  take(): Uint8Array {
    this.#reserve(END.length)
    this.#ascii(END)
    const request = this.#bytes.subarray(0, this.#at)
    this.#at = 0
    return request
  }

  #openPoint(timeMs: number, startMs: number): void {
    this.#separate('point')
    this.#reserve(this.numberBytes)
    if (startMs > 0) {
      this.#ascii('{"startTimeUnixNano":')
      this.#at = writeNanoseconds(this.#bytes, this.#at, startMs)
    }
    this.#ascii(startMs > 0 ? ',"timeUnixNano":' : '{"timeUnixNano":')
    this.#at = writeNanoseconds(this.#bytes, this.#at, timeMs)
  }

  #separate(what: 'metric' | 'point'): void {
    if (this.#isFirst[what]) {
      this.#isFirst[what] = false
      return
    }
    this.#reserve(1)
    this.#bytes[this.#at++] = COMMA
  }

  #ascii(text: string): void {
    this.#at = writeAscii(this.#bytes, this.#at, text)
  }

  #append(bytes: Uint8Array): void {
    this.#reserve(bytes.length)
    this.#bytes.set(bytes, this.#at)
    this.#at += bytes.length
  }

  #copy({ bytes, starts }: ByteArena, string: number): void {
    const from = starts[string]!
    const to = starts[string + 1]!
    this.#reserve(to - from)
    if (to - from > 64) this.#bytes.set(bytes.subarray(from, to), this.#at)
    else for (let i = from, at = this.#at; i < to; i++, at++) this.#bytes[at] = bytes[i]!
    this.#at += to - from
  }

  #reserve(more: number): void {
    if (this.#at + more <= this.#bytes.length) return
    const larger = Buffer.allocUnsafeSlow(Math.max(this.#bytes.length * 2, this.#at + more))
    larger.set(this.#bytes.subarray(0, this.#at))
    this.#bytes = larger
  }
}
