/**
 * What becomes of incoming series: facts that are rolled up end here, as do those that the model of the cluster is made of; some of
 * these leave under the names of a vocabulary; everything else passes.
 */
import type { PassRule } from '../../pipeline/catalog/output-schema.ts'
import type { ClusterTables } from '../../pipeline/cluster/tables.ts'
import type { Source } from '../../pipeline/model/batch.ts'
import type { Look, Mapped, SeriesMap } from '../../pipeline/model/label-processor.ts'
import { getLabel, withoutLabels, type Labels } from '../../pipeline/model/labels.ts'
import type { Layout } from '../../pipeline/model/layout.ts'
import { metricFrom, type Series } from '../../pipeline/model/series.ts'
import type { Entry } from '../../pipeline/model/tracked.ts'

export type PassOptions = {
  readonly rules: readonly PassRule[]
  /** Whether a metric ends here. */
  isConsumed(name: string): boolean
  readonly keepInput: boolean
  readonly tables: ClusterTables
  /** Labels that were joined: what passes has its own labels only. */
  joinedLabels(): ReadonlySet<string>
  /** Whether the Kubernetes API hands on what it knows as series, too. */
  readonly apiTells: Entry<true>
}

type Context = { readonly isModelled: boolean }

export function createPass({ rules, isConsumed, keepInput, tables, joinedLabels, apiTells }: PassOptions): SeriesMap {
  const byName = Map.groupBy(rules, ({ metric, from }) => from ?? metric)
  const contexts = new WeakMap<Source, Context>()

  /** With both at hand a series is there once: what the API has of an object counts. */
  function isToldByApi(labels: Labels, look: Look): boolean {
    if (look(apiTells) !== true) return false
    const uid = getLabel(labels, 'uid')
    if (uid !== undefined) return look(tables.pods.entry(uid)) !== undefined
    const node = getLabel(labels, 'pod') === undefined ? getLabel(labels, 'node') : undefined
    return node !== undefined && look(tables.nodes.entry(node)) !== undefined
  }

  return {
    by: 'context',
    context(_: Layout, source) {
      let context = contexts.get(source)
      if (context === undefined) contexts.set(source, (context = { isModelled: source.isModelled === true }))
      return context
    },
    map(series, look, context) {
      const itsRules = byName.get(series.metric.name)
      const isKept = keepInput || (itsRules === undefined && !isConsumed(series.metric.name))
      if (itsRules === undefined) return isKept ? [series] : []
      const isTold = !(context as Context).isModelled && isToldByApi(series.labels, look)
      const passed = isTold ? [] : itsRules.flatMap(rule => passedBy(rule, series, joinedLabels()))
      if (!isKept || itsRules.some(({ from, metric }) => (from ?? metric) === metric)) return passed
      return [series, ...passed]
    },
  }
}

function passedBy(
  { metric: name, match, drop, help }: PassRule,
  { metric, labels }: Series,
  joined: ReadonlySet<string>,
): Mapped[] {
  const wanted = Object.entries(match)
  if (!wanted.every(([label, value]) => getLabel(labels, label) === value)) return []
  const without = new Set([...drop, ...wanted.map(([label]) => label), ...joined])
  return [
    {
      metric: name === metric.name ? metric : metricFrom({ ...metric, name, family: name, help: help ?? metric.help }),
      labels: withoutLabels(labels, without),
    },
  ]
}
