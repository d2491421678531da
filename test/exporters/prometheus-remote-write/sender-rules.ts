/** What the suites of senders ask of requests. */
import assert from 'node:assert/strict'
import type { DecodedSeries } from '../../support/remote-write-messages.ts'
import type { ReceivedRequest } from '../../support/remote-write-receiver.ts'

export type ExpectedSeries = {
  readonly name?: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: string
}

const METRIC_NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/
const LABEL_NAME = /^[a-zA-Z_][a-zA-Z0-9_]*$/

function checkSeries({ labels, samples }: DecodedSeries): void {
  const names = labels.map(([name]) => name)
  assert.deepEqual(names, names.toSorted(), 'labels are sorted')
  assert.equal(new Set(names).size, names.length, 'no label is there twice')
  for (const [name, value] of labels) {
    assert.match(name, LABEL_NAME)
    assert.notEqual(value, '', `the label ${name} is empty`)
    assert.ok(name === '__name__' || !name.startsWith('__'), `${name} is reserved`)
  }
  assert.match(labels.find(([name]) => name === '__name__')?.[1] ?? '', METRIC_NAME)
  assert.ok(samples.length > 0)
}

export function checkLayout1({ series, metadata }: ReceivedRequest): void {
  assert.ok(series.length > 0 || metadata.length > 0)
  for (const one of series) checkSeries(one)
}

/** References are checked where they are decoded. */
export function checkLayout2({ series, symbols }: ReceivedRequest): void {
  assert.ok(series.length > 0)
  assert.equal(symbols[0], '')
  assert.equal(new Set(symbols).size, symbols.length, 'no symbol is there twice')
  for (const one of series) {
    checkSeries(one)
    assert.ok(one.metadata !== undefined)
  }
}

function isLike({ labels }: DecodedSeries, { name, labels: wanted }: Omit<ExpectedSeries, 'value'>): boolean {
  const own = new Map(labels)
  if (name !== undefined && own.get('__name__') !== name) return false
  return Object.entries(wanted).every(([label, value]) => (own.get(label) ?? '') === value)
}

export function checkExpected(requests: readonly ReceivedRequest[], expected: readonly ExpectedSeries[]): void {
  const all = requests.flatMap(({ series }) => series)
  for (const one of expected) {
    const own = ['job', 'instance']
    const found = all.filter(
      series =>
        isLike(series, one) &&
        series.labels.every(([name]) => name === '__name__' || own.includes(name) || Object.hasOwn(one.labels, name)),
    )
    assert.ok(found.length > 0, `${one.name} ${JSON.stringify(one.labels)} did not arrive`)
    const value = one.value === '+Inf' ? Infinity : one.value === '-Inf' ? -Infinity : Number(one.value)
    const [sample] = found[0]!.samples
    assert.ok(Object.is(sample!.value, value), `${one.name} is ${sample!.value}, not ${one.value}`)
  }
}

export function checkForbidden(
  requests: readonly ReceivedRequest[],
  forbidden: readonly Omit<ExpectedSeries, 'value'>[],
): void {
  for (const one of forbidden) {
    assert.ok(!requests.some(({ series }) => series.some(series => isLike(series, one))), JSON.stringify(one))
  }
}

type Description = { type?: string; help?: string; unit?: string }

/** What the text describes is what the requests say: by family in 1.0, with each series in 2.0. */
export function checkMetadata(requests: readonly ReceivedRequest[], text: string, version: 1 | 2): void {
  for (const [family, { type, help, unit }] of describedIn(text)) {
    const said: readonly Required<Description>[] =
      version === 1
        ? requests.flatMap(({ metadata }) => metadata).filter(one => one.family === family)
        : requests.flatMap(({ series }) => series).flatMap(one => (isOf(one, family) ? [one.metadata!] : []))
    for (const one of said) {
      if (type !== undefined) assert.equal(one.type, type)
      if (help !== undefined) assert.equal(one.help, help)
      if (unit !== undefined) assert.equal(one.unit, unit)
    }
    const hasSeries = requests.some(({ series }) => series.some(one => isOf(one, family)))
    if (hasSeries) assert.ok(said.length > 0, `nobody says what ${family} is`)
  }
}

function isOf({ labels }: DecodedSeries, family: string): boolean {
  const name = labels.find(([label]) => label === '__name__')![1]
  return name === family || ['_bucket', '_sum', '_count'].some(ending => name === family + ending)
}

function describedIn(text: string): Map<string, Description> {
  const families = new Map<string, Description>()
  for (const [, what, family, rest] of text.matchAll(/^# (TYPE|HELP|UNIT) (\S+) (.*)$/gm)) {
    const known = families.get(family!) ?? {}
    families.set(family!, known)
    const key = what!.toLowerCase() as keyof Description
    known[key] ??= key === 'help' ? rest!.replaceAll('\\\\', '\\').replaceAll('\\n', '\n') : rest!
  }
  return families
}
