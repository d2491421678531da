/** What is the same in requests of remote write 1.0 and 2.0. */
import type { LabelPlan } from './remote-write-labels.ts'
import { writeVarint } from './snappy-writer.ts'

/** A request that is being written. */
export type RequestWriter = {
  /** Samples so far. */
  readonly samples: number
  /** Its length before it is compressed. */
  readonly length: number
  /** The label sets and metrics of the series that follow. */
  use(plan: LabelPlan): void
  /** A sample of the series with metrics[metric] and labels[set]; `startMs` is NaN where nobody knows when it began. */
  add(metric: number, set: number, value: number, timeMs: number, startMs: number): void
  /** A marker that it has ended. */
  end(metric: number, set: number, timeMs: number): void
  /** The compressed message; the next request begins. */
  finish(): Uint8Array
}

/**
 * Two halves of a double, lower first. Markers of staleness are one certain NaN among many; they, and every other NaN, are written as
 * bits, because what becomes of the bits of a NaN that travels as a number is nowhere said.
 */
export const STALE_BITS = [0x0000_0002, 0x7ff0_0000] as const
export const NAN_BITS = [0x0000_0001, 0x7ff8_0000] as const

/** The varint of a time. Most samples of a batch have the same. */
export class TimeVarint {
  readonly bytes = new Uint8Array(10)
  size = 0
  timeMs = NaN

  set(timeMs: number): void {
    if (timeMs === this.timeMs) return
    this.timeMs = timeMs
    if (timeMs >= 0) this.size = writeVarint(this.bytes, 0, timeMs)
    else this.#setNegative(timeMs)
  }

  /** Before 1970: as a number of 64 bits with a sign. */
  #setNegative(timeMs: number): void {
    let rest = BigInt.asUintN(64, BigInt(timeMs))
    let at = 0
    for (; rest >= 0x80n; rest >>= 7n) this.bytes[at++] = Number(rest & 0x7fn) | 0x80
    this.bytes[at++] = Number(rest)
    this.size = at
  }
}

export function writeValue(view: DataView, at: number, value: number): void {
  if (Number.isNaN(value)) writeBits(view, at, NAN_BITS)
  else view.setFloat64(at, value, true)
}

export function writeBits(view: DataView, at: number, [low, high]: readonly [number, number]): void {
  view.setUint32(at, low, true)
  view.setUint32(at + 4, high, true)
}
