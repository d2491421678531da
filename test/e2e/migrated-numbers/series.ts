/** Series of a cluster in two vocabularies, in OpenMetrics with times, for two Prometheus to be filled with. */
import { applyScale, inverse } from '../../../pipeline/model/scale.ts'
import type { MetricChange, Vocabulary } from '../../../pipeline/migrate/vocabulary.ts'

export const START_SECONDS = 1_700_000_000
const STEP_SECONDS = 60
const SAMPLES = 120
/** When questions are asked. */
export const END_SECONDS = START_SECONDS + STEP_SECONDS * (SAMPLES - 1)
/** Of the older unit or the newer: whole numbers in the coarser of the two, as exporters have them. */
const VALUES = [0, 5, 7, 28, 29, 55, 57, 58, 90, 100]

type Line = {
  readonly metric: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
  readonly at: number
}

/** One old metric for each new one, so that nothing is there twice. */
export function comparableChanges({ changes }: Vocabulary): MetricChange[] {
  const taken = new Set<string>()
  return [...changes.values()].flatMap(([change]) => {
    const { to, match } = change!
    if (to === undefined || taken.has(to) || Object.keys(match).length > 0) return []
    if (to !== change!.name && changes.has(to)) return []
    taken.add(to)
    return [change!]
  })
}

/** The same numbers in the names of before and of after. */
export function seriesOf(changes: readonly MetricChange[], side: 'before' | 'after'): string {
  const lines = [...changes.flatMap(change => linesOf(change, side)), ...otherLines('foo'), ...otherLines('up')]
  const byMetric = Map.groupBy(lines, ({ metric }) => metric)
  const parts = [...byMetric].map(([metric, its]) => `# TYPE ${metric} unknown\n${its.map(textOf).join('')}`)
  return `${parts.join('')}# EOF\n`
}

function linesOf(
  { name, to, labels, hasKnownLabels, added, fixed, scale }: MetricChange,
  side: 'before' | 'after',
): Line[] {
  const lines: Line[] = []
  for (let series = 0; series < 4; series++) {
    // By `row` series stay apart whatever an expression does to the rest.
    const own: Record<string, string> = {
      clusterId: 'a',
      node: `node-${series % 2}`,
      gpu: String(series),
      row: `r${series}`,
    }
    // What is a label by its new name was none before.
    for (const { to: newer } of labels.values()) if (newer !== undefined) delete own[newer]
    // What a metric only may have is had by some.
    for (const [label, change] of labels) {
      if (!hasKnownLabels && series % 2 === 0) continue
      const isName = !change.hasSameValues && change.isId !== true
      // Names that become others tell other series apart than they did; ids tell the same ones apart.
      if (side === 'before') own[label] = `${label}-${isName ? series % 2 : series}`
      else if (change.to !== undefined && isName) own[change.to] = `new-${label}-${series >> 1}`
      else if (change.to !== undefined) own[change.to] = `${change.hasSameValues ? '' : 'new-'}${label}-${series}`
    }
    if (side === 'after') {
      for (const label of added) own[label] = `${label}-${series}`
      Object.assign(own, fixed)
    }
    for (let i = 0; i < SAMPLES; i++) {
      const coarse = VALUES[(i * 3 + series * 7 + name.length) % VALUES.length]!
      // The finer unit has the larger numbers.
      const old = scale.multiply >= scale.divide ? coarse : applyScale(coarse, inverse(scale))
      const value = side === 'before' ? old : applyScale(old, scale)
      lines.push({ metric: side === 'before' ? name : to!, labels: own, value, at: START_SECONDS + i * STEP_SECONDS })
    }
  }
  return lines
}

function otherLines(metric: string): Line[] {
  const samples = Array.from({ length: SAMPLES }, (_, i) => i)
  return ['node-0', 'node-1'].flatMap((node, series) =>
    samples.map(i => ({
      metric,
      labels: { node, clusterId: 'a' },
      value: (i * 5 + series) % 60,
      at: START_SECONDS + i * STEP_SECONDS,
    })),
  )
}

function textOf({ metric, labels, value, at }: Line): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${text}"`)
  return `${metric}{${pairs.join(',')}} ${value} ${at}\n`
}
