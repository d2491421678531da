/** Selectors as processors have them in their configs: a list, of which one must select a series. */
import type { Problem } from '../component.ts'
import type { SeriesMap } from '../model/label-processor.ts'
import { EMPTY_LABELS, getLabel, type Labels } from '../model/labels.ts'
import { metricFrom, type Metric, type Series } from '../model/series.ts'
import { NAME, parseSelector, type Condition } from './selector.ts'

/** The field of a config that takes selectors, for schemas. */
export function selectors<const D extends string>(description: D) {
  return { type: 'array', items: { type: 'string' }, default: [], description } as const
}

/** What the verdict on a series depends on. */
export type Looks = 'labels' | 'metric' | 'series'

export type SeriesSelector = {
  readonly looks: Looks
  selects(series: Series): boolean
}

/**
 * A name selects a family, too: `lat` stands for `lat_bucket`, `lat_sum` and `lat_count`, so that a histogram is not torn apart by
 * whoever names it. `lat_bucket` stands for itself.
 */
export function compileSelectors(texts: readonly string[]): SeriesSelector {
  const all = texts.map(text => parseSelector(text).conditions)
  const looks = all.flat().map(({ label }) => label === NAME)
  return {
    looks: looks.every(isName => isName) ? 'metric' : looks.some(isName => isName) ? 'series' : 'labels',
    selects: ({ metric, labels }) => all.some(conditions => conditions.every(one => meets(one, metric, labels))),
  }
}

/** The wider of two. */
export function looksAt(a: Looks, b: Looks): Looks {
  return a === b ? a : 'series'
}

function meets(condition: Condition, { name, family }: Metric, labels: Labels): boolean {
  const { label, isNegative, accepts } = condition
  if (label !== NAME) return accepts(getLabel(labels, label) ?? '')
  return isNegative ? accepts(name) && accepts(family) : accepts(name) || accepts(family)
}

export function checkSelectors(texts: readonly string[], path: readonly (string | number)[]): Problem[] {
  return texts.flatMap((text, i) => {
    try {
      parseSelector(text)
      return []
    } catch (error) {
      return [{ path: [...path, i], message: `bad selector: ${(error as Error).message}` }]
    }
  })
}

const NO_METRIC = metricFrom({ name: '' })

/** A processor that keeps series or drops them, looking at no more than it has to. */
export function keepSeries(looks: Looks, isKept: (series: Series) => boolean): SeriesMap {
  switch (looks) {
    case 'labels':
      return { by: 'labels', map: labels => (isKept({ metric: NO_METRIC, labels }) ? labels : undefined) }
    case 'metric':
      return { by: 'metric', map: metric => (isKept({ metric, labels: EMPTY_LABELS }) ? [{ metric }] : []) }
    case 'series':
      return { by: 'series', map: series => (isKept(series) ? [series] : []) }
  }
}
