/** Which columns of a layout make up histograms and summaries. */
import { getLabel, withoutLabels, type Labels } from '../model/labels.ts'
import { columnCount, labelsAt, metricAt, type Layout } from '../model/layout.ts'
import type { Metric } from '../model/series.ts'
import { roleOf, type Role } from './otlp-metric.ts'

/** One histogram or summary; columns are -1 where there is none. */
export type Composite = {
  /** One of its parts: they have all the same family and description. */
  readonly metric: Metric
  /** Without `le` or `quantile`. */
  readonly labels: Labels
  count: number
  sum: number
  /** The bucket that has everything. */
  total: number
  /** Bounds of buckets, or quantiles, ascending, each with its column. */
  parts: { readonly bound: number; readonly column: number }[]
}

export type CompositeOptions = {
  readonly dropSummaries: boolean
  /** At most so many buckets in a histogram: what is in those that are left out counts in the next one. */
  readonly maxBuckets: number
}

export type FoundComposites = {
  readonly composites: readonly Composite[]
  /** By column: 1 if it is no series by itself. Undefined if there are no such columns. */
  readonly isPart: Uint8Array | undefined
  /** How many summaries were left out. */
  readonly droppedSummaries: number
}

const BOUND = new Set(['le'])
const QUANTILE = new Set(['quantile'])

export function findComposites(layout: Layout, options: CompositeOptions): FoundComposites {
  const roles = layout.metrics.map(roleOf)
  if (roles.every(role => role === 'value')) return { composites: [], isPart: undefined, droppedSummaries: 0 }
  const isPart = new Uint8Array(columnCount(layout))
  let droppedSummaries = 0
  const composites: Composite[] = []
  for (const { composite, columns } of collect(layout, roles)) {
    // Without a number of observations there is no histogram: its parts leave as what they are.
    if (composite.count < 0 && composite.total < 0) continue
    for (const column of columns) isPart[column] = 1
    if (composite.metric.type === 'summary' && options.dropSummaries) {
      droppedSummaries++
      continue
    }
    composite.parts.sort((a, b) => a.bound - b.bound)
    if (composite.metric.type === 'histogram') composite.parts = thinned(composite.parts, options.maxBuckets - 1)
    composites.push(composite)
  }
  return { composites, isPart, droppedSummaries }
}

type Collected = { readonly composite: Composite; readonly columns: number[]; readonly bounds: Set<number> }

function collect(layout: Layout, roles: readonly Role[]): Iterable<Collected> {
  const found: Collected[] = []
  const byFamily = new Map<string, Map<Labels, Collected>>()
  for (let column = 0; column < columnCount(layout); column++) {
    const role = roles[layout.metricOf[column]!]!
    if (role === 'value') continue
    const metric = metricAt(layout, column)
    const own = labelsAt(layout, column)
    const bound = boundOf(role, own)
    if (Number.isNaN(bound)) continue
    const labels =
      role === 'bucket' ? withoutLabels(own, BOUND) : role === 'quantile' ? withoutLabels(own, QUANTILE) : own
    const family = `${metric.type} ${metric.isDelta === true} ${metric.family}`
    let ofFamily = byFamily.get(family)
    if (ofFamily === undefined) byFamily.set(family, (ofFamily = new Map()))
    let one = ofFamily.get(labels)
    if (one === undefined) {
      one = { composite: { metric, labels, count: -1, sum: -1, total: -1, parts: [] }, columns: [], bounds: new Set() }
      ofFamily.set(labels, one)
      found.push(one)
    }
    const { composite, columns, bounds } = one
    if (role === 'bucket' || role === 'quantile') {
      // The same number in two spellings: one of them is a series by itself.
      if (bounds.has(bound)) continue
      bounds.add(bound)
    }
    columns.push(column)
    if (role === 'count') composite.count = column
    else if (role === 'sum') composite.sum = column
    else if (role === 'bucket' && bound === Infinity) composite.total = column
    else composite.parts.push({ bound, column })
  }
  return found
}

/** NaN if there is none where there should be one. */
function boundOf(role: Role, labels: Labels): number {
  if (role !== 'bucket' && role !== 'quantile') return 0
  const text = getLabel(labels, role === 'bucket' ? 'le' : 'quantile')
  if (text === undefined) return NaN
  return /^\+?inf$/i.test(text) ? Infinity : Number(text)
}

/** Evenly chosen, the last one always: a histogram says most about where its bounds are close. */
function thinned<T>(parts: T[], atMost: number): T[] {
  if (parts.length <= atMost) return parts
  return Array.from({ length: atMost }, (_, i) => parts[Math.ceil(((i + 1) * parts.length) / atMost) - 1]!)
}
