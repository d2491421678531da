/** What is made once for a layout, so that showing it again is a matter of numbers. */
import type { Layout } from '../model/layout.ts'
import { ONE } from '../model/scale.ts'
import type { Syntax } from './render-families.ts'
import type { LabelTable } from './render-labels.ts'
import type { MetricGroups, MetricList } from './render-metrics.ts'
import { groupColumns, type Grouping } from './render-order.ts'
import type { Work } from './render-work.ts'

export type Prepared = {
  readonly layout: Layout
  readonly table: LabelTable
  /** Parts of the layout and the table that are read for each line: from here they are nearer. */
  readonly labelsOf: Uint32Array
  readonly starts: Int32Array
  readonly parts: Uint16Array
  readonly blocks: DataView
  /** Whether any of its columns has a scale that is still to be applied. */
  readonly isScaled: boolean
  readonly metrics: MetricList
  /** Made when somebody asks for the syntax. */
  readonly groupings: { [S in Syntax]?: { readonly groups: MetricGroups; readonly grouping: Grouping } }
}

export function prepare(layout: Layout, table: LabelTable, metrics: MetricList): Prepared {
  return {
    layout,
    table,
    labelsOf: layout.labelsOf,
    starts: table.blocks.starts,
    parts: table.blocks.parts,
    blocks: table.blocks.bytes,
    isScaled: layout.scales.some(scale => scale !== ONE),
    metrics,
    groupings: {},
  }
}

export function* groupingOf({ layout, groupings }: Prepared, syntax: Syntax, groups: MetricGroups): Work<Grouping> {
  const known = groupings[syntax]
  if (known?.groups === groups) return known.grouping
  const grouping = yield* groupColumns(layout, groups)
  groupings[syntax] = { groups, grouping }
  return grouping
}
