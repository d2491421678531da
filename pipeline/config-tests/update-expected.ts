/** Rewrites expected files to what there is, changing as few lines as possible: a person is going to read the difference. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { isNear } from './compare.ts'
import type { Content } from './content.ts'
import type { ExportedState } from './exported-state.ts'
import { liveSeries, type Live, type LiveSeries } from './live-series.ts'
import { valueText } from './series-text.ts'
import { linesOf, type ExpectedSample } from './expected-text.ts'
import type { Expectation, Step } from './suite.ts'

type SeriesExpectation = Extract<Expectation, { kind: 'series' }>

export type Updater = {
  /** Notes what the expected files of a step must hold. */
  note(step: Step, state: ExportedState): void
  /** Writes those that change. */
  write(): Updated
}

export type Updated = {
  readonly written: readonly UpdatedFile[]
  /** Paths of files that two steps want to hold different things; they are left alone. */
  readonly contradictory: ReadonlySet<string>
}

export type UpdatedFile = {
  readonly path: string
  /** What the user calls it. */
  readonly file: string
  /** `- a line that went` and `+ a line that came`. */
  readonly changes: readonly string[]
}

export function createUpdater(): Updater {
  const texts = new Map<string, { content: Content; text: string }>()
  const contradictory = new Set<string>()

  function noteOne({ content, samples, tolerance, isMeant, exporter }: SeriesExpectation, state: ExportedState): void {
    const { path } = content
    if (path === undefined) return
    const text = updatedText(textOf(content), samples, liveSeries(state, isMeant, exporter?.id), tolerance)
    const known = texts.get(path)
    if (known !== undefined && known.text !== text) contradictory.add(path)
    texts.set(path, { content, text })
  }

  return {
    note(step, state) {
      for (const expectation of step.expect) if (expectation.kind === 'series') noteOne(expectation, state)
    },
    write() {
      const written: UpdatedFile[] = []
      for (const [path, { content, text }] of texts) {
        const before = textOf(content)
        if (contradictory.has(path) || before === text) continue
        mkdirSync(dirname(path), { recursive: true })
        writeFileSync(path, text)
        written.push({ path, file: content.name, changes: changesBetween(before, text) })
      }
      return { written, contradictory }
    },
  }
}

function textOf({ bytes }: Content): string {
  return Buffer.from(bytes).toString()
}

/** Lines are moved by nobody, so those that only one of the two has are all there is to say. */
function changesBetween(before: string, after: string): string[] {
  const old = before.split('\n').filter(line => line !== '')
  const current = after.split('\n').filter(line => line !== '')
  const gone = new Set(old).difference(new Set(current))
  const come = new Set(current).difference(new Set(old))
  return [...Array.from(gone, line => `- ${line}`), ...Array.from(come, line => `+ ${line}`)]
}

/** Lines that still hold stay as they are, comments, too. What is new stands behind the last line of its metric. */
export function updatedText(before: string, samples: readonly ExpectedSample[], live: Live, tolerance: number): string {
  const sampleByLine = new Map(samples.map(sample => [sample.line, sample]))
  const expected = new Set(samples.map(({ text }) => text))
  const surplus = Map.groupBy(
    [...live.values()].filter(({ text }) => !expected.has(text)).toSorted((a, b) => (a.text < b.text ? -1 : 1)),
    ({ name }) => name,
  )
  const lastLineOf = new Map(samples.map(({ name, line }) => [name, line]))
  const lines: string[] = []
  let number = 0
  for (const bytes of linesOf(Buffer.from(before))) {
    number++
    const line = Buffer.from(bytes).toString()
    const sample = sampleByLine.get(number)
    if (sample === undefined) {
      lines.push(line)
      continue
    }
    const series = live.get(sample.text)
    if (series !== undefined) lines.push(holds(sample, series, tolerance) ? line : lineOf(series, sample))
    if (lastLineOf.get(sample.name) !== number) continue
    lines.push(...(surplus.get(sample.name) ?? []).map(one => lineOf(one)))
    surplus.delete(sample.name)
  }
  for (const name of [...surplus.keys()].sort()) lines.push(...surplus.get(name)!.map(one => lineOf(one)))
  return lines.map(line => `${line}\n`).join('')
}

function holds({ value, timeMs }: ExpectedSample, series: LiveSeries, tolerance: number): boolean {
  return isNear(value, series.value, tolerance) && (Number.isNaN(timeMs) || timeMs === series.timeMs)
}

/** With a time where there was one. */
function lineOf(series: LiveSeries, instead?: ExpectedSample): string {
  const isTimed = instead !== undefined && !Number.isNaN(instead.timeMs)
  return `${series.text} ${valueText(series.value, isTimed ? series.timeMs : NaN)}`
}
