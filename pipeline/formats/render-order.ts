/** The order in which the columns of a layout are written: family by family, and the parts of one distribution together. */
import { getLabel, withoutLabels, type Labels } from '../model/labels.ts'
import { columnCount, labelsAt, metricAt, type Layout } from '../model/layout.ts'
import { boundLabel, partRank, type Syntax } from './render-families.ts'
import type { ShownMetric } from './render-metrics.ts'
import { pause, type Work } from './render-work.ts'

/** Group g is columns[starts[g], starts[g + 1]) and has one place. Without `columns`, that is the layout's own order. */
export type Grouping = {
  readonly columns: Uint32Array | undefined
  readonly starts: Uint32Array
  /** One metric of each group; if it is not the only one, the others have the same place. */
  readonly groups: readonly { readonly first: ShownMetric; readonly isOnly: boolean }[]
}

/** `shown` are the layout's metrics. */
export function* groupColumns(layout: Layout, shown: readonly ShownMetric[], syntax: Syntax): Work<Grouping> {
  const { groupOf, members } = groupMetrics(shown, syntax)
  const columns = new Uint32Array(columnCount(layout))
  const starts = yield* sortByGroup(layout, groupOf, members.length, columns)
  for (const [group, metrics] of members.entries()) {
    if (metrics.length === 1 && boundLabel(metrics[0]!.metric) === undefined) continue
    yield* gatherDistributions(layout, columns.subarray(starts[group], starts[group + 1]))
  }
  return {
    columns: isAscending(columns) ? undefined : columns,
    starts,
    groups: members.map(metrics => ({ first: metrics[0]!, isOnly: metrics.length === 1 })),
  }
}

function isAscending(columns: Uint32Array): boolean {
  for (let i = 0; i < columns.length; i++) if (columns[i] !== i) return false
  return true
}

function groupMetrics(shown: readonly ShownMetric[], syntax: Syntax) {
  const groupOf = new Uint32Array(shown.length)
  const members: ShownMetric[][] = []
  const groups = new Map<string, number>()
  for (const [i, metric] of shown.entries()) {
    const { family, type } = metric.places[syntax]
    const key = `${type} ${family}`
    let group = groups.get(key)
    if (group === undefined) {
      groups.set(key, (group = members.length))
      members.push([])
    }
    groupOf[i] = group
    members[group]!.push(metric)
  }
  return { groupOf, members }
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
