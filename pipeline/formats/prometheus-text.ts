/**
 * Reads the Prometheus text format and OpenMetrics, as it arrives, into columns.
 *
 * Lenient by line: what cannot be read is skipped and counted, the rest counts. Lines end in LF or CRLF; the last one needs no
 * end. Names and label values that are not UTF-8 make their line a bad one; bad bytes in help texts are replaced. Of two samples
 * of one series the first counts.
 */
import { labelsFrom, type Labels } from '../model/labels.ts'
import type { Layout } from '../model/layout.ts'
import type { StartSlots } from './known-lines.ts'
import { LineReader } from './line-reader.ts'
import type { Dialect } from './sample-line.ts'

export type TextReaderOptions = {
  /** Makes the label set of a series of what stands in its label block, empty values included; called once for each distinct block. */
  readonly labels?: (exposed: ReadonlyMap<string, string>) => Labels
}

/** What one exposition said. */
export type Exposition = {
  /** The same object as last time for as long as the series are the same. */
  readonly layout: Layout
  readonly values: Float64Array
  readonly times?: Float64Array
  readonly starts?: Float64Array
  /** Sample lines that could be read, with those that came twice. */
  readonly samples: number
  /** Series that the previous exposition did not have. */
  readonly added: number
  readonly duplicates: number
  readonly exemplars: number
  readonly badExemplars: number
  readonly badLines: number
  /** What is wrong with the first bad line, with its number. */
  readonly problem?: string
  /** An OpenMetrics exposition without `# EOF` may be a part of one. */
  readonly endMissing: boolean
}

/** Reads one source again and again; what it learns from one exposition makes the next one cheap. */
export type TextReader = {
  /** Begins an exposition, and forgets one that was not finished. */
  begin(dialect: Dialect): void
  /** Keeps nothing of the bytes. */
  push(bytes: Uint8Array): void
  finish(): Exposition
}

const LINE_FEED = 0x0a
/** A longer line is skipped: no exporter writes such a one, and an endless one must not fill the memory. */
const MAX_LINE_BYTES = 4 * 1024 * 1024

export function createTextReader({ labels: makeLabels = labelsFrom }: TextReaderOptions = {}): TextReader {
  const lines = new LineReader(makeLabels)
  const torn = new TornLine()
  let dialect: Dialect = 'text'

  function endTornLine(): void {
    if (torn.length > MAX_LINE_BYTES) lines.bad('the line is too long')
    else lines.read(torn.bytes, torn.view, 0, torn.length)
    torn.clear()
  }

  return {
    begin(newDialect) {
      dialect = newDialect
      lines.begin(dialect)
      torn.clear()
    },
    push(bytes) {
      let start = 0
      if (torn.length > 0) {
        const end = bytes.indexOf(LINE_FEED) + 1
        torn.add(bytes, 0, end === 0 ? bytes.length : end)
        if (end === 0) return
        endTornLine()
        start = end
      }
      const limit = bytes.lastIndexOf(LINE_FEED) + 1
      if (limit > start) {
        lines.read(bytes, new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), start, limit)
        start = limit
      }
      if (start < bytes.length) torn.add(bytes, start, bytes.length)
    },
    finish() {
      if (torn.length > 0) {
        torn.add(LINE_END, 0, 1)
        endTornLine()
      }
      const { known, values, times, samples, duplicates, added } = lines.finish()
      const { layout, starts } = known
      return {
        layout,
        ...(starts === undefined ? { values, ...(times && { times }) } : columnsOf(starts, values, times)),
        samples,
        added,
        duplicates,
        exemplars: lines.exemplars,
        badExemplars: lines.badExemplars,
        badLines: lines.badLines,
        ...(lines.problem !== undefined && { problem: lines.problem }),
        endMissing: dialect === 'openmetrics' && !lines.ended,
      }
    },
  }
}

const LINE_END = Uint8Array.of(LINE_FEED)

/** The beginning of a line whose end has not arrived. */
class TornLine {
  bytes = new Uint8Array(0)
  view = new DataView(this.bytes.buffer)
  /** With what was left out of a line that is too long. */
  length = 0

  add(source: Uint8Array, start: number, end: number): void {
    const length = this.length + end - start
    if (length <= MAX_LINE_BYTES) {
      if (length > this.bytes.length) this.#grow(length)
      this.bytes.set(source.subarray(start, end), this.length)
    }
    this.length = length
  }

  clear(): void {
    this.length = 0
    // Most targets never need more than this, and there may be thousands of them.
    if (this.bytes.length > 4096) this.#grow(0)
  }

  #grow(needed: number): void {
    const grown = new Uint8Array(needed === 0 ? 0 : Math.max(needed, this.bytes.length * 2))
    if (needed > 0) grown.set(this.bytes)
    this.bytes = grown
    this.view = new DataView(grown.buffer)
  }
}

/** Takes the times when counters began out of the values. They are written in seconds. */
function columnsOf(
  { valueSlot, startSlot }: StartSlots,
  values: Float64Array,
  times: Float64Array | undefined,
): { values: Float64Array; times?: Float64Array; starts: Float64Array } {
  const pick = (numbers: Float64Array): Float64Array => Float64Array.from(valueSlot, slot => numbers[slot]!)
  return {
    values: pick(values),
    ...(times && { times: pick(times) }),
    starts: Float64Array.from(startSlot, slot => (slot < 0 ? NaN : Math.round(values[slot]! * 1000))),
  }
}
