/**
 * What is made once for a layout, so that a batch of it is a matter of numbers: which resources there are, which columns belong to
 * each in which order, and all texts as bytes. Label sets that the layout before had are taken over from its plan.
 */
import type { Source } from '../model/batch.ts'
import type { Labels } from '../model/labels.ts'
import { columnCount, type Layout } from '../model/layout.ts'
import { ONE } from '../model/scale.ts'
import type { Metric } from '../model/series.ts'
import { ByteArena } from './byte-arena.ts'
import { findComposites, type CompositeOptions } from './otlp-composites.ts'
import { SLACK, type Dialect, type MetricBytes } from './otlp-dialect.ts'
import type { Entity, SplitEntity } from './otlp-entity.ts'
import { groupCount, GroupTable, type Groups } from './otlp-groups.ts'
import { familyMetric, valueMetric } from './otlp-metric.ts'
import type { NameRules } from './otlp-names.ts'
import { NONE, PatternTable, type CreatePattern, type Pattern } from './otlp-patterns.ts'
import { shareAscending, shareStarts } from './otlp-usual-lists.ts'
import { planComposites, type PlannedComposites } from './otlp-planned-composites.ts'

export type EncodePlan = {
  readonly layout: Layout
  readonly groups: Groups
  /** By label set; -1 if no series by itself has it or it has too many attributes. */
  readonly groupOf: Int32Array
  /** Columns that are series by themselves, by group and then by metric; those of group g are [starts[g], starts[g + 1]). */
  readonly columns: Uint32Array
  readonly starts: Uint32Array
  /** By number of the metric in the layout. */
  readonly metrics: readonly MetricBytes[]
  /** The attributes of label set i are string i + 1. */
  readonly blocks: ByteArena
  readonly isScaled: boolean
  /** Of the columns. */
  readonly patterns: readonly Pattern[]
  readonly patternOf: Uint8Array
  readonly composites: PlannedComposites | undefined
  /** Points that no batch of this layout sends, by why. */
  readonly leftOut: ReadonlyMap<LeftOut, number> | undefined
}

export type LeftOut = 'attributes' | 'summary' | 'not a number' | 'histogram' | 'size' | 'repeated'

export type PlanOptions = CompositeOptions & {
  readonly split: SplitEntity
  readonly dialect: Dialect
  readonly names: NameRules
  /** Undefined of an encoding that has no patterns. */
  readonly createPattern: CreatePattern | undefined
  /** A point with more, those of its resource included, is left out. */
  readonly maxAttributes: number
}

export type EncodePlanner = (source: Source, layout: Layout, before: EncodePlan | undefined) => EncodePlan

const NEVER = -1

export function createEncodePlanner(options: PlanOptions): EncodePlanner {
  const { split, dialect, names, createPattern, maxAttributes } = options
  const patternTable = createPattern === undefined ? undefined : new PatternTable(createPattern)
  const values = new WeakMap<Metric, MetricBytes>()
  const families = new WeakMap<Metric, MetricBytes>()
  const lists = new WeakMap<readonly Metric[], readonly MetricBytes[]>()

  function valueBytes(metric: Metric): MetricBytes {
    let bytes = values.get(metric)
    if (bytes === undefined) values.set(metric, (bytes = dialect.metric(valueMetric(metric, names))))
    return bytes
  }

  function familyBytes(metric: Metric): MetricBytes {
    let bytes = families.get(metric)
    if (bytes === undefined) families.set(metric, (bytes = dialect.metric(familyMetric(metric, names))))
    return bytes
  }

  // Targets of one kind have the same metrics, and may have the same list of them.
  function listOf(metrics: readonly Metric[]): readonly MetricBytes[] {
    let list = lists.get(metrics)
    if (list === undefined) lists.set(metrics, (list = metrics.map(valueBytes)))
    return list
  }

  const groupBytes = (entity: Entity, groups: GroupTable) =>
    groups.intern(dialect.resource(entity.resource, entity.resourceSchemaUrl), dialect.scope(entity.scope))
  const hasTooMany = ({ resource, point }: Entity) => resource.length + point.length > maxAttributes

  return (source, layout, before) => {
    const { composites, isPart, droppedSummaries } = findComposites(layout, options)
    const isUsed = usedLabels(layout, isPart)
    const known = before === undefined ? undefined : labelsBefore(layout, before.layout)
    const groups = new GroupTable(before?.groups)
    const groupOf = new Int32Array(layout.labels.length).fill(NEVER)
    const blocks = new ByteArena(SLACK, layout.labels.length + 1)
    blocks.add(new Uint8Array(SLACK), 0, SLACK)
    const moved = new Int32Array(before === undefined ? 0 : groupCount(before.groups)).fill(-1)
    for (let i = 0; i < layout.labels.length; i++) {
      const old = known?.[i] ?? -1
      const oldGroup = old < 0 ? NEVER : before!.groupOf[old]!
      if (isUsed[i] === 0) {
        blocks.add(NOTHING, 0, 0)
      } else if (oldGroup >= 0) {
        if (moved[oldGroup]! < 0) moved[oldGroup] = groups.internFrom(before!.groups, oldGroup)
        groupOf[i] = moved[oldGroup]!
        blocks.add(before!.blocks.bytes, before!.blocks.starts[old + 1]!, before!.blocks.starts[old + 2]!)
      } else {
        const entity = split(source, layout.labels[i]!)
        const block = dialect.point(entity.point, 'gauge')
        if (!hasTooMany(entity)) groupOf[i] = groupBytes(entity, groups)
        blocks.add(block, 0, block.length)
      }
    }
    const plannedComposites = planComposites(composites, {
      familyBytes,
      block: (entity, shape) => dialect.point(entity.point, shape),
      bounds: dialect.bounds,
      split: labels => split(source, labels),
      hasTooMany,
      groupOf: entity => groupBytes(entity, groups),
      groupCount: () => groups.count,
    })
    const { columns, starts } = order(layout, isPart, groupOf, groups.count)
    const tooMany = countUnplaced(layout, isPart, groupOf) + (plannedComposites?.leftOut ?? 0)
    blocks.trim(SLACK)
    blocks.starts = shareStarts(blocks.starts)
    const packed = groups.finish()
    const metrics = listOf(layout.metrics)
    const planned = patternTable?.plan({ layout, columns, starts, metrics, blocks, groups: packed })
    return {
      layout,
      groups: packed,
      groupOf: shareAscending(groupOf),
      columns,
      starts,
      metrics,
      blocks,
      isScaled: layout.scales.some(scale => scale !== ONE),
      patterns: planned?.patterns ?? [],
      patternOf: planned?.patternOf ?? new Uint8Array(groupCount(packed)).fill(NONE),
      composites: plannedComposites?.composites,
      leftOut: leftOutOf(tooMany, droppedSummaries),
    }
  }
}

