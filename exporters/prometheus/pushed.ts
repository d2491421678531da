/**
 * What is live of a source that is pushed to us. A request may have any of its series, so a batch says nothing of those it lacks: they
 * keep their last value until nothing was heard of them for too long. A point that comes late does not replace a newer one.
 */
import type { Batch, Columns } from '../../pipeline/model/batch.ts'
import type { Labels } from '../../pipeline/model/labels.ts'
import { columnCount, labelsAt, metricAt, scaleAt, type Layout } from '../../pipeline/model/layout.ts'
import type { Metric } from '../../pipeline/model/series.ts'

/** `arrivals` says for each column when its value came, NaN where there is none. */
export type Pushed = { readonly batch: Batch; readonly arrivals: Float64Array; readonly oldestMs: number }

export function addPushed(before: Pushed | undefined, batch: Batch, nowMs: number): Pushed {
  const arrivals = new Float64Array(columnCount(batch.layout)).fill(nowMs)
  for (const column of batch.absent ?? []) arrivals[column] = NaN
  if (before === undefined) return finish(batch, arrivals)
  const values = batch.values.slice()
  const times = batch.times?.slice() ?? new Float64Array(values.length).fill(NaN)
  const from = columnsBefore(batch.layout, before.batch.layout)
  for (let column = 0; column < from.length; column++) {
    const old = from[column]!
    if (old < 0 || Number.isNaN(before.arrivals[old]!)) continue
    // The same number would mean something else.
    if (scaleAt(batch.layout, column) !== scaleAt(before.batch.layout, old)) continue
    const oldTime = timeAt(before.batch, old)
    if (!Number.isNaN(arrivals[column]!) && timeAt(batch, column) >= oldTime) continue
    values[column] = before.batch.values[old]!
    times[column] = oldTime
    // That something came, if late, shows that the series is alive.
    if (Number.isNaN(arrivals[column]!)) arrivals[column] = before.arrivals[old]!
  }
  return finish({ ...batch, values, times, timeMs: Math.max(batch.timeMs, before.batch.timeMs) }, arrivals)
}

/** Without what came before then; the same if that is nothing. */
export function expirePushed(pushed: Pushed, beforeMs: number): Pushed {
  if (!(pushed.oldestMs <= beforeMs)) return pushed
  return finish(
    pushed.batch,
    pushed.arrivals.map(arrivedMs => (arrivedMs <= beforeMs ? NaN : arrivedMs)),
  )
}

function finish({ source, timeMs, outcome, layout, values, times }: Batch, arrivals: Float64Array): Pushed {
  let oldestMs = Infinity
  const absent: number[] = []
  for (let column = 0; column < arrivals.length; column++) {
    const arrivedMs = arrivals[column]!
    if (Number.isNaN(arrivedMs)) absent.push(column)
    else if (arrivedMs < oldestMs) oldestMs = arrivedMs
  }
  const columns: Columns | undefined = absent.length === 0 ? undefined : Uint32Array.from(absent)
  const batch = {
    source,
    timeMs,
    outcome,
    layout,
    values,
    ...(times && { times }),
    ...(columns && { absent: columns }),
  }
  return { batch, arrivals, oldestMs }
}

function timeAt({ times, timeMs }: Batch, column: number): number {
  const own = times === undefined ? NaN : times[column]!
  return Number.isNaN(own) ? timeMs : own
}

/** For each column, which one it was in the layout before, or -1. */
function columnsBefore(layout: Layout, before: Layout): Int32Array {
  const columns = new Int32Array(columnCount(layout))
  if (layout === before) return columns.map((_, column) => column)
  columns.fill(-1)
  if (layout.keptFrom?.id === before.id) {
    const { runs } = layout.keptFrom
    for (let run = 0; run < runs.length; run += 3) {
      for (let i = 0; i < runs[run + 2]!; i++) columns[runs[run]! + i] = runs[run + 1]! + i
    }
    return columns
  }
  const known = new Map<Labels, Map<Metric, number>>()
  for (let column = 0; column < columnCount(before); column++) {
    const labels = labelsAt(before, column)
    const byMetric = known.get(labels) ?? new Map<Metric, number>()
    known.set(labels, byMetric.set(metricAt(before, column), column))
  }
  return columns.map((_, column) => known.get(labelsAt(layout, column))?.get(metricAt(layout, column)) ?? -1)
}
