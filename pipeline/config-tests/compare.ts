/** Compares what is expected with what there is. */
import type { Difference } from './difference.ts'
import type { ExpectedSample } from './expected-text.ts'
import type { Live, LiveSeries } from './live-series.ts'
import { createRelatives, nearestUnmet } from './nearest.ts'
import type { Selector } from '../relabel/selector.ts'
import { valueText } from './series-text.ts'

/** All live series are expected, and all expected ones are live. `live` has only those that are meant. */
export function compareSeries(
  expected: readonly ExpectedSample[],
  live: Live,
  tolerance: number,
  describeLine: (line: number) => string,
): Difference[] {
  const differences: Difference[] = []
  const isExpected = new Set(expected.map(({ text }) => text))
  const missing = expected.filter(({ text }) => !live.has(text))
  const relatives = createRelatives(missing, live, isExpected)
  for (const sample of missing) {
    const note = relatives.nearest(sample)
    differences.push({
      kind: 'missing',
      subject: sample.text,
      expected: valueText(sample.value, sample.timeMs),
      place: describeLine(sample.line),
      ...(note !== undefined && { note }),
    })
  }
  const surplus = [...live.values()].filter(({ text }) => !isExpected.has(text))
  for (const series of surplus.toSorted((a, b) => (a.text < b.text ? -1 : 1))) {
    differences.push({ kind: 'surplus', subject: series.text, got: valueText(series.value) })
  }
  for (const sample of expected) {
    const series = live.get(sample.text)
    if (series === undefined) continue
    const place = describeLine(sample.line)
    const difference = rivalry(series) ?? compareSample(sample, series, tolerance)
    if (difference !== undefined) differences.push({ ...difference, place })
  }
  return [...differences, ...surplus.flatMap(series => listOf(rivalry(series)))]
}

export function compareAbsent(selector: Selector, live: Live): Difference[] {
  return [...live.values()]
    .filter(({ name, labels }) => selector.matches(name, labels))
    .map(({ text, value }) => ({
      kind: 'surplus',
      subject: text,
      got: valueText(value),
      note: `${selector.text} is expected to be absent`,
    }))
}

/** At least one; with a value, all of them have it. */
export function comparePresent(
  selector: Selector,
  live: Live,
  value: number | undefined,
  tolerance: number,
): Difference[] {
  const selected = [...live.values()].filter(({ name, labels }) => selector.matches(name, labels))
  if (selected.length === 0) {
    const expected = value === undefined ? {} : { expected: valueText(value) }
    return [{ kind: 'missing', subject: selector.text, ...expected, note: nearestUnmet(selector, live) }]
  }
  return selected.flatMap(series => {
    const sample = { value: value ?? series.value, timeMs: NaN }
    return listOf(rivalry(series) ?? compareSample(sample, series, tolerance))
  })
}

export function compareLog(expression: { text: string; matches(line: string): boolean }, log: readonly string[]) {
  if (log.some(line => expression.matches(line))) return []
  const lines = log.length === 1 ? 'one line was' : `${log.length} lines were`
  const difference: Difference = {
    kind: 'missing',
    subject: `a log line that matches "${expression.text}"`,
    note: `${lines} logged since the step before`,
  }
  return [difference]
}

function compareSample(
  { value, timeMs }: Pick<ExpectedSample, 'value' | 'timeMs'>,
  series: LiveSeries,
  tolerance: number,
): Difference | undefined {
  const isTimed = !Number.isNaN(timeMs)
  if (isNear(value, series.value, tolerance) && (!isTimed || timeMs === series.timeMs)) return undefined
  return {
    kind: 'different',
    subject: series.text,
    expected: valueText(value, timeMs),
    got: valueText(series.value, isTimed ? series.timeMs : NaN),
    ...(tolerance > 0 && { note: `the tolerance is ${tolerance}` }),
  }
}

export function isNear(expected: number, got: number, tolerance: number): boolean {
  if (Object.is(expected, got)) return true
  // Infinities are as far from everything as can be.
  if (tolerance === 0 || !Number.isFinite(expected) || !Number.isFinite(got)) return false
  return Math.abs(expected - got) <= tolerance * Math.max(Math.abs(expected), Math.abs(got))
}

function rivalry({ text, value, rival }: LiveSeries): Difference | undefined {
  if (rival === undefined) return undefined
  const got = `two values, ${valueText(value)} and ${valueText(rival.value)}`
  const note = `from ${rival.between}`
  return { kind: 'different', subject: text, expected: 'one value', got, note, isContradiction: true }
}

function listOf<T>(item: T | undefined): T[] {
  return item === undefined ? [] : [item]
}
