/** What a schema cannot say about output catalogs: whether what they name exists and fits together. */
import { closest } from '../config/closest.ts'
import {
  ATTRIBUTES,
  attributesAt,
  isAttribute,
  isKnownAt,
  isLookUpFor,
  JOINED,
  LEVELS_OF,
  QUANTITIES,
} from './attributes.ts'
import type { Fact } from './fact-schema.ts'
import type { Aggregate, OutputCatalog, OutputMetric } from './output-schema.ts'
import { isUnit, scaleBetween, unitNames } from './units.ts'

export type Mistake = {
  readonly path: readonly (string | number)[]
  readonly message: string
  readonly suggestion?: string | undefined
}

type Facts = ReadonlyMap<string, Pick<Fact, 'unit'>>
type Labels = OutputCatalog['labels']

/** Readings are facts; what is known of other contributors has names of its own. */
const READ_BY_FACT: ReadonlySet<string> = new Set(['gpu', 'pair', 'workload', 'container', 'host', 'series'])

/** Aggregates that need nothing to aggregate. */
const WITHOUT_VALUE: ReadonlySet<Aggregate> = new Set(['count', 'info', 'idle_seconds', 'seconds_in_phase'])

/** Aggregates of workloads, with the levels they are for; undefined is all. */
const OF_WORKLOADS: ReadonlyMap<Aggregate, string | undefined> = new Map([
  ['idle_seconds', 'workload'],
  ['seconds_in_phase', 'workload'],
  ['count', undefined],
])

/** Aggregates whose result is not in the unit of what they are made of. */
const OTHER_UNIT: ReadonlySet<Aggregate> = new Set(['ratio', 'last_active', 'idle_seconds', 'count'])

/** Of `metrics` those that are broken are not looked at. */
export function outputMistakes(
  { labels, metrics, pass }: OutputCatalog,
  facts: Facts,
  broken: ReadonlySet<number> = new Set(),
): Mistake[] {
  const mistakes: Mistake[] = []
  for (const [name, attribute] of Object.entries(labels)) {
    if (!isAttribute(attribute)) mistakes.push({ path: ['labels', name], ...notAnAttribute(attribute) })
  }
  const whole = [...metrics.entries()].filter(([i]) => !broken.has(i))
  const known = new Map<string, string>()
  const named = [
    ...whole.map(([i, { metric }]) => ({ metric, section: 'metrics', i })),
    ...pass.map(({ metric }, i) => ({ metric, section: 'pass', i })),
  ]
  for (const { metric, section, i } of named) {
    const first = known.get(metric)
    if (first === undefined) known.set(metric, `${section}[${i}]`)
    else mistakes.push({ path: [section, i, 'metric'], message: `${metric} is here twice: it is also \`${first}\`` })
  }
  for (const [i, metric] of whole) mistakes.push(...under(['metrics', i], metricMistakes(metric, labels, facts)))
  pass.forEach((rule, i) => mistakes.push(...under(['pass', i], passMistakes(rule.labels, labels))))
  return mistakes
}

/** Of one metric, wherever it stands. */
export function metricMistakes(metric: OutputMetric, labels: Labels, facts: Facts): Mistake[] {
  return [...levelMistakes(metric), ...labelMistakes(metric, labels), ...valueMistakes(metric, facts)]
}

function levelMistakes({ of: kind, level, aggregate, phase, over, from }: OutputMetric): Mistake[] {
  const mistakes: Mistake[] = []
  const levels = LEVELS_OF[kind]
  if (!levels.includes(level)) {
    mistakes.push({ path: ['level'], message: `\`of: ${kind}\` has no level ${level}; there are ${levels.join(', ')}` })
  }
  if (from === undefined && !WITHOUT_VALUE.has(aggregate)) {
    mistakes.push({ path: ['aggregate'], message: `${aggregate} of what? \`from\` is missing` })
  }
  if ((over === undefined) === (aggregate === 'ratio')) {
    mistakes.push({ path: ['aggregate'], message: '`ratio` and `over` go together' })
  }
  if ((phase === undefined) === (aggregate === 'seconds_in_phase')) {
    mistakes.push({ path: ['aggregate'], message: '`seconds_in_phase` and `phase` go together' })
  }
  const ofWorkloads = [...OF_WORKLOADS.keys()]
  if (kind === 'workload' && !OF_WORKLOADS.has(aggregate)) {
    const message = `of workloads there are ${ofWorkloads.join(', ')}; what their GPUs, pods and containers do is \`of: pair\`, \`pod\` or \`container\` at the level workload`
    mistakes.push({ path: ['aggregate'], message })
  }
  const only = OF_WORKLOADS.get(aggregate)
  if (only !== undefined && kind !== 'workload') {
    mistakes.push({ path: ['of'], message: `${aggregate} is there for \`of: workload\`` })
  }
  if (only !== undefined && kind === 'workload' && levels.includes(level) && level !== only) {
    mistakes.push({ path: ['level'], message: `${aggregate} is there at the level ${only}` })
  }
  return mistakes
}

