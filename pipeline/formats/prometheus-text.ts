/**
 * Reads the Prometheus text format and OpenMetrics, as it arrives, into columns.
 *
 * Lenient by line: what cannot be read is skipped and counted, the rest counts. Lines end in LF or CRLF; the last one needs no
 * end. Names and label values that are not UTF-8 make their line a bad one; bad bytes in help texts are replaced. Of two samples
 * of one series the first counts.
 */
import { labelsFrom, type Labels } from '../model/labels.ts'
import type { Layout } from '../model/layout.ts'
import { createOpenMetricsCheck } from './openmetrics-check.ts'
import type { LabelMaker } from './block-labels.ts'
import { noLines, type LineIndex, type StartSlots } from './known-lines.ts'
import { LineReader, type LineMemory } from './line-reader.ts'
import type { Dialect } from './sample-line.ts'

export type TextReaderOptions = {
  /** Makes the label set of a series of what stands in its label block, empty values included; called once for each distinct block. */
  readonly labels?: (exposed: ReadonlyMap<string, string>) => Labels
  /** Take OpenMetrics to the letter: the first mistake is an Error. That costs about what the rest is worth in speed. */
  readonly strict?: boolean
  /** More series are an Error; 0 is no limit. */
  readonly maxSeries?: number
}

/** What one exposition said. */
export type Exposition = {
  /** The same object as last time for as long as the series are the same. */
  readonly layout: Layout
  readonly values: Float64Array
  readonly times: Float64Array | undefined
  readonly starts: Float64Array | undefined
  /** Sample lines that could be read, with those that came twice. */
  readonly samples: number
  /** Series that the previous exposition did not have. */
  readonly added: number
  readonly duplicates: number
  readonly exemplars: number
  readonly badExemplars: number
  readonly badLines: number
  /** What is wrong with the first bad line, with its number. */
  readonly problem: string | undefined
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

export function createTextReader({
  labels = labelsFrom,
  strict = false,
  maxSeries = 0,
}: TextReaderOptions = {}): TextReader {
  return new SourceReader(
    { isStrict: strict, maxSeries: maxSeries === 0 ? Infinity : maxSeries },
    { makeLabels: labels },
  )
}

/** What readers have in common. */
export type ReadingRules = { readonly isStrict: boolean; readonly maxSeries: number }

/** Of a source there is only what is kept between its expositions: there are thousands, and few are read at a time. */
export class SourceReader implements TextReader, LineMemory {
  known = NOTHING_KNOWN
  index: LineIndex | undefined
  disorder = 0
  readonly #rules: ReadingRules
  readonly #labelMaker: LabelMaker
  /** Of the exposition under way, or of one that was not finished. */
  #reading: Reading | undefined

  constructor(rules: ReadingRules, labelMaker: LabelMaker) {
    this.#rules = rules
    this.#labelMaker = labelMaker
  }

  get maxSeries(): number {
    return this.#rules.maxSeries
  }

  makeLabels(exposed: ReadonlyMap<string, string>): Labels {
    return this.#labelMaker.makeLabels(exposed)
  }

  begin(dialect: Dialect): void {
    this.#reading ??= unused.pop() ?? new Reading()
    this.#reading.begin(this, dialect, this.#rules.isStrict)
  }

  push(bytes: Uint8Array): void {
    this.#reading!.push(bytes)
  }

  finish(): Exposition {
    const reading = this.#reading!
    const exposition = reading.finish()
    this.#reading = undefined
    if (unused.length < MOST_UNUSED) unused.push(reading)
    return exposition
  }
}

const NOTHING_KNOWN = noLines('text')

/** As many as are scraped together. */
const MOST_UNUSED = 256
const unused: Reading[] = []

/** An exposition under way. Used for one after the other: what was used last is still near the processor. */
class Reading {
  readonly #lines = new LineReader()
  #dialect: Dialect = 'text'
  /** Where its lines arrive torn or have to be checked. */
  #torn: TornLine | undefined
  #check: StrictCheck | undefined

  begin(memory: LineMemory, dialect: Dialect, isStrict: boolean): void {
    this.#dialect = dialect
    this.#lines.begin(memory, dialect)
    this.#check = isStrict && dialect === 'openmetrics' ? new StrictCheck() : undefined
    this.#torn = undefined
  }

  push(bytes: Uint8Array): void {
    let start = 0
    if (this.#torn !== undefined) {
      const end = bytes.indexOf(LINE_FEED) + 1
      this.#torn.add(bytes, 0, end === 0 ? bytes.length : end)
      if (end === 0) return
      this.#endTornLine(this.#torn)
      start = end
    }
    // Mostly all of it arrives at once.
    const limit = bytes[bytes.length - 1] === LINE_FEED ? bytes.length : bytes.lastIndexOf(LINE_FEED) + 1
    if (limit > start) {
      this.#read(bytes, start, limit)
      start = limit
    }
    if (start === bytes.length) return
    this.#torn = new TornLine()
    this.#torn.add(bytes, start, bytes.length)
  }

  finish(): Exposition {
    if (this.#torn !== undefined) {
      this.#torn.add(LINE_END, 0, 1)
      this.#endTornLine(this.#torn)
    }
    this.#check?.end()
    const lines = this.#lines
    const { known, values, times, samples, duplicates, added } = lines.finish()
    const { layout, starts } = known
    const columns = starts === undefined ? undefined : columnsOf(starts, values, times)
    // Always with all fields: this is made for every scrape.
    return {
      layout,
      values: columns === undefined ? values : columns.values,
      times: columns === undefined ? times : columns.times,
      starts: columns?.starts,
      samples,
      added,
      duplicates,
      exemplars: lines.exemplars,
      badExemplars: lines.badExemplars,
      badLines: lines.badLines,
      problem: lines.problem,
      endMissing: this.#dialect === 'openmetrics' && !lines.ended,
    }
  }

  #endTornLine(torn: TornLine): void {
    this.#torn = undefined
    if (torn.length > MAX_LINE_BYTES) this.#lines.bad('the line is too long')
    else this.#read(torn.bytes, 0, torn.length)
  }

  #read(bytes: Uint8Array, start: number, limit: number): void {
    this.#check?.lines(bytes, start, limit)
    this.#lines.read(bytes, start, limit)
  }
}

const LINE_END = Uint8Array.of(LINE_FEED)

/** Throws at the first line that is not as OpenMetrics has it. */
class StrictCheck {
  #check = createOpenMetricsCheck()
  #decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  #lines = 0

  lines(bytes: Uint8Array, start: number, limit: number): void {
    for (let from = start; from < limit;) {
      const end = bytes.indexOf(LINE_FEED, from)
      this.#lines++
      let text: string
      try {
        text = this.#decoder.decode(bytes.subarray(from, end))
      } catch (cause) {
        throw new Error(`line ${this.#lines}: not UTF-8`, { cause })
      }
      const problem = this.#check.line(text)
      if (problem !== undefined) throw new Error(`line ${this.#lines}: ${problem}`)
      from = end + 1
    }
  }

  end(): void {
    const problem = this.#check.end()
    if (problem !== undefined) throw new Error(problem)
  }
}

/** The beginning of a line whose end has not arrived. */
class TornLine {
  bytes = new Uint8Array(0)
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

  #grow(needed: number): void {
    const grown = new Uint8Array(Math.max(needed, this.bytes.length * 2))
    grown.set(this.bytes)
    this.bytes = grown
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
