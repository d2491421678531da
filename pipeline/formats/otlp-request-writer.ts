/** Writes points of requests. Whoever walks a plan opens a group and a metric before its points and closes them after. */
import type { ByteArena } from './byte-arena.ts'
import type { MetricBytes } from './otlp-dialect.ts'
import type { Groups } from './otlp-groups.ts'
import type { Shape } from './otlp-metric.ts'
import type { Bounds } from './otlp-planned-composites.ts'

export type RequestWriter = {
  /** Bytes of what is written and closed, and of points that are written. */
  readonly length: number
  /** More than a number without its attributes can take. */
  readonly numberBytes: number
  /** The same for what is around each bound of a histogram or each quantile. */
  readonly partBytes: number
  openGroup(groups: Groups, group: number): void
  openMetric(metric: MetricBytes): void
  /** `startMs` is NaN where there is none. Attributes are string `block` of `blocks`. */
  number(blocks: ByteArena, block: number, value: number, timeMs: number, startMs: number): void
  histogram(blocks: ByteArena, block: number, point: HistogramPoint, timeMs: number, startMs: number): void
  summary(blocks: ByteArena, block: number, point: SummaryPoint, timeMs: number, startMs: number): void
  /** The point that says that a series has ended. */
  ended(blocks: ByteArena, block: number, shape: Shape, timeMs: number): void
  closeMetric(): void
  closeGroup(): void
  /** All points that are written so far stand before those that come. */
  endBatch(): void
  /** The request, and nothing of it is left. */
  take(): Uint8Array
}

/** Whoever fills one uses it again for the next. */
export type HistogramPoint = {
  count: number
  /** NaN if there is none. */
  sum: number
  bounds: Bounds
  /** How many are in each bucket; there is one more than bounds. Not looked at where there are no bounds. */
  buckets: Float64Array
}

export type SummaryPoint = {
  count: number
  sum: number
  quantiles: Float64Array
  values: Float64Array
  /** How many of these are there. */
  length: number
}
