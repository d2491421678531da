/** Runs the outside suites of ../shared/conformance for the text formats. */
import assert from 'node:assert/strict'
import { createTextReader, type Exposition } from '../../../pipeline/formats/prometheus-text.ts'
import type { Dialect } from '../../../pipeline/formats/sample-line.ts'
import { labelPairs } from '../../../pipeline/model/labels.ts'
import { columnCount, labelsAt, metricAt } from '../../../pipeline/model/layout.ts'
import { readFileSync } from 'node:fs'
import { sharedJson, sharedPath } from '../../support/shared.ts'
import { DEVIATIONS } from '../../support/scraping-deviations.ts'

type Input = string | { base64: string }

function read(input: Input | Buffer, dialect: Dialect, strict = false): Exposition {
  const bytes = Buffer.isBuffer(input)
    ? input
    : typeof input === 'string'
      ? Buffer.from(input)
      : Buffer.from(input.base64, 'base64')
  const reader = createTextReader({ strict })
  reader.begin(dialect)
  reader.push(bytes)
  return reader.finish()
}

/** `name{labels}` to value and timestamp in seconds, with the type and the help of its family. */
function samplesOf(exposition: Exposition): Map<string, string> {
  const { layout, values, times } = exposition
  const samples = new Map<string, string>()
  for (let column = 0; column < columnCount(layout); column++) {
    const { name, type, help } = metricAt(layout, column)
    const time = times?.[column] ?? NaN
    const key = seriesKey(name, labelPairs(labelsAt(layout, column)))
    samples.set(key, sampleText(values[column]!, Number.isNaN(time) ? undefined : time / 1000, type, help))
  }
  return samples
}

