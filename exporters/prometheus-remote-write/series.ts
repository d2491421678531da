/**
 * What the series of a source are called at the destination: names in Prometheus' words, external labels, relabelling. Worked out when
 * a layout is new; where nothing differs, the batch goes on as it is.
 */
import type { Batch, Source } from '../../pipeline/model/batch.ts'
import type { SeriesMap } from '../../pipeline/model/label-processor.ts'
import { labelPairs, labelsFrom, type Labels } from '../../pipeline/model/labels.ts'
import type { Layout } from '../../pipeline/model/layout.ts'
import { createPlanner, type Planner } from '../../pipeline/model/planner.ts'
import { runPlan } from '../../pipeline/model/plan.ts'
import { metricFrom, type Metric } from '../../pipeline/model/series.ts'
import {
  escapesNames,
  translateLabels,
  translateMetric,
  type Naming,
} from '../../pipeline/formats/prometheus-naming.ts'
import { hasPlainNames } from '../../pipeline/formats/render-labels.ts'
import { escapeLabelName, escapeMetricName, isPlainMetricName } from '../../pipeline/formats/render-names.ts'
import { relabelSeries } from '../../pipeline/relabel/relabel-series.ts'
import type { RelabelRule } from '../../pipeline/relabel/rule.ts'

export type SeriesOptions = {
  readonly naming: Naming
  /** For every series that has no such label of its own. */
  readonly externalLabels: Labels
  readonly rules: readonly RelabelRule[]
}

export type SeriesMapping = {
  /** The batch as the destination is to see it. */
  map(batch: Batch): Batch
  forget(source: Source): void
  /** Of the metrics that a source has now, one that can not be sent because it has only increases. */
  deltaOf(layout: Layout): Metric | undefined
}

export function createSeriesMapping({ naming, externalLabels, rules }: SeriesOptions): SeriesMapping {
  const escapes = escapesNames(naming.strategy)
  const stages: { readonly planner: Planner; isNeeded(batch: Batch): boolean }[] = [
    {
      planner: createPlanner({ by: 'metric', map: metric => metricsOf(metric, naming, escapes) }),
      isNeeded: ({ layout }) => layout.metrics.some(metric => !staysAsItIs(metric, naming, escapes)),
    },
    {
      planner: createPlanner({ by: 'labels', map: labels => translateLabels(labels, naming.strategy) }),
      isNeeded: ({ source }) => source.origin !== undefined,
    },
    {
      planner: createPlanner({ by: 'labels', map: labels => complete(labels, externalLabels, escapes) }),
      isNeeded: ({ layout }) =>
        externalLabels.names.length > 0 || (escapes && layout.labels.some(labels => !hasPlainNames(labels))),
    },
  ]
  if (rules.length > 0) {
    const relabel: SeriesMap = relabelSeries(rules)
    stages.push({ planner: createPlanner(relabel), isNeeded: () => true })
  }
  /** Which stages the layout of a source goes through: asked once for a layout. */
  const needed = new WeakMap<Layout, readonly Planner[]>()

  function plannersFor(batch: Batch): readonly Planner[] {
    let planners = needed.get(batch.layout)
    if (planners === undefined) {
      planners = stages.filter(stage => stage.isNeeded(batch)).map(({ planner }) => planner)
      needed.set(batch.layout, planners)
    }
    return planners
  }

  return {
    map(batch) {
      let mapped = batch
      for (const planner of plannersFor(batch))
        mapped = runPlan(planner.planFor(batch.source, mapped.layout), mapped).batch
      return mapped
    },
    forget(source) {
      for (const { planner } of stages) planner.forget(source)
    },
    deltaOf: layout => layout.metrics.find(({ isDelta }) => isDelta === true),
  }
}

function staysAsItIs(metric: Metric, { namespace = '' }: Naming, escapes: boolean): boolean {
  if (metric.isDelta === true || metric.isOtel === true || namespace !== '') return false
  return !escapes || isPlainMetricName(metric.name)
}

/** None for deltas: what has only increases is no counter there. */
function metricsOf(metric: Metric, naming: Naming, escapes: boolean): { metric: Metric }[] {
  if (metric.isDelta === true) return []
  if (staysAsItIs(metric, naming, escapes)) return [{ metric }]
  if (metric.isOtel === true) {
    const names = translateMetric(metric, naming)
    return names === undefined ? [] : [{ metric: metricFrom({ ...metric, ...names }) }]
  }
  const prefix = naming.namespace === undefined || naming.namespace === '' ? '' : `${naming.namespace}_`
  const nameOf = (name: string): string => escapeMetricName(prefix + name, escapes ? 'underscores' : 'allow-utf-8')
  return [{ metric: metricFrom({ ...metric, name: nameOf(metric.name), family: nameOf(metric.family) }) }]
}

function complete(labels: Labels, external: Labels, escapes: boolean): Labels {
  const pairs = new Map<string, string>()
  for (const [name, value] of labelPairs(labels)) {
    const escaped = escapes ? escapeLabelName(name, 'underscores') : name
    const known = pairs.get(escaped)
    // Two names may have become one.
    pairs.set(escaped, known === undefined ? value : `${known};${value}`)
  }
  for (const [name, value] of labelPairs(external)) if (!pairs.has(name)) pairs.set(name, value)
  return labelsFrom(pairs)
}
