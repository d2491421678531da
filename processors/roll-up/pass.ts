/**
 * What becomes of incoming series: facts that are rolled up end here, as do those that the model of the cluster is made of; some of
 * these leave under the names of a vocabulary; everything else passes.
 */
import { JOINED } from '../../pipeline/catalog/attributes.ts'
import type { ClusterTables } from '../../pipeline/cluster/tables.ts'
import type { Look, Mapped, SeriesMap } from '../../pipeline/model/label-processor.ts'
import { getLabel, labelsFrom, labelPairs, withoutLabels, type Labels } from '../../pipeline/model/labels.ts'
import { metricFrom, type Series } from '../../pipeline/model/series.ts'
import type { Entry } from '../../pipeline/model/tracked.ts'
import type { LabelSpec } from './entity.ts'
import type { Passing } from './rules.ts'

export type PassOptions = {
  readonly rules: readonly Passing[]
  /** Whether a metric is about objects that the Kubernetes API may tell of, too. */
  isOfObjects(name: string): boolean
  /** Whether a metric ends here. */
  isConsumed(name: string): boolean
  readonly keepInput: boolean
  readonly tables: ClusterTables
  /** Labels that were joined, with the names that they have: what passes has its own labels, and those that its rule names. */
  joined(): Joined
  /** Whether the Kubernetes API hands on what it knows as series, too. */
  readonly apiTells: Entry<true>
}

export type Joined = {
  /** What is dropped. */
  readonly labels: ReadonlySet<string>
  /** By what `join_workload` calls it unless it is told otherwise. */
  readonly names: ReadonlyMap<string, string>
}

type Context = { readonly isModelled: boolean }

const OF_MODELLED: Context = { isModelled: true }
const OF_OTHERS: Context = { isModelled: false }

export function createPass(options: PassOptions): SeriesMap {
  const { rules, isOfObjects, isConsumed, keepInput, tables, joined, apiTells } = options
  const byName = Map.groupBy(rules, ({ metric, from }) => from ?? metric)
  // What `normalize` keeps beside the fact that it became would be there twice.
  const made = new Set(
    rules.filter(({ from, metric }) => from !== undefined && from !== metric).map(rule => rule.metric),
  )

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
    context: (_, source) => (source.isModelled === true ? OF_MODELLED : OF_OTHERS),
    map(series, look, context) {
      const { name, family } = series.metric
      const itsRules = byName.get(name) ?? byName.get(family)
      const isKept = keepInput || (itsRules === undefined && !isConsumed(name))
      if (itsRules === undefined) return isKept && !made.has(name) ? [series] : []
      const isTold = isOfObjects(name) && !(context as Context).isModelled && isToldByApi(series.labels, look)
      const passed = isTold ? [] : itsRules.flatMap(rule => passedBy(rule, series, joined()))
      if (!isKept || itsRules.some(({ from, metric }) => (from ?? metric) === metric)) return passed
      return [series, ...passed]
    },
  }
}

function passedBy(
  { metric: name, from = name, match, drop, labels: added, help }: Passing,
  { metric, labels }: Series,
  joined: Joined,
): Mapped[] {
  const wanted = Object.entries(match)
  if (!wanted.every(([label, value]) => getLabel(labels, label) === value)) return []
  const without = new Set([...drop, ...wanted.map(([label]) => label), ...joined.labels])
  const own = withoutLabels(labels, without)
  return [
    {
      metric:
        name === from && help === undefined
          ? metric
          : metricFrom({
              ...metric,
              name: metric.name.replace(from, name),
              family: metric.family.replace(from, name),
              help: help ?? metric.help,
            }),
      labels: added.length === 0 ? own : labelsFrom([...labelPairs(own), ...joinedPairs(added, labels, joined)]),
    },
  ]
}

function joinedPairs(added: LabelSpec, labels: Labels, { names }: Joined): [string, string][] {
  return added.map(([name, attribute]) => {
    const label = JOINED[attribute as keyof typeof JOINED]!
    return [name, getLabel(labels, names.get(label) ?? label) ?? '']
  })
}
