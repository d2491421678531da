/** What a label processor is: a pure function on series. The pipeline turns it into plans; its author writes nothing else. */
import type { Source } from './batch.ts'
import type { Labels } from './labels.ts'
import type { Layout } from './layout.ts'
import type { Scale } from './scale.ts'
import type { Metric, Series } from './series.ts'
import type { Entry } from './tracked.ts'

/**
 * What a label processor makes of one series. `scale` leads from the incoming value to the outgoing one; `range` is in the
 * outgoing unit, and a value outside (NaN is outside every range) is dropped and counted. When several incoming series become
 * one, `fold` says which sample counts: the largest, or the first that is there. Without `fold` the first counts too, and the
 * others are counted as duplicates.
 */
export type Mapped = Series & { readonly scale?: Scale; readonly range?: Range; readonly fold?: Fold }
export type MappedMetric = Omit<Mapped, 'labels'>
export type Range = { readonly min: number; readonly max: number }
export type Fold = 'first' | 'max'

/** Reads metadata and remembers that it did: when the entry changes, the function runs again for the series concerned. */
export type Look = <V>(entry: Entry<V>) => V | undefined

/**
 * What the function looks at decides how often it runs: by labels once per label set (per GPU, not per field), by metric once
 * per metric, by series once per series. By context is for those that look at more than the series: `context` says what the
 * function takes from a layout as a whole, and as long as it gives the same object, only new series are looked at. A context that
 * is the layout itself has all series looked at whenever that changes.
 */
export type SeriesMap =
  | { readonly by: 'labels'; map(labels: Labels, look: Look): Labels | undefined }
  | { readonly by: 'metric'; map(metric: Metric, look: Look): readonly MappedMetric[] }
  | {
      readonly by: 'series'
      map(series: Series, look: Look): readonly Mapped[]
      /** What it remembers of series that it was asked about is needed no more: the next ones are of another source. */
      forget?(): void
    }
  | {
      readonly by: 'context'
      /** Asked once for each new layout of a source. */
      context(layout: Layout, source: Source): object
      map(series: Series, look: Look, context: object): readonly Mapped[]
    }
