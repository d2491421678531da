/** Finds what was probably meant: the live series next to one that is missing, and what is different about it. */
import { closest } from '../config/closest.ts'
import { getLabel, type Labels } from '../model/labels.ts'
import type { ExpectedSample } from './expected-text.ts'
import type { Live, LiveSeries } from './live-series.ts'
import type { Selector } from '../relabel/selector.ts'
import { labelText } from './series-text.ts'

/** How many candidates are looked at for each missing series: a layout that changed as a whole has thousands. */
const MAX_CANDIDATES = 500
/** More than these and it is another series, not the same one with a slip. */
const MAX_LABELS = 2

/** Each in words, for a note. */
export function createRelatives(missing: readonly ExpectedSample[], live: Live, isExpected: ReadonlySet<string>) {
  if (missing.length === 0) return { nearest: () => undefined }
  const byName = Map.groupBy(live.values(), ({ name }) => name)
  const names = [...byName.keys()]

  function nearest({ name, labels }: ExpectedSample): string | undefined {
    const sameName = byName.get(name)
    if (sameName === undefined) {
      const like = closest(name, names)
      return like === undefined ? `there is no ${name} at all` : `there is no ${name} at all, but ${like}`
    }
    // One that nobody expects is what this one became.
    const candidates = sameName.toSorted((a, b) => Number(isExpected.has(a.text)) - Number(isExpected.has(b.text)))
    let best: readonly string[] | undefined
    for (const candidate of candidates.slice(0, MAX_CANDIDATES)) {
      const changes = labelChanges(labels, candidate.labels)
      if (changes.length < (best?.length ?? MAX_LABELS + 1)) best = changes
    }
    return best === undefined ? undefined : `the nearest has ${best.join(' and ')}`
  }
  return { nearest }
}

function labelChanges(expected: Labels, got: Labels): string[] {
  const changes: string[] = []
  for (const label of new Set([...expected.names, ...got.names])) {
    const before = getLabel(expected, label)
    const after = getLabel(got, label)
    if (before === after) continue
    changes.push(after === undefined ? `no ${label}` : labelText(label, after))
  }
  return changes
}

/** For a selector that selects nothing. */
export function nearestUnmet(selector: Selector, live: Live): string {
  let best: { series: LiveSeries; unmet: ReturnType<Selector['unmet']> } | undefined
  for (const series of live.values()) {
    const unmet = selector.unmet(series.name, series.labels)
    if (best === undefined || unmet.length < best.unmet.length) best = { series, unmet }
  }
  if (best === undefined) return 'there is no series of this name'
  const { series, unmet } = best
  const labels = [...new Set(unmet.map(({ label }) => label))].map(label => {
    const value = getLabel(series.labels, label)
    return value === undefined ? `no ${label}` : labelText(label, value)
  })
  return `the nearest has ${labels.join(' and ')}`
}
