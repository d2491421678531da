/**
 * Which series of a source are let through. Who is in stays in for as long as it is there, so that a limit never takes a series away
 * that was there before; who comes later gets what room is left, in the order of the source.
 */
import type { Log } from '../../pipeline/component.ts'
import { compileColumns } from '../../pipeline/model/compile.ts'
import { carried } from '../../pipeline/model/carried.ts'
import { columnCount, seriesAt, type Layout } from '../../pipeline/model/layout.ts'
import { columnsOf, type Plan } from '../../pipeline/model/plan.ts'
import type { Source } from '../../pipeline/model/batch.ts'
import type { Budget, Group } from './budget.ts'
import { leadersOf } from './parts.ts'

export type Admitted = {
  readonly layout: Layout
  readonly plan: Plan
  /** Columns that are over a limit, ascending. */
  readonly refused: Uint32Array
}

type Held = Admitted & { readonly isIn: Uint8Array; readonly groups: readonly Group[]; seen: number }

export type Admission = {
  /** The verdict on a layout: the same object as long as nothing changes. */
  admit(source: Source, layout: Layout): Admitted
  forget(source: Source): void
}

const NO_COLUMNS = new Uint32Array(0)

export function createAdmission(budget: Budget, log: Log): Admission {
  const heldBySource = new Map<Source, Held>()
  /** Grows when there may be room again for those that had none. */
  let changes = 0

  function release({ layout, isIn, groups }: Held): void {
    for (let column = 0; column < isIn.length; column++) {
      budget.put(groups[layout.metricOf[column]!]!, isIn[column] === 1, -1)
    }
  }

  function judge(layout: Layout, held: Held | undefined): Held {
    const wasIn = new Uint8Array(columnCount(layout))
    if (held !== undefined) {
      const before = carried(held.layout, layout)
      for (let column = 0; column < wasIn.length; column++) wasIn[column] = held.isIn[before[column]!] ?? 0
      release(held)
    }
    const groups = layout.metrics.map(({ family }) => budget.group(family))
    const isIn = seats(layout, groups, wasIn)
    const isSame = held?.layout === layout && isIn.every((flag, column) => flag === held.isIn[column])
    const refused = columnsOf(isIn.map(flag => 1 - flag)) ?? NO_COLUMNS
    const plan = isSame ? held.plan : planOf(layout, isIn, refused.length === 0, held)
    return { layout, plan, refused: isSame ? held.refused : refused, isIn, groups, seen: changes }
  }

  function seats(layout: Layout, groups: readonly Group[], wasIn: Uint8Array): Uint8Array {
    const leaders = leadersOf(layout)
    const sizes = new Uint32Array(leaders.length)
    for (let column = 0; column < leaders.length; column++) {
      const leader = leaders[column]!
      sizes[leader]!++
      if (wasIn[column] === 1) wasIn[leader] = 1
    }
    const isIn = new Uint8Array(leaders.length)
    for (const turn of [1, 0]) {
      for (let column = 0; column < leaders.length; column++) {
        if (leaders[column] !== column || wasIn[column] !== turn) continue
        if (budget.take(groups[layout.metricOf[column]!]!, sizes[column]!)) isIn[column] = 1
      }
    }
    for (let column = 0; column < leaders.length; column++) isIn[column] = isIn[leaders[column]!]!
    return isIn
  }

  return {
    admit(source, layout) {
      const held = heldBySource.get(source)
      if (held?.layout === layout && (held.refused.length === 0 || held.seen === changes)) return held
      if (held?.layout !== layout) changes++
      const judged = judge(layout, held)
      heldBySource.set(source, judged)
      budget.report(log)
      return judged
    },
    forget(source) {
      const held = heldBySource.get(source)
      if (held === undefined) return
      heldBySource.delete(source)
      changes++
      release(held)
      budget.report(log)
    },
  }
}

function planOf(layout: Layout, isIn: Uint8Array, isAll: boolean, held: Held | undefined): Plan {
  if (isAll) return { input: layout, output: layout }
  return compileColumns(
    layout,
    column => (isIn[column] === 1 ? [seriesAt(layout, column)] : []),
    held?.plan,
    (column, previous) => isIn[column] !== held!.isIn[previous],
  ).plan
}
