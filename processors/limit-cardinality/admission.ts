/**
 * Which series of a source are let through. Who is in stays in for as long as it is there, so that a limit never takes a series away
 * that was there before; who comes later gets what room is left, in the order of the source.
 */
import type { Log } from '../../pipeline/component.ts'
import { compileColumns } from '../../pipeline/model/compile.ts'
import { carried } from '../../pipeline/model/carried.ts'
import { columnCount, seriesAt, type Layout } from '../../pipeline/model/layout.ts'
import type { Plan } from '../../pipeline/model/plan.ts'
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

export function createAdmission(budget: Budget, log: Log): Admission {
  const heldBySource = new Map<Source, Held>()
  /** Grows when there may be room again for those that had none. */
  let changes = 0

  function release({ layout, isIn, groups }: Held): void {
    isIn.forEach((flag, column) => budget.put(groups[layout.metricOf[column]!]!, flag === 1, -1))
  }

  function judge(layout: Layout, held: Held | undefined): Held {
    const before = held === undefined ? undefined : carried(held.layout, layout)
    const wasIn = Uint8Array.from({ length: columnCount(layout) }, (_, column) =>
      before === undefined || before[column]! < 0 ? 0 : held!.isIn[before[column]!]!,
    )
    if (held !== undefined) release(held)
    const groups = layout.metrics.map(({ family }) => budget.group(family))
    const isIn = seats(layout, groups, wasIn)
    const isSame = held?.layout === layout && isIn.every((flag, column) => flag === held.isIn[column])
    const refused = Uint32Array.from(isIn.keys().filter(column => isIn[column] === 0))
    const plan = isSame ? held.plan : planOf(layout, isIn, refused.length === 0, held)
    return { layout, plan, refused: isSame ? held.refused : refused, isIn, groups, seen: changes }
  }

  function seats(layout: Layout, groups: readonly Group[], wasIn: Uint8Array): Uint8Array {
    const leaders = leadersOf(layout)
    const sizes = new Uint32Array(leaders.length)
    leaders.forEach((leader, column) => {
      sizes[leader]!++
      if (wasIn[column] === 1) wasIn[leader] = 1
    })
    const isIn = new Uint8Array(leaders.length)
    for (const turn of [1, 0]) {
      leaders.forEach((leader, column) => {
        if (leader !== column || wasIn[column] !== turn) return
        if (budget.take(groups[layout.metricOf[column]!]!, sizes[column]!)) isIn[column] = 1
      })
    }
    return isIn.map((_, column) => isIn[leaders[column]!]!)
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
