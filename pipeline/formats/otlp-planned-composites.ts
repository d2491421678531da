/** Histograms and summaries of a layout as columns of numbers. */
import type { Labels } from '../model/labels.ts'
import type { Metric } from '../model/series.ts'
import { ByteArena } from './byte-arena.ts'
import type { Composite } from './otlp-composites.ts'
import { SLACK, type MetricBytes } from './otlp-dialect.ts'
import type { Entity } from './otlp-entity.ts'
import type { Shape } from './otlp-metric.ts'

export type PlannedComposites = {
  /** Those of group g are [starts[g], starts[g + 1]). Groups without any may be missing at the end. */
  readonly starts: Uint32Array
  readonly metrics: readonly MetricBytes[]
  /** Of each its number in `metrics`. */
  readonly metricOf: Uint32Array
  readonly blocks: ByteArena
  readonly blockOf: Uint32Array
  readonly bounds: readonly Bounds[]
  readonly boundsOf: Uint32Array
  /** The columns of the bounds of composite i begin at partStarts[i] and are as many as it has bounds. */
  readonly parts: Uint32Array
  readonly partStarts: Uint32Array
  /** Columns, -1 if there is none. */
  readonly counts: Int32Array
  readonly sums: Int32Array
  readonly totals: Int32Array
  /** What they are, for whoever asks whether one is still there. */
  readonly families: readonly string[]
  readonly labels: readonly Labels[]
}

export type Bounds = { readonly values: Float64Array; readonly bytes: Uint8Array }

type Means = {
  familyBytes(metric: Metric): MetricBytes
  block(entity: Entity, shape: Shape): Uint8Array
  bounds(bounds: readonly number[]): Uint8Array
  split(labels: Labels): Entity
  hasTooMany(entity: Entity): boolean
  groupOf(entity: Entity): number
  groupCount(): number
}

export function planComposites(
  found: readonly Composite[],
  means: Means,
): { composites: PlannedComposites; leftOut: number } | undefined {
  if (found.length === 0) return undefined
  const entities = new Map<Labels, { entity: Entity; group: number; blocks: Map<Shape, number> }>()
  const blocks = new ByteArena(SLACK, 0)
  blocks.add(new Uint8Array(SLACK), 0, SLACK)
  const metrics = new Map<MetricBytes, number>()
  const bounds = new Map<string, Bounds & { number: number }>()

  function entityOf(labels: Labels) {
    let known = entities.get(labels)
    if (known === undefined) {
      const entity = means.split(labels)
      const group = means.hasTooMany(entity) ? -1 : means.groupOf(entity)
      entities.set(labels, (known = { entity, group, blocks: new Map() }))
    }
    return known
  }

  function rowOf(composite: Composite) {
    const bytes = means.familyBytes(composite.metric)
    const { entity, group, blocks: known } = entityOf(composite.labels)
    let block = known.get(bytes.shape)
    if (block === undefined) {
      const attributes = means.block(entity, bytes.shape)
      known.set(bytes.shape, (block = blocks.add(attributes, 0, attributes.length)))
    }
    if (!metrics.has(bytes)) metrics.set(bytes, metrics.size)
    const values = composite.parts.map(({ bound }) => bound)
    const key = values.join(' ')
    let itsBounds = bounds.get(key)
    if (itsBounds === undefined) {
      itsBounds = { values: Float64Array.from(values), bytes: means.bounds(values), number: bounds.size }
      bounds.set(key, itsBounds)
    }
    return { composite, group, block, metric: metrics.get(bytes)!, bounds: itsBounds.number }
  }

  const all = found.map(rowOf)
  const rows = all.filter(({ group }) => group >= 0).sort((a, b) => a.group - b.group || a.metric - b.metric)
  blocks.trim(SLACK)
  const starts = new Uint32Array(means.groupCount() + 1)
  for (const { group } of rows) starts[group + 1]!++
  for (let i = 1; i < starts.length; i++) starts[i]! += starts[i - 1]!
  let partCount = 0
  const partStarts = Uint32Array.from(rows, ({ composite }) => {
    partCount += composite.parts.length
    return partCount - composite.parts.length
  })
  const composites = {
    starts,
    metrics: [...metrics.keys()],
    metricOf: Uint32Array.from(rows, row => row.metric),
    blocks,
    blockOf: Uint32Array.from(rows, row => row.block),
    bounds: [...bounds.values()],
    boundsOf: Uint32Array.from(rows, row => row.bounds),
    parts: Uint32Array.from(rows.flatMap(({ composite }) => composite.parts.map(({ column }) => column))),
    partStarts,
    counts: Int32Array.from(rows, ({ composite }) => composite.count),
    sums: Int32Array.from(rows, ({ composite }) => composite.sum),
    totals: Int32Array.from(rows, ({ composite }) => composite.total),
    families: rows.map(({ composite }) => composite.metric.family),
    labels: rows.map(({ composite }) => composite.labels),
  }
  return { composites, leftOut: all.length - rows.length }
}
