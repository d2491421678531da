/** Reads what a step expects. */
import { nodeAt, placeOfKey, placeOfValue } from '../config/entry-path.ts'
import type { Path } from '../config/plain-value.ts'
import type { Content } from './content.ts'
import { readSamples } from './expected-text.ts'
import type { Reading } from './read-step.ts'
import { matchWhole } from '../relabel/regex.ts'
import { findIn } from './regex.ts'
import { parseSelector, type Selector } from '../relabel/selector.ts'
import type { Expectation, ExpectationKind } from './suite.ts'
import type { TestFile } from './test-schema.ts'

type RawStep = TestFile['tests'][number]['steps'][number]
type RawExpectation = NonNullable<RawStep['expect']>[number]

/** Which of the further keys go with which kind of expectation. */
const FURTHER_KEYS: Readonly<Record<string, readonly string[]>> = {
  metrics: ['file', 'text'],
  tolerance: ['file', 'text', 'present'],
  value: ['present'],
  exporter: ['file', 'text', 'absent', 'present'],
}

/** Gives what reads an expectation that is as its schema wants it; what else is wrong is reported. */
export function createExpectationReader({ root, contents, mayLackExpected = false, report }: Reading) {
  /** What `make` gives; what it throws is reported at the value. */
  function attempt<T>(path: Path, make: () => T): T | undefined {
    try {
      return make()
    } catch (error) {
      report({ place: placeOfValue(root, path), message: (error as Error).message })
      return undefined
    }
  }

  function contentAt({ file, text }: RawExpectation, path: Path): Content | undefined {
    if (text !== undefined) return contents.text(nodeAt(root, [...path, 'text'])!, text)
    return attempt([...path, 'file'], () => contents.file(file!, mayLackExpected))
  }

  function seriesAt(raw: RawExpectation, path: Path): ExpectationKind | undefined {
    const matches = attempt([...path, 'metrics'], () => matchWhole(raw.metrics ?? '.*'))
    const content = contentAt(raw, path)
    if (matches === undefined || content === undefined) return undefined
    const samples = readSamples(content, report)
    const known = new Map<string, boolean>()
    const isMeant = (name: string): boolean => {
      let meant = known.get(name)
      if (meant === undefined) known.set(name, (meant = matches(name)))
      return meant
    }
    for (const { name, line } of samples) {
      if (isMeant(name)) continue
      const message = `\`metrics\` does not match "${name}", so it would never be compared`
      report({ place: content.placeOfLine(line), message })
    }
    return { kind: 'series', isMeant, samples, content, tolerance: raw.tolerance ?? 0 }
  }

  function kindAt(raw: RawExpectation, path: Path): ExpectationKind | undefined {
    if (raw.absent !== undefined) {
      const selector = selectorAt([...path, 'absent'], raw.absent)
      return selector && { kind: 'absent', selector }
    }
    if (raw.present !== undefined) {
      const selector = selectorAt([...path, 'present'], raw.present)
      const value = raw.value === undefined ? undefined : valueAt([...path, 'value'], raw.value)
      return selector && { kind: 'present', selector, value, tolerance: raw.tolerance ?? 0 }
    }
    if (raw.log !== undefined) {
      const text = raw.log
      const matches = attempt([...path, 'log'], () => findIn(text))
      return matches && { kind: 'log', text, matches }
    }
    return seriesAt(raw, path)
  }

  function selectorAt(path: Path, text: string): Selector | undefined {
    return attempt(path, () => parseSelector(text))
  }

  function valueAt(path: Path, value: number | string): number | undefined {
    if (typeof value === 'number') return value
    const number = { NaN, '+Inf': Infinity, Inf: Infinity, '-Inf': -Infinity }[value] ?? Number(value || 'x')
    if (!Number.isNaN(number) || value === 'NaN') return number
    report({
      place: placeOfValue(root, path),
      message: `\`value\` must be a number, NaN, +Inf or -Inf, found "${value}"`,
    })
    return undefined
  }

  return (raw: RawExpectation, path: Path): Expectation | undefined => {
    const kind = ['file', 'text', 'absent', 'present', 'log'].find(key => key in raw)!
    for (const [key, kinds] of Object.entries(FURTHER_KEYS)) {
      if (!(key in raw) || kinds.includes(kind)) continue
      report({ place: placeOfKey(root, [...path, key]), message: `\`${key}\` does not go with \`${kind}\`` })
    }
    const expectation = kindAt(raw, path)
    if (expectation === undefined) return undefined
    const place = placeOfKey(root, [...path, kind])
    if (raw.exporter === undefined) return { ...expectation, place }
    const exporter = { id: raw.exporter, place: placeOfValue(root, [...path, 'exporter']) }
    return { ...expectation, place, exporter }
  }
}
