/** Where the columns of a layout were in the one before, for whoever keeps something per column. */
import type { Labels } from './labels.ts'
import { columnCount, labelsAt, metricAt, type Layout } from './layout.ts'

/** For each column of a layout its column in the one before, or -1. */
export function carried(before: Layout, layout: Layout): Int32Array {
  const columns = new Int32Array(columnCount(layout)).fill(-1)
  if (before === layout) return columns.map((_, column) => column)
  if (layout.keptFrom?.id === before.id) {
    const { runs } = layout.keptFrom
    for (let run = 0; run < runs.length; run += 3) {
      for (let i = 0; i < runs[run + 2]!; i++) columns[runs[run]! + i] = runs[run + 1]! + i
    }
    return columns
  }
  const known = new Map<Labels, Map<string, number>>()
  for (let column = 0; column < columnCount(before); column++) {
    const labels = labelsAt(before, column)
    let names = known.get(labels)
    if (names === undefined) known.set(labels, (names = new Map()))
    names.set(metricAt(before, column).name, column)
  }
  return columns.map((_, column) => known.get(labelsAt(layout, column))?.get(metricAt(layout, column).name) ?? -1)
}
