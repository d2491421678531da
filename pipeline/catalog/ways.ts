/** From the metrics of one generation to those of a later one, over as many steps as it takes. */
import { combine, ONE, type Scale } from '../model/scale.ts'
import { namesIntroduced, type Generation, type LegacyRow, type Shape } from './generation.ts'
import type { LegacyMetric } from './legacy-schema.ts'
import { scaleBetween } from './units.ts'

/** A row over several generations. */
export type Way = Omit<LegacyRow, 'said'> &
  Pick<LegacyMetric, 'help' | 'beside' | 'unverified' | 'reason' | 'computed' | 'fixed' | 'successors'> & {
    /** By shape. */
    readonly scales: readonly Scale[]
  }

/** All that differs between a generation and a later one, in one step. */
export function waysBetween(from: Generation, to: Generation): readonly Way[] {
  const own = [...from.rows.values()].map(wayOf)
  const next = from.next!
  if (next.name === to.name) return own
  const later = waysBetween(next, to)
  const byName = new Map(later.map(way => [way.name, way]))
  const introduced = namesIntroduced(from.rows, from.added)
  const carried = later.filter(({ name }) => !introduced.has(name) && !from.rows.has(name))
  return [...own.map(way => joined(way, byName.get(way.becomes ?? ''))), ...carried.map(usualOnly)]
}

function wayOf({ said, ...row }: LegacyRow): Way {
  const scales = row.shapes.map(({ unit }) => scaleBetween(unit, row.newUnit) ?? ONE)
  const { help, beside, unverified, reason, computed, fixed, successors } = said
  return {
    ...row,
    scales,
    beside,
    unverified,
    fixed,
    successors,
    ...(help !== undefined && { help }),
    ...(reason !== undefined && { reason }),
    ...(computed !== undefined && { computed }),
  }
}

/** First one way, then the other. */
function joined(first: Way, second: Way | undefined): Way {
  if (first.becomes === undefined || second === undefined) return first
  const { becomes, newUnit, reason, computed } = second
  return {
    ...first,
    becomes,
    newUnit,
    scales: first.scales.map(scale => combine(scale, second.scales[0]!)),
    shapes: first.shapes.map(shape => ({ ...shape, labels: shape.labels ?? second.shapes[0]!.labels })),
    fixed: { ...second.fixed, ...first.fixed },
    successors: { ...second.successors, ...first.successors },
    status: second.status === 'removed' || second.status === 'duplicate' ? second.status : first.status,
    unverified: first.unverified || second.unverified,
    ...(reason !== undefined && { reason }),
    ...(computed !== undefined && { computed }),
  }
}

/** The variants of a later generation are no matter of this one. */
function usualOnly(way: Way): Way {
  return { ...way, shapes: way.shapes.slice(0, 1), scales: way.scales.slice(0, 1) }
}

/** The shapes of a way with their scales, the one that was asked for first. */
export function preferred({ shapes, scales }: Way, variant: string | undefined): [Shape, Scale][] {
  const all = shapes.map((shape, i): [Shape, Scale] => [shape, scales[i]!])
  const at = all.findIndex(([shape]) => shape.variant === variant)
  return at <= 0 ? all : [all[at]!, ...all.filter((_, i) => i !== at)]
}