function labelMistakes({ of: kind, level, labels: names, only }: OutputMetric, labels: Labels): Mistake[] {
  const mistakes: Mistake[] = []
  names.forEach((name, i) => {
    const attribute = Object.hasOwn(labels, name) ? labels[name]! : undefined
    if (attribute === undefined) mistakes.push({ path: ['labels', i], ...notDefined(name, labels) })
    else if (!isKnownAt(kind, level, attribute)) {
      const known = attributesAt(kind, level)!.join(', ')
      const message = `\`${name}\` is ${attribute}, which is not known at the level ${level}; there are ${known}`
      mistakes.push({ path: ['labels', i], message })
    }
  })
  for (const attribute of Object.keys(only)) {
    if (!isAttribute(attribute)) mistakes.push({ path: ['only', attribute], ...notAnAttribute(attribute) })
  }
  return mistakes
}

/** What passes has the labels that were joined to it, and others are not known of it. */
function passMistakes(names: readonly string[], labels: Labels): Mistake[] {
  return names.flatMap((name, i): Mistake[] => {
    const attribute = Object.hasOwn(labels, name) ? labels[name]! : undefined
    if (attribute === undefined) return [{ path: ['labels', i], ...notDefined(name, labels) }]
    if (Object.hasOwn(JOINED, attribute)) return []
    const message = `\`${name}\` is ${attribute}, which is not known of what passes; there are ${Object.keys(JOINED).join(', ')}`
    return [{ path: ['labels', i], message }]
  })
}

function valueMistakes(metric: OutputMetric, facts: Facts): Mistake[] {
  const { of: kind, unit, rate, aggregate } = metric
  const isKnownUnit = isUnit(unit)
  const mistakes: Mistake[] = isKnownUnit ? [] : [{ path: ['unit'], ...unknownUnit(unit) }]
  const quantities = QUANTITIES[kind] ?? []
  const readsFacts = READ_BY_FACT.has(kind)
  for (const key of ['from', 'plus', 'minus', 'over'] as const) {
    listOf(metric[key]).forEach((name, i) => {
      const path = typeof metric[key] === 'string' ? [key] : [key, i]
      if (quantities.includes(name) || kind === 'series' || isLookUpFor(kind, name)) return
      const fact = readsFacts ? facts.get(name) : undefined
      if (fact === undefined) {
        const suggestion = closest(name, readsFacts ? [...quantities, ...facts.keys()] : quantities)
        const there = readsFacts || suggestion !== undefined ? '' : `; there are ${quantities.join(', ')}`
        const message = readsFacts ? `there is no fact "${name}"` : `nothing is known of a ${kind} as "${name}"${there}`
        mistakes.push({ path, message, suggestion })
        return
      }
      const keepsUnit = !rate && !OTHER_UNIT.has(aggregate)
      if (isKnownUnit && keepsUnit && unit !== '' && fact.unit !== '' && scaleBetween(fact.unit, unit) === undefined) {
        mistakes.push({ path: ['unit'], message: `${name} is in ${fact.unit}, from which "${unit}" cannot be had` })
      }
    })
  }
  return mistakes
}

function unknownUnit(unit: string): Omit<Mistake, 'path'> {
  const suggestion = closest(unit, unitNames())
  const there = suggestion === undefined ? `; there are ${unitNames().join(', ')}, and what is counted, as {gpu}` : ''
  return { message: `unknown unit "${unit}"${there}`, suggestion }
}

function notDefined(name: string, labels: Labels): Omit<Mistake, 'path'> {
  const names = Object.keys(labels)
  return {
    message: `label \`${name}\` is not defined under \`labels\` of the catalog`,
    suggestion: closest(name, names),
  }
}

function notAnAttribute(text: string): Omit<Mistake, 'path'> {
  const message = `"${text}" is nothing that a label can be`
  const suggestion = text.includes('.') ? undefined : closest(text, ATTRIBUTES)
  if (suggestion !== undefined) return { message, suggestion }
  return {
    message: `${message}; there are ${text.includes('.') ? LOOK_UPS : `${ATTRIBUTES.join(', ')}, and ${LOOK_UPS}`}`,
  }
}

const LOOK_UPS =
  'look-ups (pod, owner, namespace or node with .name, .label.NAME or .annotation.NAME) and labels of series (label.NAME)'

function under(path: readonly (string | number)[], mistakes: readonly Mistake[]): Mistake[] {
  return mistakes.map(mistake => ({ ...mistake, path: [...path, ...mistake.path] }))
}

export function listOf(names: string | readonly string[] | undefined): readonly string[] {
  return names === undefined ? [] : typeof names === 'string' ? [names] : names
}
