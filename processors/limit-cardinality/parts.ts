/** Which columns of a layout belong together: the buckets of a histogram are of use together or not at all. */
import { withoutLabels, type Labels } from '../../pipeline/model/labels.ts'
import { columnCount, labelsAt, metricAt, type Layout } from '../../pipeline/model/layout.ts'
import type { MetricType } from '../../pipeline/model/series.ts'

const PART_LABELS: Partial<Record<MetricType, ReadonlySet<string>>> = {
  histogram: new Set(['le']),
  gaugehistogram: new Set(['le']),
  summary: new Set(['quantile']),
}

/** For each column the first of those that it belongs to; most columns belong to themselves. */
export function leadersOf(layout: Layout): Uint32Array {
  const leaders = new Uint32Array(columnCount(layout))
  for (let column = 0; column < leaders.length; column++) leaders[column] = column
  const hasParts = layout.metrics.map(({ type }) => PART_LABELS[type] !== undefined)
  if (!hasParts.includes(true)) return leaders
  const first = new Map<string, Map<Labels, number>>()
  for (let column = 0; column < leaders.length; column++) {
    if (!hasParts[layout.metricOf[column]!]) continue
    const { family, type } = metricAt(layout, column)
    const whole = withoutLabels(labelsAt(layout, column), PART_LABELS[type]!)
    let columns = first.get(family)
    if (columns === undefined) first.set(family, (columns = new Map()))
    if (!columns.has(whole)) columns.set(whole, column)
    leaders[column] = columns.get(whole)!
  }
  return leaders
}
