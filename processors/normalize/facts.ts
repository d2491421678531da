/** From one series to the fact it is. */
import { getLabel, labelPairs, labelsFrom, withoutLabels, type Labels } from '../../pipeline/model/labels.ts'
import type { Mapped } from '../../pipeline/model/label-processor.ts'
import type { Metric, Series } from '../../pipeline/model/series.ts'
import { holderLabels, identifyRow, isEmpty } from './device-rows.ts'
import { metricOf, type Rule } from './rules.ts'
import { meets, type TargetContext } from './targets.ts'

/** The fact; nothing if the row is none (a sum over others); undefined if the series is of another source. */
export function factFrom(series: Series, rule: Rule, context: TargetContext): readonly Mapped[] | undefined {
  if (!meets(rule.catalog, series.labels)) return undefined
  const spelt = context.spell(rule, series.labels)
  if (!isKept(spelt, rule)) return []
  const { metric, labels } = placed(adjusted(spelt, rule), rule, series.metric, context)
  return [
    {
      metric,
      labels,
      scale: context.scaleOf(rule, series.metric),
      range: rule.fact.range,
      // Rows of one GPU repeat one reading. Of two spellings in one scrape the first is as good as the second.
      fold: rule.fact.of === undefined && rule.fact.type !== 'counter' ? 'first' : 'max',
    },
  ]
}

function isKept(labels: Labels, { keep }: Rule): boolean {
  for (const name in keep) {
    const { in: kept, not: dropped } = keep[name]!
    const value = getLabel(labels, name) ?? ''
    if ((kept !== undefined && !kept.includes(value)) || dropped?.includes(value) === true) return false
  }
  return true
}

/** What the rule says about labels, beside their spelling. */
function adjusted(labels: Labels, { adjusts, add, absent, drop, snakeCase }: Rule): Labels {
  if (!adjusts) return labels
  const pairs: [string, string][] = []
  for (const [name, value] of labelPairs(labels)) {
    if (drop.includes(name) || absent.includes(value)) continue
    pairs.push([snakeCase.some(prefix => name.startsWith(prefix)) ? snakeCased(name) : name, value])
  }
  return labelsFrom([...pairs, ...Object.entries(add)])
}

/** As kube-state-metrics 2 writes the names of Kubernetes labels. */
function snakeCased(name: string): string {
  return name.replace(/([a-z0-9])([A-Z])/g, '$1_$2').toLowerCase()
}

/** Of what it is a reading: the board, the device, or one who holds a device together with others. */
function placed(labels: Labels, rule: Rule, source: Metric, { devices }: TargetContext): Series {
  const { fact, podFact, catalog } = rule
  const spec = catalog.devices
  // Of nearly all targets nothing but the device is on the rows of a device.
  if (isEmpty(devices)) return { metric: metricOf(fact, source), labels }
  const identity = fact.of === undefined || spec === undefined ? undefined : identifyRow(labels, spec)
  if (identity === undefined) return { metric: metricOf(fact, source), labels }
  const holders = holderLabels(spec!)
  if (podFact !== undefined && devices.ownReadings.has(`${identity.key} ${fact.name}`)) {
    if (holders.some(name => labels.names.includes(name))) {
      // The reading is that of the pod as a whole, whichever of its containers or replicas the row names.
      const below = new Set(holders.filter(name => ![spec!.pod, spec!.namespace, spec!.pod_uid].includes(name)))
      return { metric: metricOf(podFact, source), labels: withoutLabels(labels, below) }
    }
  }
  const strip = fact.of === 'board' ? devices.stripOfBoard.get(identity.board) : devices.strip.get(identity.key)
  return { metric: metricOf(fact, source), labels: strip === undefined ? labels : withoutLabels(labels, strip) }
}
