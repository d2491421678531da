/** Writes points of requests. Whoever walks a plan opens a group and a metric before its points and closes them after. */
import type { ByteArena } from './byte-arena.ts'
import type { MetricBytes } from './otlp-dialect.ts'
import type { Groups } from './otlp-groups.ts'
import type { Shape } from './otlp-metric.ts'
import type { Pattern } from './otlp-patterns.ts'
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
  /** The numbers of the next point: a call with doubles would have to make an object of each. */
  readonly next: Float64Array
  /** Attributes are string `block` of `blocks`. */
  number(blocks: ByteArena, block: number): void
  histogram(blocks: ByteArena, block: number, point: HistogramPoint, timeMs: number, startMs: number): void
  summary(blocks: ByteArena, block: number, point: SummaryPoint, timeMs: number, startMs: number): void
  /** The point that says that a number has ended. */
  ended(blocks: ByteArena, block: number, shape: Shape, timeMs: number): void
  closeMetric(): void
  closeGroup(): void
  /** Of an encoding that has patterns. */
  readonly patterns?: PatternWriter
  /** The request. Its bytes are written over by the next one. */
  take(): Uint8Array
  /** What was taken stays as it is, and what comes next is written into other memory. */
  readonly keep?: (instead: ArrayBuffer) => void
}

export type PatternWriter = {
  /** A whole group of numbers, all with attributes `block` and the time that is in `next`. */
  group(pattern: Pattern, groups: Groups, group: number, blocks: ByteArena, block: number, values: Float64Array): void
}

/** Places in `next`. The start is NaN where there is none. */
export const VALUE = 0
export const TIME_MS = 1
export const START_MS = 2

/** Whoever fills one uses it again for the next. */
export type HistogramPoint = {
  /** It is the one that says that the histogram has ended: numbers are nothing, bounds are those that it had. */
  isEnded: boolean
  count: number
  hasSum: boolean
  sum: number
  bounds: Bounds
  /** How many are in each bucket; there is one more than bounds. Not looked at where there are no bounds. */
  buckets: Float64Array
}

export type SummaryPoint = {
  isEnded: boolean
  count: number
  sum: number
  quantiles: Float64Array
  values: Float64Array
  /** How many of these are there. */
  length: number
}
