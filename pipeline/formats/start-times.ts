/**
 * The `_created` samples of OpenMetrics: no series of their own, but the time when the counters, histograms and summaries with the
 * same labels began.
 */
import { withoutLabels, type Labels } from '../model/labels.ts'
import type { Metric } from '../model/series.ts'
import type { StartSlots } from './known-lines.ts'
import type { Columns } from './line-shape.ts'
import type { Dialect } from './sample-line.ts'

const SUFFIX = '_created'
/** Labels that tell the samples of one histogram or summary apart. */
const PARTS = new Set(['le', 'quantile'])

/** Undefined if there is no such sample. */
export function startSlots(dialect: Dialect, columns: Columns, labels: readonly Labels[]): StartSlots | undefined {
  const { metrics, metricOf, labelsOf } = columns
  if (dialect !== 'openmetrics' || !metrics.some(isStart)) return undefined
  const slotsByFamily = new Map<string, Map<Labels, number>>()
  const valueSlots: number[] = []
  metricOf.forEach((number, slot) => {
    const metric = metrics[number]!
    if (!isStart(metric)) {
      valueSlots.push(slot)
      return
    }
    let slots = slotsByFamily.get(metric.family)
    if (slots === undefined) slotsByFamily.set(metric.family, (slots = new Map()))
    slots.set(labels[labelsOf[slot]!]!, slot)
  })
  const startSlot = valueSlots.map(slot => {
    const slots = slotsByFamily.get(metrics[metricOf[slot]!]!.family)
    return slots?.get(withoutLabels(labels[labelsOf[slot]!]!, PARTS)) ?? -1
  })
  return { valueSlot: Int32Array.from(valueSlots), startSlot: Int32Array.from(startSlot) }
}

function isStart({ name, family, type }: Metric): boolean {
  return (
    (type === 'counter' || type === 'histogram' || type === 'summary' || type === 'gaugehistogram') &&
    name.length === family.length + SUFFIX.length &&
    name.endsWith(SUFFIX)
  )
}
