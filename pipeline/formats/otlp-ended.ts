/** What a source no longer has: the difference of two layouts, as points of the plan of the first. */
import { carried } from '../model/carried.ts'
import type { Labels } from '../model/labels.ts'
import { columnCount, labelsAt, metricAt, type Layout } from '../model/layout.ts'
import type { EncodePlan } from './otlp-encode-plan.ts'

/** By column, and by histogram or summary: 1 if it goes on. */
export type GoesOn = { readonly columns: Uint8Array; readonly composites: Uint8Array }

export function goesOn(before: EncodePlan, after: EncodePlan | undefined): GoesOn {
  const columns = after === undefined ? new Uint8Array(columnCount(before.layout)) : stayed(before.layout, after.layout)
  return { columns, composites: compositesThatStay(before, after, columns) }
}

function stayed(before: Layout, after: Layout): Uint8Array {
  const stays = new Uint8Array(columnCount(before))
  const from = carried(before, after)
  const fresh: number[] = []
  from.forEach((old, column) => {
    if (old >= 0) stays[old] = 1
    else fresh.push(column)
  })
  if (fresh.length === 0 || !stays.includes(0)) return stays
  // A series that is described differently is new in the layout, and yet it has not ended.
  const names = new Map<Labels, Set<string>>()
  for (const column of fresh) {
    const labels = labelsAt(after, column)
    let known = names.get(labels)
    if (known === undefined) names.set(labels, (known = new Set()))
    known.add(metricAt(after, column).name)
  }
  for (let old = 0; old < stays.length; old++) {
    if (stays[old] === 0 && names.get(labelsAt(before, old))?.has(metricAt(before, old).name) === true) stays[old] = 1
  }
  return stays
}

/** A histogram goes on while it has any of its columns, or one in their place: bounds may change. */
function compositesThatStay(before: EncodePlan, after: EncodePlan | undefined, columns: Uint8Array): Uint8Array {
  const { composites } = before
  if (composites === undefined) return new Uint8Array(0)
  const { counts, sums, totals, parts, partStarts, bounds, boundsOf, families, labels } = composites
  const stays = Uint8Array.from(counts, (_, i) => {
    const some = [counts[i]!, sums[i]!, totals[i]!].some(column => column >= 0 && columns[column] === 1)
    const end = partStarts[i]! + bounds[boundsOf[i]!]!.values.length
    return Number(some || parts.subarray(partStarts[i]!, end).some(column => columns[column] === 1))
  })
  if (after?.composites === undefined || !stays.includes(0)) return stays
  const there = new Map<Labels, Set<string>>()
  after.composites.labels.forEach((one, i) => {
    let known = there.get(one)
    if (known === undefined) there.set(one, (known = new Set()))
    known.add(after.composites!.families[i]!)
  })
  return stays.map((stay, i) => Number(stay === 1 || there.get(labels[i]!)?.has(families[i]!) === true))
}