function seriesKey(name: string, labels: readonly (readonly [string, string])[]): string {
  const present = labels.filter(([, value]) => value !== '')
  return name + JSON.stringify(present.toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

function sampleText(value: number, seconds: number | undefined, type: string, help: string): string {
  return `${value} @${seconds === undefined ? '' : Math.round(seconds * 1000) / 1000} ${type} ${help}`
}

function numberFrom(text: string): number {
  return text === '+Inf' ? Infinity : text === '-Inf' ? -Infinity : Number(text)
}

/** Runs a case; one that is a known deviation must fail. */
function check(suite: string, name: string, run: () => void): void {
  const deviation = DEVIATIONS.find(known => known.suite === suite && known.name.test(name))
  if (deviation === undefined) return run()
  let deviates = false
  try {
    run()
  } catch {
    deviates = true
  }
  assert.ok(deviates, `does as the suite says; it is no deviation for "${deviation.reason}" any more`)
}

/** One test for each suite, which lists all its failures. `path` leads to a JSON file with `cases`. */
function suite<C extends { name?: string; file?: string }>(name: string, path: string, run: (one: C) => void): void {
  it(`reads as ${name} says`, function () {
    const cases = sharedJson<{ cases: C[] }>('conformance', name, path)?.cases
    if (cases === undefined) return this.skip()
    const failures: string[] = []
    for (const [index, one] of cases.entries()) {
      const title = `${index} ${one.name ?? one.file}`
      try {
        check(name, title, () => run(one))
      } catch (error) {
        failures.push(`${title}: ${(error as Error).message}`)
      }
    }
    assert.equal(failures.length, 0, `${failures.length} of ${cases.length} cases:\n${failures.join('\n\n')}`)
  })
}

type PythonCase = {
  name: string
  input: string
  expect: 'parse' | 'error'
  families?: {
    name: string
    type: string
    help: string
    unit: string
    samples: { name: string; labels: Record<string, string>; value: string; timestamp_seconds?: string }[]
  }[]
}

describe('conformance of reading', () => {
  suite(
    'openmetrics-parsers',
    'cases.json',
    ({ input, shouldParse }: { name: string; input: string; shouldParse: boolean }) => {
      if (shouldParse) read(input, 'openmetrics', true)
      else assert.throws(() => read(input, 'openmetrics', true), Error, 'was accepted')
    },
  )

  suite('client-python-openmetrics', 'cases.json', ({ input, expect, families }: PythonCase) => {
    if (expect === 'error') {
      assert.throws(() => read(input, 'openmetrics', true), Error, 'was accepted')
      return
    }
    for (const strict of [true, false]) {
      const exposition = read(input, 'openmetrics', strict)
      assert.equal(exposition.problem, undefined)
      const expected = new Map<string, string>()
      for (const { name, type, help, samples } of families!) {
        for (const sample of samples) {
          // These are no series of ours but start times.
          if (sample.name === `${name}_created` && type !== 'gauge') continue
          const time = sample.timestamp_seconds === undefined ? undefined : Number(sample.timestamp_seconds)
          const key = seriesKey(sample.name, Object.entries(sample.labels))
          if (!expected.has(key)) expected.set(key, sampleText(numberFrom(sample.value), time, type, help))
        }
      }
      assert.deepEqual(samplesOf(exposition), expected)
    }
  })

  suite('client-python-text', 'cases.json', ({ input, expect, families }: PythonCase) => {
    const exposition = read(input, 'text')
    if (expect === 'error') {
      assert.ok(exposition.badLines > 0, 'was accepted')
      return
    }
    assert.equal(exposition.problem, undefined)
    const expected = new Map<string, string>()
    const samples = samplesOf(exposition)
    for (const { type, help, samples: all } of families!) {
      for (const sample of all) {
        // The reference adds the suffix to counters that lack it.
        const labels = Object.entries(sample.labels)
        const stripped = seriesKey(sample.name.replace(/_total$/, ''), labels)
        const key = samples.has(stripped) ? stripped : seriesKey(sample.name, labels)
        const time = sample.timestamp_seconds === undefined ? undefined : Number(sample.timestamp_seconds)
        if (!expected.has(key)) expected.set(key, sampleText(numberFrom(sample.value), time, type, help))
      }
    }
    assert.deepEqual(samples, expected)
  })

  type ExpfmtCase = { name: string; input: Input; expect: 'parse' | 'error'; families?: ExpfmtFamily[] }
  type ExpfmtFamily = {
    name: string
    type: string
    help?: string
    metrics: {
      labels: [string, string][]
      timestamp_ms?: string
      value?: string
      summary?: { count?: string; sum?: string; quantiles?: { quantile: string; value: string }[] }
      histogram?: { count?: string; sum?: string; buckets?: { upper_bound: string; cumulative_count: string }[] }
    }[]
  }
  suite('prometheus-common-expfmt', 'text-parse.json', ({ input, expect, families }: ExpfmtCase) => {
    const exposition = read(input, 'text')
    if (expect === 'error') {
      assert.ok(exposition.badLines > 0, 'was accepted')
      return
    }
    assert.equal(exposition.problem, undefined)
    const found = samplesOf(exposition)
    for (const { name, type, help = '', metrics } of families ?? []) {
      const shown = type === 'untyped' ? 'unknown' : type
      for (const { labels, value } of metrics) {
        if (value === undefined) continue
        const sample = found.get(seriesKey(name, labels))
        assert.ok(sample !== undefined, `${name} ${JSON.stringify(labels)} is missing`)
        assert.ok(sample.startsWith(`${numberFrom(value)} @`), `${sample} should be ${value}`)
        assert.ok(sample.endsWith(` ${shown} ${help}`), `${sample} should be ${shown} ${help}`)
      }
      for (const { labels, summary } of metrics) {
        const parts: [string, [string, string][], string | undefined][] = [
          [`${name}_count`, labels, summary?.count],
          [`${name}_sum`, labels, summary?.sum],
        ]
        for (const [part, partLabels, partValue] of parts) {
          if (partValue === undefined) continue
          assert.ok(found.get(seriesKey(part, partLabels))?.startsWith(`${numberFrom(partValue)} @`), part)
        }
      }
    }
  })

  type Capture = {
    file: string
    bytes: number
    'real_prometheus_2.42': { up: string; samples_scraped: string }
    per_name?: Record<string, { count: number; sum: string }>
  }
  suite('real-captures', 'expected-parse.json', ({ file, per_name, 'real_prometheus_2.42': prometheus }: Capture) => {
    const exposition = read(readFileSync(sharedPath(...file.split('/'))!), 'text')
    if (prometheus.up === '0') {
      assert.ok(exposition.badLines > 0, 'a bad line is not counted')
      return
    }
    assert.equal(exposition.problem, undefined)
    assert.equal(exposition.samples, Number(prometheus.samples_scraped))
    const found = new Map<string, { count: number; sum: number }>()
    for (let column = 0; column < columnCount(exposition.layout); column++) {
      const { name } = metricAt(exposition.layout, column)
      const total = found.get(name) ?? { count: 0, sum: 0 }
      const value = exposition.values[column]!
      found.set(name, { count: total.count + 1, sum: total.sum + (Number.isFinite(value) ? value : 0) })
    }
    for (const [name, { count, sum }] of Object.entries(per_name!)) {
      assert.equal(found.get(name)?.count, count, name)
      assert.ok(
        Math.abs(found.get(name)!.sum - Number(sum)) <= 1e-9 * Math.abs(Number(sum)),
        `${name} adds up to ${sum}`,
      )
    }
  })
})
