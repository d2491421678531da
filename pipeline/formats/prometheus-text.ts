/**
 * Reads the Prometheus text format and OpenMetrics, as it arrives, into columns.
 *
 * Lenient by line: what cannot be read is skipped and counted, the rest counts. Lines end in LF or CRLF; the last one needs no
 * end. Names and label values that are not UTF-8 make their line a bad one; bad bytes in help texts are replaced. Of two samples
 * of one series the first counts.
 */
import { labelsFrom, type Labels } from '../model/labels.ts'
import { columnCount, EMPTY_LAYOUT, layoutFromSeries, type Layout } from '../model/layout.ts'
import type { Series } from '../model/series.ts'
import { Families } from './families.ts'
import { readMetadataLine } from './metadata-line.ts'
import { createSampleLine, PLAIN_TOKEN, readSampleLine, skipBlanks, type Dialect } from './sample-line.ts'
import { asciiText, tokenText } from './token-text.ts'

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
  /** Sample lines that could be read, with those that came twice. */
  readonly samples: number
  /** Series that the previous exposition did not have. */
  readonly added: number
  readonly duplicates: number
  readonly exemplars: number
  readonly badLines: number
  /** What is wrong with the first bad line, with its number. */
  readonly problem?: string
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
const CARRIAGE_RETURN = 0x0d
const HASH = 0x23
/** A longer line is skipped: no exporter writes such a one, and an endless one must not fill the memory. */
const MAX_LINE_BYTES = 4 * 1024 * 1024

export function createTextReader({ labels: makeLabels = labelsFrom }: TextReaderOptions = {}): TextReader {
  let previous = EMPTY_LAYOUT
  let scrape = createScrape('text', makeLabels)
  // The beginning of a line whose end has not arrived.
  let pending: Uint8Array[] = []
  let pendingBytes = 0

  function keep(bytes: Uint8Array): void {
    pendingBytes += bytes.length
    if (pendingBytes <= MAX_LINE_BYTES) pending.push(bytes.slice())
    else pending = []
  }

  function endPending(): void {
    if (pendingBytes > MAX_LINE_BYTES) scrape.bad('the line is too long')
    else scrape.line(Buffer.concat(pending), 0, pendingBytes)
    pending = []
    pendingBytes = 0
  }

  return {
    begin(dialect) {
      scrape = createScrape(dialect, makeLabels)
      pending = []
      pendingBytes = 0
    },
    push(bytes) {
      let start = 0
      for (;;) {
        const end = bytes.indexOf(LINE_FEED, start)
        if (end < 0) break
        if (pendingBytes > 0) {
          keep(bytes.subarray(start, end))
          endPending()
        } else scrape.line(bytes, start, end)
        start = end + 1
      }
      if (start < bytes.length) keep(bytes.subarray(start))
    },
    finish() {
      if (pendingBytes > 0) endPending()
      const exposition = scrape.finish(previous)
      previous = exposition.layout
      return exposition
    },
  }
}

function createScrape(dialect: Dialect, makeLabels: (exposed: ReadonlyMap<string, string>) => Labels) {
  const families = new Families()
  const line = createSampleLine()
  const labelsByBlock = new Map<string, Labels | undefined>()
  const seen = new Map<Labels, Set<string>>()
  const names: string[] = []
  const labels: Labels[] = []
  const values: number[] = []
  const times: number[] = []
  let hasTimes = false
  let lines = 0
  let samples = 0
  let duplicates = 0
  let exemplars = 0
  let badLines = 0
  let problem: string | undefined

  function bad(what: string): void {
    badLines++
    problem ??= `line ${lines}: ${what}`
  }

  function sample(bytes: Uint8Array, start: number, end: number): void {
    const wrong = readSampleLine(bytes, start, end, dialect, line)
    if (wrong !== undefined) return bad(wrong)
    let name = asciiText(bytes, line.nameStart, line.nameEnd)
    const block = asciiText(bytes, line.nameEnd, line.keyEnd)
    let series = labelsByBlock.get(block)
    if (series === undefined || name === '') {
      const decoded = decodeLabels(bytes, line.labels)
      if (typeof decoded === 'string') return bad(decoded)
      series = makeLabels(decoded.labels)
      if (name === '') name = decoded.name
      labelsByBlock.set(block, series)
    }
    samples++
    if (line.exemplar === 'good') exemplars++
    let namesSeen = seen.get(series)
    if (namesSeen === undefined) seen.set(series, (namesSeen = new Set()))
    if (namesSeen.has(name)) {
      duplicates++
      return
    }
    namesSeen.add(name)
    names.push(name)
    labels.push(series)
    values.push(line.value)
    times.push(line.timeMs)
    if (!Number.isNaN(line.timeMs)) hasTimes = true
  }

  return {
    bad,
    line(bytes: Uint8Array, start: number, lineEnd: number): void {
      lines++
      const end = lineEnd > start && bytes[lineEnd - 1] === CARRIAGE_RETURN ? lineEnd - 1 : lineEnd
      const first = skipBlanks(bytes, start, end)
      if (first === end) return
      if (bytes[first] !== HASH) return sample(bytes, start, end)
      const metadata = readMetadataLine(bytes, start, end, dialect)
      if (metadata.kind === 'bad') bad(metadata.problem)
      else families.add(metadata)
    },
    finish(previous: Layout): Exposition {
      const series: Series[] = names.map((name, i) => ({ metric: families.describe(name), labels: labels[i]! }))
      const layout = layoutFromSeries(series, previous)
      return {
        layout,
        values: Float64Array.from(values),
        ...(hasTimes && { times: Float64Array.from(times) }),
        samples,
        added: layout === previous ? 0 : columnCount(layout) - keptColumns(layout),
        duplicates,
        exemplars,
        badLines,
        ...(problem !== undefined && { problem }),
      }
    },
  }
}

function decodeLabels(
  bytes: Uint8Array,
  spans: readonly number[],
): { name: string; labels: Map<string, string> } | string {
  let metricName = ''
  const pairs = new Map<string, string>()
  for (let i = 0; i < spans.length; i += 6) {
    const name = tokenText(bytes, spans[i]!, spans[i + 1]!, spans[i + 2]!)
    if (name === undefined) return 'a label name is not UTF-8'
    if (spans[i + 4] === -1) {
      metricName = name
      continue
    }
    if (name === '__name__') return 'a label is called __name__'
    if (pairs.has(name)) return `the label "${name}" is there twice`
    const value = tokenText(bytes, spans[i + 3]!, spans[i + 4]!, spans[i + 5] ?? PLAIN_TOKEN)
    if (value === undefined) return `the value of the label "${name}" is not UTF-8`
    pairs.set(name, value)
  }
  return { name: metricName, labels: pairs }
}

function keptColumns(layout: Layout): number {
  const runs = layout.keptFrom?.runs ?? []
  let kept = 0
  for (let i = 2; i < runs.length; i += 3) kept += runs[i]!
  return kept
}
