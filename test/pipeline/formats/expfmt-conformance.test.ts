/** What the Go reference library says about durations, names and writing the text format. Its cases for reading are in parse-conformance. */
import assert from 'node:assert/strict'
import { parseDuration } from '../../../pipeline/config/duration.ts'
import { createTextReader } from '../../../pipeline/formats/prometheus-text.ts'
import { escapeMetricName, isPlainLabelName, isPlainMetricName } from '../../../pipeline/formats/render-names.ts'
import { renderText } from '../../../pipeline/formats/render-text.ts'
import type { Batch } from '../../../pipeline/model/batch.ts'
import { labelsFrom } from '../../../pipeline/model/labels.ts'
import { layoutFromSeries } from '../../../pipeline/model/layout.ts'
import { metricFrom, type MetricType, type Series } from '../../../pipeline/model/series.ts'
import { createSource } from '../../support/batch-from-text.ts'
import { EXPFMT_DEVIATIONS } from '../../support/scraping-deviations.ts'
import { sharedJson } from '../../support/shared.ts'

function check(name: string, run: () => void): void {
  const reason = EXPFMT_DEVIATIONS[name]
  if (reason === undefined) it(name, run)
  else it(`${name}: not so, because ${reason}`, () => assert.throws(run, `${name} passes, so it is no deviation`))
}

type DurationCase = { input: string; ms?: number; expect: 'ok' | 'error' }
type NameCase = {
  op: string
  name?: string
  input: string | { base64: string }
  underscores: string
  dots: string
  values: string
  expected: string
  legacy: boolean
  utf8: boolean
}
type Labelled = { labels: [string, string][]; timestamp_ms?: string }
type Metric = Labelled & {
  value?: string
  summary?: { count: string; sum: string; quantiles: { quantile: string; value: string }[] }
  histogram?: { count: string; sum: string; buckets: { le: string; cumulative_count: string }[] }
}
type CreateCase = {
  name: string
  family: { name: string | null; type: string; help?: string; metrics: Metric[] }
  expect: 'text' | 'error'
  output?: string
}

describe('durations, by the Go library', () => {
  for (const { input, ms, expect } of sharedJson<{ cases: DurationCase[] }>(
    'conformance/prometheus-common-expfmt/durations.json',
  )?.cases ?? []) {
    // Negative ones are for offsets in queries; a config has none.
    if (input.startsWith('-')) it(`duration ${input} is refused`, () => assert.throws(() => parseDuration(input)))
    else if (expect === 'error') check(`duration ${input}`, () => assert.throws(() => parseDuration(input)))
    else check(`duration ${input}`, () => assert.equal(parseDuration(input), ms))
  }
})

describe('names, by the Go library', () => {
  for (const one of sharedJson<{ cases: NameCase[] }>('conformance/prometheus-common-expfmt/names.json')?.cases ?? []) {
    const { op, name, input } = one
    const shown = typeof input === 'string' ? input : `not UTF-8: ${input.base64}`
    check(`${op} ${name ?? shown}`, () => {
      const bytes = typeof input === 'string' ? Buffer.from(input) : Buffer.from(input.base64, 'base64')
      const text = bytes.toString()
      if (op === 'escape') {
        for (const escaping of ['underscores', 'dots', 'values'] as const) {
          assert.equal(escapeMetricName(text, escaping), one[escaping])
        }
      } else if (op === 'unescape-values') {
        assert.equal(nameRead(Buffer.from(`{"${text}"} 1\n`)), one.expected === '' ? undefined : one.expected)
      } else {
        const isMetric = op === 'valid-metric-name'
        assert.equal((isMetric ? isPlainMetricName : isPlainLabelName)(text), one.legacy)
        const line = isMetric ? ['{"', bytes, '"} 1\n'] : ['m{"', bytes, '"="x"} 1\n']
        const read = nameRead(Buffer.concat(line.map(part => (typeof part === 'string' ? Buffer.from(part) : part))))
        assert.equal(read !== undefined, one.utf8)
      }
    })
  }
})

/** Samples without a time of their own are written with that of the scrape; the cases have none then. */
const SCRAPED_MS = 987_654_321

/** The name of the one series in the text, or undefined if it cannot be read. */
function nameRead(text: Buffer): string | undefined {
  const reader = createTextReader()
  reader.begin('text')
  reader.push(text)
  return reader.finish().layout.metrics[0]?.name
}

describe('writing text, by the Go library', () => {
  for (const { name, family, expect, output } of sharedJson<{ cases: CreateCase[] }>(
    'conformance/prometheus-common-expfmt/text-create.json',
  )?.cases ?? []) {
    check(name, () => {
      const write = () => renderText([batchOf(family)], { escaping: 'allow-utf-8', timestamps: true })
      if (expect === 'error') assert.throws(write)
      else assert.deepEqual(meaning(write()), meaning(output!))
    })
  }
})

function batchOf({ name, type, help = '', metrics }: CreateCase['family']): Batch {
  const points: { series: Series; value: number; time: number }[] = []
  const add = (ending: string, { labels, timestamp_ms }: Labelled, extra: [string, string][], value: string): void => {
    const metricType = (type === 'untyped' ? 'unknown' : type.replace('_', '')) as MetricType
    const metric = metricFrom({ name: name! + ending, family: name!, type: metricType, help })
    const time = timestamp_ms === undefined ? NaN : Number(timestamp_ms)
    points.push({
      series: { metric, labels: labelsFrom([...labels, ...extra]) },
      value: Number(value.replace('Inf', 'Infinity')),
      time,
    })
  }
  for (const metric of metrics) {
    if (metric.value !== undefined) add('', metric, [], metric.value)
    for (const { quantile, value } of metric.summary?.quantiles ?? []) add('', metric, [['quantile', quantile]], value)
    for (const { le, cumulative_count } of metric.histogram?.buckets ?? [])
      add('_bucket', metric, [['le', le]], cumulative_count)
    const totals = metric.summary ?? metric.histogram
    if (totals !== undefined) {
      add('_sum', metric, [], totals.sum)
      add('_count', metric, [], totals.count)
    }
  }
  const times = Float64Array.from(points, ({ time }) => time)
  return {
    source: createSource(),
    timeMs: SCRAPED_MS,
    outcome: 'ok',
    layout: layoutFromSeries(points.map(({ series }) => series)),
    values: Float64Array.from(points, ({ value }) => value),
    times,
  }
}

/** Lines with labels in order and numbers as numbers: the order of labels and the spelling of numbers are the writer's choice. */
function meaning(text: string): string[] {
  return text
    .split('\n')
    .filter(line => line !== '')
    .map(line => {
      if (line.startsWith('#')) return line
      const end = line.lastIndexOf('}') + 1 || line.indexOf(' ')
      const [value = '', time = ''] = line.slice(end).trim().split(' ')
      const labels = line.slice(0, end).match(/"(?:[^"\\]|\\.)*"(?:="(?:[^"\\]|\\.)*")?|\w+="(?:[^"\\]|\\.)*"/g) ?? []
      return [
        line.slice(0, end).split('{')[0],
        ...labels.toSorted(),
        String(Number(value.replace('Inf', 'Infinity'))),
        time === String(SCRAPED_MS) ? '' : time,
      ].join(' ')
    })
}
