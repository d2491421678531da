/** From catalogs and config to the rules that roll-ups follow. */
import { LEVEL_KEYS } from '../../pipeline/catalog/attributes.ts'
import type { Fact } from '../../pipeline/catalog/fact-schema.ts'
import type {
  Aggregate,
  Condition,
  ContributorKind,
  Level,
  OutputCatalog,
  OutputMetric,
  PassRule,
} from '../../pipeline/catalog/output-schema.ts'
import { listOf } from '../../pipeline/catalog/resolve-output.ts'
import { metricFrom, type Metric } from '../../pipeline/model/series.ts'
import type { LabelSpec } from './entity.ts'

/** What is aggregated, for each contributor: a sum of terms, each of them the first fact that is there. */
export type ValueSpec = {
  /** Equal for what is equal. */
  readonly key: string
  readonly terms: readonly { readonly sign: 1 | -1; readonly facts: readonly string[] }[]
  readonly unit: string
  /** Of a counter its rate, or what it has grown by; otherwise the value. */
  readonly keep: 'value' | 'rate' | 'increase' | 'growth'
  readonly match: Readonly<Record<string, readonly string[]>>
  readonly per: readonly string[]
  /** In the unit; Infinity where nothing is too much. */
  readonly atMost: number
  /** Whether it adds up over parts, as memory does and utilisation does not. */
  readonly isAmount: boolean
}

export type Rule = {
  readonly metric: Metric
  readonly of: ContributorKind
  readonly level: Level
  readonly labels: LabelSpec
  /** Attributes that there must be, each with one of some values. */
  readonly only: readonly (readonly [attribute: string, values: readonly string[]])[]
  /** Attributes without which there is no series. */
  readonly key: readonly string[]
  readonly aggregate: Aggregate
  readonly value: ValueSpec | undefined
  readonly over: ValueSpec | undefined
  readonly complement: boolean
  readonly weight: 'device' | 'share'
  readonly where: readonly Condition[]
  readonly phase: 'Pending' | 'Running' | undefined
  readonly zeroFor: OutputMetric['zero_for']
  /** Whether it is the sum of counters, which goes on when one of them begins anew or is gone. */
  readonly isTotal: boolean
}

/** What passes, with the labels that it gets. */
export type Passing = Omit<PassRule, 'labels'> & { readonly labels: LabelSpec }

export type Rules = { readonly rules: readonly Rule[]; readonly pass: readonly Passing[] }

/** Of two metrics of one name the later counts, so that a config can replace one of a catalog. */
export function resolveRules(
  catalogs: readonly OutputCatalog[],
  own: readonly OutputMetric[],
  facts: ReadonlyMap<string, Fact>,
): Rules {
  const byName = new Map<string, Rule>()
  const labels: Record<string, string> = {}
  for (const catalog of catalogs) {
    Object.assign(labels, catalog.labels)
    for (const metric of catalog.metrics) byName.set(metric.metric, ruleFrom(metric, catalog.labels, facts))
  }
  for (const metric of own) byName.set(metric.metric, ruleFrom(metric, labels, facts))
  const pass = new Map(
    catalogs.flatMap(catalog =>
      catalog.pass.map(rule => [rule.metric, { ...rule, labels: specOf(rule.labels, catalog.labels) }]),
    ),
  )
  return { rules: [...byName.values()], pass: [...pass.values()] }
}

function ruleFrom(metric: OutputMetric, labels: OutputCatalog['labels'], facts: ReadonlyMap<string, Fact>): Rule {
  const { metric: name, help, type, of: kind, level, aggregate, over, complement, weight, where, phase } = metric
  return {
    metric: metricFrom({ name, help, type, unit: metric.unit }),
    of: kind,
    level,
    labels: specOf(metric.labels, labels),
    only: Object.entries(metric.only).map(([attribute, values]) => [attribute, listOf(values)] as const),
    key: LEVEL_KEYS[level],
    aggregate,
    value: metric.from === undefined ? undefined : valueFrom(metric, facts),
    over:
      over === undefined ? undefined : valueFrom({ ...metric, from: over, plus: undefined, minus: undefined }, facts),
    complement,
    weight,
    where,
    phase,
    zeroFor: metric.zero_for,
    isTotal: type === 'counter' && (aggregate === 'sum' || (aggregate === 'count' && kind === 'workload')),
  }
}

function specOf(names: readonly string[], labels: OutputCatalog['labels']): LabelSpec {
  return names.map(name => [name, labels[name]!] as const)
}

type ValueParts = Pick<OutputMetric, 'unit' | 'rate' | 'match' | 'per' | 'at_most' | 'aggregate' | 'type' | 'of'> & {
  readonly from?: OutputMetric['from']
  readonly plus?: OutputMetric['plus'] | undefined
  readonly minus?: OutputMetric['minus'] | undefined
}

function valueFrom(parts: ValueParts, facts: ReadonlyMap<string, Fact>): ValueSpec {
  const { from, plus, minus, rate, per, at_most: atMost = Infinity, aggregate } = parts
  const terms = [
    { sign: 1 as const, facts: listOf(from) },
    ...(plus === undefined ? [] : [{ sign: 1 as const, facts: listOf(plus) }]),
    ...(minus === undefined ? [] : [{ sign: -1 as const, facts: listOf(minus) }]),
  ]
  const first = facts.get(terms[0]!.facts[0]!)
  const match = Object.fromEntries(Object.entries(parts.match).map(([label, values]) => [label, listOf(values)]))
  const keep = rate ? 'rate' : parts.type === 'counter' && aggregate === 'sum' ? counted(parts.of) : 'value'
  const isActivity = aggregate === 'last_active' || aggregate === 'idle_seconds'
  // What is divided stays in the unit of the fact; activity is in percent.
  const unit = aggregate === 'ratio' || rate ? (first?.unit ?? '') : isActivity ? '%' : parts.unit
  return {
    key: JSON.stringify([terms, unit, keep, match, per, atMost]),
    terms,
    unit,
    keep,
    match,
    per,
    atMost: isActivity ? Infinity : atMost,
    isAmount: !RELATIVE_UNITS.has(first?.unit ?? ''),
  }
}

/** Of these a part has the value of the whole: they are weighed, not added. */
const RELATIVE_UNITS: ReadonlySet<string> = new Set(['1', 'Cel', 'Hz', 'V'])

/** What a GPU took before it was a pod's was not taken by the pod. */
function counted(kind: ContributorKind): 'increase' | 'growth' {
  return kind === 'pair' ? 'growth' : 'increase'
}
