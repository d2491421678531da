/** The order in which the columns of a layout are written: family by family, and the parts of one distribution together. */
import { getLabel, withoutLabels, type Labels } from '../model/labels.ts'
import { columnCount, labelsAt, metricAt, type Layout } from '../model/layout.ts'
import { boundLabel, partRank } from './render-families.ts'
import type { MetricGroups } from './render-metrics.ts'
import { pause, type Work } from './render-work.ts'

/** Group g is columns[starts[g], starts[g + 1]). Without `columns`, that is the layout's own order. */
export type Grouping = { readonly columns: Uint32Array | undefined; readonly starts: Uint32Array }

/** The groups are those of the layout's metrics. */
export function* groupColumns(layout: Layout, { groupOf, members }: MetricGroups): Work<Grouping> {
  const columns = new Uint32Array(columnCount(layout))
  const starts = yield* sortByGroup(layout, groupOf, members.length, columns)
  for (const [group, metrics] of members.entries()) {
    if (metrics.length === 1 && boundLabel(metrics[0]!.metric) === undefined) continue
    yield* gatherDistributions(layout, columns.subarray(starts[group], starts[group + 1]))
  }
  return { columns: isAscending(columns) ? undefined : columns, starts }
}

function isAscending(columns: Uint32Array): boolean {
  for (let i = 0; i < columns.length; i++) if (columns[i] !== i) return false
  return true
}

function* sortByGroup(layout: Layout, groupOf: Uint32Array, groups: number, columns: Uint32Array): Work<Uint32Array> {
  const { metricOf } = layout
  const starts = new Uint32Array(groups + 1)
  for (let i = 0; i < metricOf.length; i++) starts[groupOf[metricOf[i]!]! + 1]!++
  for (let group = 0; group < groups; group++) starts[group + 1]! += starts[group]!
  yield pause
  const next = starts.slice()
  for (let i = 0; i < metricOf.length; i++) columns[next[groupOf[metricOf[i]!]!]!++] = i
  yield pause
  return starts
}

/**
 * Puts the series of each distribution together, buckets by their bound, then sum and count; distributions in the order of their
 * first series. OpenMetrics demands it, and readers of the text format are promised it.
 */
function* gatherDistributions(layout: Layout, columns: Uint32Array): Work<void> {
  const distributions = new Map<Labels, Part[]>()
  for (let i = 0; i < columns.length; i++) {
    const part = partOf(layout, columns[i]!)
    const parts = distributions.get(part.labels)
    if (parts === undefined) distributions.set(part.labels, [part])
    else parts.push(part)
    if ((i & 0xff) === 0xff) yield pause
  }
  let at = 0
  let done = 0
  for (const parts of distributions.values()) {
    if (parts.length > 1) parts.sort((a, b) => a.rank - b.rank || a.bound - b.bound || a.column - b.column)
    for (const { column } of parts) columns[at++] = column
    if ((++done & 0xff) === 0) yield pause
  }
}

/** `labels` are those of the distribution, `bound` is where a bucket or quantile stands. */
type Part = { readonly column: number; readonly labels: Labels; readonly rank: number; readonly bound: number }

function partOf(layout: Layout, column: number): Part {
  const metric = metricAt(layout, column)
  const labels = labelsAt(layout, column)
  const label = boundLabel(metric)
  const rank = partRank(metric)
  if (label === undefined) return { column, labels, rank, bound: 0 }
  const bound = boundOf(getLabel(labels, label))
  return { column, labels: withoutLabels(labels, BOUND_LABELS[label]), rank, bound }
}

const BOUND_LABELS = { le: new Set(['le']), quantile: new Set(['quantile']) }

/** What is no number comes last, so that the order is one whatever is in the label. */
function boundOf(text: string | undefined): number {
  if (text === undefined || text === '+Inf') return Number.MAX_VALUE
  const bound = Number(text)
  return Number.isFinite(bound) ? bound : Number.MAX_VALUE
}