const NOTHING = new Uint8Array(0)

function leftOutOf(attributes: number, summaries: number): ReadonlyMap<LeftOut, number> | undefined {
  if (attributes + summaries === 0) return undefined
  const leftOut = new Map<LeftOut, number>()
  if (attributes > 0) leftOut.set('attributes', attributes)
  if (summaries > 0) leftOut.set('summary', summaries)
  return leftOut
}

function usedLabels(layout: Layout, isPart: Uint8Array | undefined): Uint8Array {
  const isUsed = new Uint8Array(layout.labels.length)
  for (let column = 0; column < columnCount(layout); column++) {
    if (isPart === undefined || isPart[column] === 0) isUsed[layout.labelsOf[column]!] = 1
  }
  return isUsed
}

/** For each label set its number in the layout before, or -1. */
function labelsBefore(layout: Layout, before: Layout): Int32Array {
  const known = new Int32Array(layout.labels.length).fill(-1)
  if (layout.keptFrom?.id === before.id) {
    const { runs } = layout.keptFrom
    for (let run = 0; run < runs.length; run += 3) {
      for (let i = 0; i < runs[run + 2]!; i++) {
        known[layout.labelsOf[runs[run]! + i]!] = before.labelsOf[runs[run + 1]! + i]!
      }
    }
    return known
  }
  const numbers = new Map<Labels, number>(before.labels.map((labels, number) => [labels, number]))
  return known.map((_, i) => numbers.get(layout.labels[i]!) ?? -1)
}

/** By metric first and then by group, each time in one pass: counting is faster than comparing. */
function order(layout: Layout, isPart: Uint8Array | undefined, groupOf: Int32Array, groupCount: number) {
  const { metricOf, labelsOf } = layout
  const isSent = (column: number) =>
    (isPart === undefined || isPart[column] === 0) && groupOf[labelsOf[column]!]! !== NEVER
  const metricStarts = new Uint32Array(layout.metrics.length + 1)
  const starts = new Uint32Array(groupCount + 1)
  for (let column = 0; column < metricOf.length; column++) {
    if (!isSent(column)) continue
    metricStarts[metricOf[column]! + 1]!++
    starts[groupOf[labelsOf[column]!]! + 1]!++
  }
  accumulate(metricStarts)
  accumulate(starts)
  const byMetric = new Uint32Array(starts[groupCount]!)
  for (let column = 0; column < metricOf.length; column++) {
    if (isSent(column)) byMetric[metricStarts[metricOf[column]!]!++] = column
  }
  const columns = new Uint32Array(byMetric.length)
  const next = starts.slice()
  for (const column of byMetric) columns[next[groupOf[labelsOf[column]!]!]!++] = column
  // Of a cluster it has millions of bytes, which are free at once.
  byMetric.buffer.transfer(0)
  return { columns, starts }
}

function accumulate(counts: Uint32Array): void {
  for (let i = 1; i < counts.length; i++) counts[i]! += counts[i - 1]!
}

function countUnplaced(layout: Layout, isPart: Uint8Array | undefined, groupOf: Int32Array): number {
  let count = 0
  for (let column = 0; column < columnCount(layout); column++) {
    if ((isPart === undefined || isPart[column] === 0) && groupOf[layout.labelsOf[column]!] === NEVER) count++
  }
  return count
}
