/** Works out what an input catalog means, and says what is wrong with it beyond its shape. */
import { closest } from '../config/closest.ts'
import { placeOfKey, placeOfValue } from '../config/entry-path.ts'
import type { Finding } from '../config/finding.ts'
import type { Path } from '../config/plain-value.ts'
import { lineAndColumn } from '../config/source.ts'
import type { YamlEntry } from '../config/yaml-source.ts'
import { ONE, type Scale } from '../model/scale.ts'
import { definitionProperties, factFrom, type Fact } from './fact-schema.ts'
import type { InputCatalog, InputRule } from './input-catalog.ts'
import type { FactRow, InputFile } from './input-schema.ts'
import { expandNames } from './name-pattern.ts'
import { isBaseUnit, isUnit, scaleBetween, unitNames } from './units.ts'

/** `vocabulary` are the facts that need no definition. With a finding the catalog is of no use. */
export function resolveInput(
  file: InputFile,
  entry: YamlEntry,
  vocabulary: ReadonlyMap<string, Fact>,
): { catalog: InputCatalog; findings: readonly Finding[] } {
  const findings: Finding[] = []
  const at: Reporter = {
    key: (path, message, suggestion) => void findings.push({ place: placeOfKey(entry, path), message, suggestion }),
    value: (path, message, suggestion) => void findings.push({ place: placeOfValue(entry, path), message, suggestion }),
  }
  const facts = new Map(vocabulary)
  const defined = file.facts.filter((row, i) => {
    const before = findings.length
    checkDefinition(row, ['facts', i], vocabulary, at)
    if (!vocabulary.has(row.fact)) for (const name of expandNames(row.fact)) facts.set(name, factFrom(name, row))
    return findings.length === before
  })
  const rules = new Map<string, InputRule>()
  const places = new Map<string, Path>()
  for (const row of defined) {
    for (const { name, path, rule } of rulesOf(file, row, ['facts', file.facts.indexOf(row)], facts, at)) {
      const first = places.get(name)
      if (first === undefined) {
        places.set(name, path)
        rules.set(name, rule)
      } else {
        const { source, start } = placeOfKey(entry, first)
        at.key(path, `\`${name}\` is here twice, first in line ${lineAndColumn(source, start).line}`)
      }
    }
  }
  checkFactsOnce(file, at)
  const { requires, labels, drop_labels: dropLabels, devices } = file
  return { catalog: { kind: 'input', requires, labels, dropLabels, devices, rules }, findings }
}

type Report = (path: Path, message: string, suggestion?: string) => void
type Reporter = { readonly key: Report; readonly value: Report }

function checkDefinition(row: FactRow, path: Path, vocabulary: ReadonlyMap<string, Fact>, at: Reporter): void {
  if (vocabulary.has(row.fact)) {
    for (const key of Object.keys(definitionProperties)) {
      if (Object.hasOwn(row, key)) at.key([...path, key], `\`${key}\` of ${row.fact} is said in facts.yaml`)
    }
    return
  }
  if (row.type === undefined || row.range === undefined) {
    const message = `${row.fact} is not in facts.yaml, so its \`type\` and its \`range\` must be said here`
    at.value([...path, 'fact'], message, closest(row.fact, vocabulary.keys()))
  }
  checkUnit(row.unit ?? '', [...path, 'unit'], at)
  checkRange(row.range, [...path, 'range'], at)
}

/** Of a fact, wherever it is defined. */
export function checkUnit(unit: string, path: Path, at: Reporter): void {
  if (isBaseUnit(unit)) return
  const message = isUnit(unit) ? `facts have base units, and "${unit}" is none` : `unknown unit "${unit}"`
  at.value(path, message, closest(unit, unitNames().filter(isBaseUnit)))
}

export function checkRange(range: readonly number[] | undefined, path: Path, at: Reporter): void {
  const [min, max] = range ?? [0, 1]
  if (min! >= max!) at.value(path, `a range goes from the smaller to the larger value, not from ${min} to ${max}`)
}

function checkFactsOnce({ facts }: InputFile, at: Reporter): void {
  const known = new Set<string>()
  facts.forEach(({ fact }, i) => {
    if (known.has(fact)) at.value(['facts', i, 'fact'], `${fact} has a row already; all its names belong there`)
    known.add(fact)
  })
}

type NamedRule = { readonly name: string; readonly path: Path; readonly rule: InputRule }

function* rulesOf(
  file: InputFile,
  row: FactRow,
  path: Path,
  facts: ReadonlyMap<string, Fact>,
  at: Reporter,
): Generator<NamedRule> {
  const factNames = expandNames(row.fact)
  const { keep, absent, drop, snake_case: snakeCase, nonzero } = row
  const object = row.object === undefined ? undefined : file.objects[row.object]
  if (row.object !== undefined && object === undefined) {
    at.value([...path, 'object'], `no \`${row.object}\` in \`objects\``, closest(row.object, Object.keys(file.objects)))
  }
  for (const [pattern, origin] of Object.entries(row.from)) {
    const originPath = [...path, 'from', pattern]
    const names = expandNames(pattern)
    if (names.length !== factNames.length) {
      at.key(originPath, `${names.length} names for ${factNames.length} facts`)
      continue
    }
    for (const [i, name] of names.entries()) {
      const fact = facts.get(factNames[i]!)!
      const podFact = podFactOf(fact, path, facts, at)
      if (fact.of !== undefined && file.devices === undefined) {
        at.value(
          [...path, 'fact'],
          `${fact.name} is of a GPU, so the catalog must say in \`devices\` how a row names one`,
        )
      }
      const choices = origin.in_when.map(({ in: unit, help, with: siblings }, choice) => ({
        scale: scaleOfUnit(unit, fact, [...originPath, 'in_when', choice, 'in'], at),
        help: help.map(text => text.toLowerCase()),
        with: siblings,
      }))
      const scale = scaleOfUnit(origin.in ?? fact.unit, fact, [...originPath, 'in'], at)
      const { add, unverified } = origin
      const rule = { fact, podFact, scale, choices, add, keep, absent, drop, snakeCase, object, nonzero, unverified }
      for (const prefix of file.prefixes) yield { name: prefix + name, path: originPath, rule }
    }
  }
}

function podFactOf(fact: Fact, path: Path, facts: ReadonlyMap<string, Fact>, at: Reporter): Fact | undefined {
  if (fact.podFact === undefined) return undefined
  const found = facts.get(fact.podFact)
  if (found === undefined)
    at.value([...path, 'pod_fact'], `unknown fact \`${fact.podFact}\``, closest(fact.podFact, facts.keys()))
  return found
}

function scaleOfUnit(unit: string, fact: Fact, path: Path, at: Reporter): Scale {
  const scale = scaleBetween(unit, fact.unit)
  if (scale !== undefined) return scale
  if (isUnit(unit)) at.value(path, `nothing leads from "${unit}" to "${fact.unit}", the unit of ${fact.name}`)
  else at.value(path, `unknown unit "${unit}"`, closest(unit, unitNames()))
  return ONE
}
