/** The whole of an exposition in the order of its lines; the same for as long as no layout changes. */
import { describeFamilies, type Conflict } from './render-headers.ts'
import type { Syntax } from './render-families.ts'
import type { ShownMetric } from './render-metrics.ts'
import { groupingOf, type Prepared } from './render-prepared.ts'
import type { Grouping } from './render-order.ts'
import { pause, type Work } from './render-work.ts'

export type Plan = {
  readonly members: readonly Prepared[]
  readonly groupings: readonly Grouping[]
  /** By name. */
  readonly families: readonly PlannedFamily[]
  readonly conflicts: readonly Conflict[]
}

/** `segments` are pairs: a member's number, and that of its group. */
export type PlannedFamily = { readonly header: Buffer; readonly segments: Uint32Array }

export function* makePlan(members: readonly Prepared[], metrics: Iterable<ShownMetric>, syntax: Syntax): Work<Plan> {
  const { sorted, familyOf, conflicts } = describeFamilies(metrics, syntax)
  const segments = new Map(sorted.map(family => [family, [] as number[]]))
  const groupings: Grouping[] = []
  for (const [number, member] of members.entries()) {
    const grouping = yield* groupingOf(member, syntax)
    groupings.push(grouping)
    for (const [group, shown] of grouping.metrics.entries()) segments.get(familyOf.get(shown)!)!.push(number, group)
    if ((number & 0xff) === 0xff) yield pause
  }
  const families = sorted.map(family => ({
    header: family.header,
    segments: Uint32Array.from(segments.get(family)!),
  }))
  return { members, groupings, families, conflicts }
}
