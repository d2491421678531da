/** What label processors are, and how the pipeline turns them into plans that only move numbers. */
import type { Labels } from './labels.ts'
import type { Layout } from './layout.ts'
import type { Scale } from './scale.ts'
import type { Metric, Series } from './series.ts'
import type { Entry } from './tracked.ts'

/**
 * What a label processor makes of one series. `scale` leads from the incoming value to the outgoing one; `range` is in the
 * outgoing unit, and a value outside is dropped and counted. When several incoming series become one, `fold` says what counts:
 * the largest, or the first that has a sample (the default).
 */
export type Mapped = Series & { readonly scale?: Scale; readonly range?: Range; readonly fold?: Fold }
export type Range = { readonly min: number; readonly max: number }
export type Fold = 'first' | 'max'

/** What a label processor may look at besides the series itself. */
export type Around = {
  /** The layout that the series is in. */
  readonly layout: Layout
  /** Reads metadata and remembers that it did: when the entry changes, the function runs again for the series concerned. */
  look<V>(entry: Entry<V>): V | undefined
}

/**
 * The pure function that a label processor is. What it looks at decides how often it runs: by labels once per label set (per GPU,
 * not per field), by metric once per metric, by series once per series. A function that reads `around.layout` runs again for all
 * series of a source whenever that source's layout changes, so it says so.
 */
export type SeriesMap =
  | { readonly by: 'labels'; map(labels: Labels, around: Around): Labels | undefined }
  | { readonly by: 'metric'; map(metric: Metric, around: Around): readonly Omit<Mapped, 'labels'>[] }
  | {
      readonly by: 'series'
      readonly readsLayout?: boolean
      map(series: Series, around: Around): readonly Mapped[]
    }
