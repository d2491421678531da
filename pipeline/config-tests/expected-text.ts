/** Prometheus text in a test file, line by line: what is expected, and every line that is wrong. */
import type { Finding } from '../config/finding.ts'
import { createTextReader } from '../formats/prometheus-text.ts'
import { labelsAt, metricAt } from '../model/layout.ts'
import type { Labels } from '../model/labels.ts'
import type { Content } from './content.ts'
import { seriesText } from './series-text.ts'

export type ExpectedSample = {
  readonly name: string
  readonly labels: Labels
  /** As `seriesText` writes it. */
  readonly text: string
  readonly value: number
  /** NaN where no time is expected. */
  readonly timeMs: number
  /** Counted from 1. */
  readonly line: number
}

/** The samples of a text. Lines that cannot be read, and series that come twice, are reported at their places. */
export function readSamples(content: Content, report: (finding: Finding) => void): ExpectedSample[] {
  const samples: ExpectedSample[] = []
  const lines = new Map<string, number>()
  const reader = createTextReader()
  let line = 0
  for (const bytes of linesOf(content.bytes)) {
    line++
    const fail = (message: string): void => report({ place: content.placeOfLine(line), message })
    // One line at a time: this is how the reader tells which one it does not like.
    reader.begin('text')
    reader.push(bytes)
    const { layout, values, times, problem } = reader.finish()
    if (problem !== undefined) fail(problem.replace(/^line \d+: /, ''))
    if (values.length === 0) continue
    const { name } = metricAt(layout, 0)
    const labels = labelsAt(layout, 0)
    const text = seriesText(name, labels)
    const first = lines.get(text)
    if (first !== undefined) fail(`${text} is there twice, first in ${content.describeLine(first)}`)
    else lines.set(text, line)
    samples.push({ name, labels, text, value: values[0]!, timeMs: times?.[0] ?? NaN, line })
  }
  return samples
}

const LINE_FEED = 0x0a

export function* linesOf(bytes: Uint8Array): Generator<Uint8Array> {
  let start = 0
  for (let end = bytes.indexOf(LINE_FEED); end >= 0; end = bytes.indexOf(LINE_FEED, start)) {
    yield bytes.subarray(start, end)
    start = end + 1
  }
  if (start < bytes.length) yield bytes.subarray(start)
}
