/** From results to batches. A layout is made anew only when a series has come or gone, and says what it kept. */
import type { Batch, Source } from '../../pipeline/model/batch.ts'
import { EMPTY_LABELS, type Labels } from '../../pipeline/model/labels.ts'
import { createLayout, EMPTY_LAYOUT, RunBuilder, type Layout } from '../../pipeline/model/layout.ts'
import type { Metric } from '../../pipeline/model/series.ts'
import type { Group } from './entity.ts'

/** The results of one metric, by slot of the group; NaN where there is no series. */
export type Results = { readonly metric: Metric; readonly values: Float64Array }

/** Metrics that share their groups share a source: what comes and goes for one mostly does for all. */
export type Output = {
  batch(results: readonly Results[], groups: readonly (Group | undefined)[], timeMs: number): Batch
}

/** Where a series is: by metric and group. */
type Columns = { readonly groups: (Group | undefined)[]; readonly columns: Int32Array }

export function createOutput(component: string, name: string): Output {
  const source: Source = { component, name, labels: EMPTY_LABELS }
  let layout: Layout = EMPTY_LAYOUT
  let known = new Map<Metric, Columns>()

  function isSame(results: readonly Results[], groups: readonly (Group | undefined)[]): boolean {
    let total = 0
    for (const { metric, values } of results) {
      const before = known.get(metric)
      for (let slot = 1; slot < values.length; slot++) {
        const isThere = !Number.isNaN(values[slot])
        if (!isThere) continue
        total++
        if (before === undefined || (before.columns[slot] ?? -1) < 0 || before.groups[slot] !== groups[slot])
          return false
      }
    }
    return total === layout.metricOf.length
  }

  function rebuild(results: readonly Results[], groups: readonly (Group | undefined)[]): void {
    const next = new Map<Metric, Columns>()
    const groupsNow = [...groups]
    const runs = new RunBuilder()
    const labels: Labels[] = []
    const numberOfSlot = new Int32Array(groups.length).fill(-1)
    const metricOf: number[] = []
    const labelsOf: number[] = []
    results.forEach(({ metric, values }, at) => {
      const columns = new Int32Array(groups.length).fill(-1)
      const before = known.get(metric)
      for (let slot = 1; slot < values.length; slot++) {
        if (Number.isNaN(values[slot])) continue
        const group = groups[slot]!
        if (numberOfSlot[slot]! < 0) numberOfSlot[slot] = labels.push(group.labels) - 1
        const column = metricOf.push(at) - 1
        labelsOf.push(numberOfSlot[slot]!)
        columns[slot] = column
        const from = before === undefined || before.groups[slot] !== group ? -1 : (before.columns[slot] ?? -1)
        if (from >= 0) runs.add(column, from, 1)
      }
      next.set(metric, { groups: groupsNow, columns })
    })
    layout = createLayout({
      metrics: results.map(({ metric }) => metric),
      labels,
      metricOf: Uint32Array.from(metricOf),
      labelsOf: Uint32Array.from(labelsOf),
      keptFrom: { id: layout.id, runs: runs.finish() },
    })
    known = next
  }

  return {
    batch(results, groups, timeMs) {
      if (!isSame(results, groups)) rebuild(results, groups)
      const values = new Float64Array(layout.metricOf.length)
      let column = 0
      for (const { values: its } of results) {
        for (let slot = 1; slot < its.length; slot++) if (!Number.isNaN(its[slot])) values[column++] = its[slot]!
      }
      return { source, timeMs, outcome: 'ok', layout, values }
    },
  }
}
