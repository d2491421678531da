/** Counts the legacy series that are handed on, by metric. */
import { olderMetrics, type Translation } from '../../pipeline/catalog/translation.ts'
import type { Batch, Source } from '../../pipeline/model/batch.ts'
import { labelsAt, metricAt, type Layout } from '../../pipeline/model/layout.ts'
import type { Metric } from '../../pipeline/model/series.ts'
import { distance } from './translate-series.ts'

export type DeprecatedSeries = {
  note(batch: Batch): void
  /** By metric, of all sources. */
  totals(): ReadonlyMap<string, number>
}

export function createDeprecatedSeries(translation: Translation): DeprecatedSeries {
  const older = new Map(olderMetrics(translation).map(metric => [metric.name, metric]))
  const sources = new Map<Source, { layout: Layout; counts: ReadonlyMap<string, number> }>()

  function countOf(layout: Layout): ReadonlyMap<string, number> {
    const counts = new Map<string, number>()
    const olderOf = ({ name, family }: Metric) => older.get(name) ?? older.get(family)
    if (!layout.metrics.some(metric => olderOf(metric) !== undefined)) return counts
    for (let column = 0; column < layout.metricOf.length; column++) {
      const its = olderOf(metricAt(layout, column))
      if (its === undefined) continue
      const { name } = its
      const labels = labelsAt(layout, column)
      if (its.keepsName && distance(labels, its.newer) <= distance(labels, its.labels)) continue
      counts.set(name, (counts.get(name) ?? 0) + 1)
    }
    return counts
  }

  return {
    note({ source, outcome, layout }) {
      if (outcome !== 'ok') sources.delete(source)
      else if (sources.get(source)?.layout !== layout) sources.set(source, { layout, counts: countOf(layout) })
    },
    totals() {
      const totals = new Map<string, number>()
      for (const { counts } of sources.values()) {
        for (const [metric, count] of counts) totals.set(metric, (totals.get(metric) ?? 0) + count)
      }
      return totals
    },
  }
}
