/** All names that the chosen catalogs know, and what becomes of each. */
import type { Fact } from '../../pipeline/catalog/fact-schema.ts'
import type { InputCatalog, InputRule } from '../../pipeline/catalog/input-catalog.ts'
import type { ObjectRule } from '../../pipeline/cluster/object-learner.ts'
import { metricFrom, type Metric } from '../../pipeline/model/series.ts'
import { createSpeller, type Speller } from './spelling.ts'

export type Rule = InputRule & {
  readonly catalog: InputCatalog
  readonly speller: Speller
  /** Whether it says anything about labels, beside their spelling. */
  readonly adjusts: boolean
}

export type Rules = {
  readonly byName: ReadonlyMap<string, Rule>
  /** Of which Kubernetes object a fact speaks. */
  objectOf(factName: string): ObjectRule | undefined
}

/** Of two catalogs that know one name the later counts. */
export function createRules(catalogs: readonly InputCatalog[]): Rules {
  const byName = new Map<string, Rule>()
  const objects = new Map<string, ObjectRule>()
  for (const catalog of catalogs) {
    const speller = createSpeller(catalog)
    for (const [name, rule] of catalog.rules) byName.set(name, { ...rule, catalog, speller, adjusts: adjusts(rule) })
  }
  for (const { fact, object, nonzero } of byName.values()) {
    if (object !== undefined) objects.set(fact.name, { ...object, nonzero })
  }
  return { byName, objectOf: name => objects.get(name) }
}

function adjusts({ add, absent, drop, snakeCase }: InputRule): boolean {
  return Object.keys(add).length + absent.length + drop.length + snakeCase.length > 0
}

/** By fact and metric of the source: every column asks, and there are few. */
const factMetrics = new WeakMap<Fact, WeakMap<Metric, Metric>>()

/** The metric of a fact. Where the catalog has no words for it, those of the source stay. */
export function metricOf(fact: Fact, source: Metric): Metric {
  let known = factMetrics.get(fact)
  if (known === undefined) factMetrics.set(fact, (known = new WeakMap()))
  let metric = known.get(source)
  if (metric === undefined) {
    const { name, type, unit, help } = fact
    known.set(source, (metric = metricFrom({ name, type, unit, help: help ?? source.help })))
  }
  return metric
}
