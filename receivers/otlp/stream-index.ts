/**
 * Finds the stream of a metric and attributes by their bytes. Clients send the same streams in the same order, so the one after
 * the last that was found is looked at first, and mostly nothing is hashed at all.
 */
import { ByteArena } from '../../pipeline/formats/byte-arena.ts'
import { hashBytes } from '../../pipeline/formats/byte-compare.ts'
import { HashIndex } from '../../pipeline/formats/hash-index.ts'
import type { AttributeBytes } from '../../pipeline/formats/otlp-points.ts'

export class StreamIndex {
  #keys = new ByteArena()
  #hashes = new HashIndex()
  #metrics = new Int32Array(16)
  #streams = new Int32Array(16)
  #expected = 0

  /** How many ways to write streams are known; one stream may have several. */
  get size(): number {
    return this.#keys.count
  }

  /** -1 if nobody knows it. */
  find(metric: number, { view, start, end }: AttributeBytes): number {
    if (this.#isKey(this.#expected, metric, view, start, end)) return this.#streams[this.#expected++]!
    const hash = hashOf(metric, view, start, end)
    const { slots, mask, hashes } = this.#hashes
    for (let slot = hash & mask; slots[slot] !== 0; slot = (slot + 1) & mask) {
      const key = slots[slot]! - 1
      if (hashes[key] !== hash || !this.#isKey(key, metric, view, start, end)) continue
      this.#expected = key + 1
      return this.#streams[key]!
    }
    return -1
  }

  /** Remembers a stream that `find` did not find. */
  add(metric: number, { bytes, view, start, end }: AttributeBytes, stream: number): void {
    const key = this.#keys.add(bytes, start, end)
    this.#hashes.add(hashOf(metric, view, start, end))
    if (key >= this.#streams.length) {
      this.#streams = grown(this.#streams)
      this.#metrics = grown(this.#metrics)
    }
    this.#streams[key] = stream
    this.#metrics[key] = metric
    this.#expected = key + 1
  }

  /** The same with other numbers, for those that still have one. */
  renumbered(streams: Int32Array, metrics: Int32Array): StreamIndex {
    const copy = new StreamIndex()
    const { bytes, view, starts } = this.#keys
    for (let key = 0; key < this.size; key++) {
      const stream = streams[this.#streams[key]!]!
      const metric = metrics[this.#metrics[key]!]!
      if (stream >= 0 && metric >= 0)
        copy.add(metric, { bytes, view, start: starts[key]!, end: starts[key + 1]! }, stream)
    }
    copy.#expected = 0
    return copy
  }

  #isKey(key: number, metric: number, view: DataView, start: number, end: number): boolean {
    const { starts, count } = this.#keys
    if (key >= count || this.#metrics[key] !== metric) return false
    const from = starts[key]!
    return starts[key + 1]! - from === end - start && isSame(this.#keys.view, from, view, start, end - start)
  }
}

/** Word by word as integers: attributes may hold any bytes, also those that make doubles which are equal and not the same. */
function isSame(a: DataView, p: number, b: DataView, q: number, length: number): boolean {
  let i = 0
  for (; i + 4 <= length; i += 4) if (a.getInt32(p + i, true) !== b.getInt32(q + i, true)) return false
  for (; i < length; i++) if (a.getUint8(p + i) !== b.getUint8(q + i)) return false
  return true
}

function hashOf(metric: number, view: DataView, start: number, end: number): number {
  return hashBytes(view, start, end) ^ Math.imul(metric + 1, 0x9e3779b1)
}

function grown(numbers: Int32Array): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(numbers.length * 2)
  larger.set(numbers)
  return larger
}
