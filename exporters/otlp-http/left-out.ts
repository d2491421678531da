/** Points that are not sent, as operators see them: counts always, a line when a reason is new. */
import type { Host } from '../../pipeline/component.ts'
import type { LeftOut } from '../../pipeline/formats/otlp-encode-plan.ts'

/** Without one nothing is lost, so that nothing is said. */
const REASONS: Readonly<Record<LeftOut, string | undefined>> = {
  attributes: 'they have more attributes than max_attributes',
  summary: 'the destination takes no summaries',
  'not a number': 'their value is no number or infinite',
  histogram: 'their buckets or counts are missing or no counts',
  size: 'one alone is larger than max_bytes',
  repeated: undefined,
}

export function createLeftOut({ counters, log }: Pick<Host, 'counters' | 'log'>) {
  const points = new Map<LeftOut, number>()
  const said = new Set<LeftOut>()
  return {
    add: (reason: LeftOut, count: number): void => void points.set(reason, (points.get(reason) ?? 0) + count),
    /** Counting costs more than a point does, so it is done once for a batch. */
    report(): void {
      if (points.size === 0) return
      for (const [reason, count] of points) {
        counters.add('gpucol_exporter_left_out_metric_points', count, { reason })
        const why = REASONS[reason]
        if (why !== undefined && !said.has(reason)) log.warn(`points are left out: ${why}`, { points: count })
        said.add(reason)
      }
      points.clear()
    },
  }
}
