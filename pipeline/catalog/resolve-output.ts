/** What a schema cannot say about output catalogs: whether what they name exists and fits together. */
import { closest } from '../config/closest.ts'
import { attributeMistake, LEVELS_OF, QUANTITIES } from './attributes.ts'
import type { Fact } from './fact-schema.ts'
import type { OutputCatalog, OutputMetric } from './output-schema.ts'
import { isUnit, scaleBetween, unitNames } from './units.ts'

export type Mistake = {
  readonly path: readonly (string | number)[]
  readonly message: string
  readonly suggestion?: string | undefined
}

/** Readings are facts; what is known of other contributors has names of its own. */
const READ_BY_FACT: ReadonlySet<string> = new Set(['gpu', 'pair', 'workload', 'container', 'host', 'series'])

/** Aggregates that need nothing to aggregate. */
const WITHOUT_VALUE: ReadonlySet<string> = new Set(['count', 'info', 'idle_seconds', 'seconds_in_phase'])

export function outputMistakes(
  { labels, metrics }: OutputCatalog,
  facts: ReadonlyMap<string, Pick<Fact, 'unit'>>,
): Mistake[] {
  const mistakes: Mistake[] = []
  for (const [name, attribute] of Object.entries(labels)) {
    const message = attributeMistake(attribute)
    if (message !== undefined) mistakes.push({ path: ['labels', name], message })
  }
  const known = new Set<string>()
  metrics.forEach((metric, i) => {
    if (known.has(metric.metric)) {
      mistakes.push({ path: ['metrics', i, 'metric'], message: `${metric.metric} is here twice` })
    }
    known.add(metric.metric)
    const its = metricMistakes(metric, labels, facts)
    mistakes.push(...its.map(mistake => ({ ...mistake, path: ['metrics', i, ...mistake.path] })))
  })
  return mistakes
}

/** Of one metric, wherever it stands. */
export function metricMistakes(
  metric: OutputMetric,
  labels: OutputCatalog['labels'],
  facts: ReadonlyMap<string, Pick<Fact, 'unit'>>,
): Mistake[] {
  const mistakes: Mistake[] = []
  const { of: kind, level, aggregate, unit, from, phase, over } = metric
  if (!LEVELS_OF[kind].includes(level)) {
    const message = `there is no ${level} level for ${kind}: it has ${LEVELS_OF[kind].join(', ')}`
    mistakes.push({ path: ['level'], message })
  }
  if (!isUnit(unit)) {
    mistakes.push({ path: ['unit'], message: `unknown unit "${unit}"`, suggestion: closest(unit, unitNames()) })
  }
  metric.labels.forEach((name, i) => {
    if (Object.hasOwn(labels, name)) return
    const suggestion = closest(name, Object.keys(labels))
    mistakes.push({ path: ['labels', i], message: `label \`${name}\` is not defined under \`labels\``, suggestion })
  })
  if (from === undefined && !WITHOUT_VALUE.has(aggregate)) {
    mistakes.push({ path: ['metric'], message: `${metric.metric} needs \`from\`: ${aggregate} of what?` })
  }
  if ((over === undefined) === (aggregate === 'ratio')) {
    mistakes.push({ path: ['aggregate'], message: '`ratio` and `over` go together' })
  }
  if ((phase === undefined) === (aggregate === 'seconds_in_phase')) {
    mistakes.push({ path: ['aggregate'], message: '`seconds_in_phase` and `phase` go together' })
  }
  if ((aggregate === 'seconds_in_phase' || aggregate === 'idle_seconds') !== (kind === 'workload')) {
    mistakes.push({ path: ['of'], message: '`workload` goes together with `idle_seconds` or `seconds_in_phase`' })
  }
  return [...mistakes, ...valueMistakes(metric, facts)]
}

function valueMistakes(metric: OutputMetric, facts: ReadonlyMap<string, Pick<Fact, 'unit'>>): Mistake[] {
  const mistakes: Mistake[] = []
  const { of: kind, unit, rate, aggregate } = metric
  const quantities = QUANTITIES[kind] ?? []
  for (const key of ['from', 'plus', 'minus', 'over'] as const) {
    listOf(metric[key]).forEach((name, i) => {
      const path = typeof metric[key] === 'string' ? [key] : [key, i]
      if (quantities.includes(name) || kind === 'series') return
      const names = READ_BY_FACT.has(kind) ? [...quantities, ...facts.keys()] : quantities
      const fact = READ_BY_FACT.has(kind) ? facts.get(name) : undefined
      if (fact === undefined) {
        const message = `there is no "${name}" for ${kind}`
        mistakes.push({ path, message, suggestion: closest(name, names) })
        return
      }
      const keepsUnit =
        !rate &&
        aggregate !== 'ratio' &&
        aggregate !== 'last_active' &&
        aggregate !== 'idle_seconds' &&
        aggregate !== 'count'
      if (keepsUnit && unit !== '' && fact.unit !== '' && scaleBetween(fact.unit, unit) === undefined) {
        mistakes.push({ path: ['unit'], message: `"${unit}" cannot be had from ${name}, which is in ${fact.unit}` })
      }
    })
  }
  return mistakes
}

export function listOf(names: string | readonly string[] | undefined): readonly string[] {
  return names === undefined ? [] : typeof names === 'string' ? [names] : names
}
