/**
 * What an OTLP request for metrics says, whichever encoding it came in: told piece by piece, in order, so that nothing has to be made
 * of a point but what is kept of it.
 */
import type { AttributeValue } from '../model/origin.ts'

/**
 * Attributes as they are on the wire: records of a tag and a `KeyValue` one after the other. Equal bytes are equal attributes, so
 * whoever knows the bytes needs not read them again; `readAttributes` does. Valid until the call that it is given to returns.
 */
export type AttributeBytes = {
  bytes: Uint8Array
  view: DataView
  start: number
  end: number
}

export type ResourceParts = { readonly attributes: AttributeBytes; readonly schemaUrl: string }
export type ScopeParts = {
  readonly name: string
  readonly version: string
  readonly attributes: AttributeBytes
  readonly schemaUrl: string
}

export type MetricKind = 'gauge' | 'sum' | 'histogram' | 'exponential histogram' | 'summary'

/** 1 is delta, 2 cumulative; others are not specified. */
export const DELTA = 1
export const CUMULATIVE = 2

export type MetricParts = {
  readonly name: string
  readonly description: string
  readonly unit: string
  readonly kind: MetricKind
  readonly temporality: number
  readonly isMonotonic: boolean
  /** `prometheus.type` and the like. */
  readonly metadata: ReadonlyMap<string, AttributeValue>
}

/** What all points have. */
type Point = {
  readonly attributes: AttributeBytes
  /** Milliseconds since 1970; 0 where nobody says. */
  startMs: number
  timeMs: number
  flags: number
  exemplars: number
}

/** The bit of `flags` that says that the series is no more. */
export const NO_RECORDED_VALUE = 1

/** NaN is a value; `hasValue` is false where there is none. */
export type NumberPoint = Point & { value: number; hasValue: boolean }

/** A list that is used again; only the first `length` count. */
export type Numbers = { values: Float64Array; length: number }

export type HistogramPoint = Point & {
  count: number
  /** NaN where there is none; it may be NaN itself. */
  sum: number
  hasSum: boolean
  readonly bucketCounts: Numbers
  readonly bounds: Numbers
}

export type ExponentialPoint = Point & {
  count: number
  sum: number
  hasSum: boolean
  scale: number
  zeroCount: number
  zeroThreshold: number
  positiveOffset: number
  readonly positive: Numbers
  negativeOffset: number
  readonly negative: Numbers
}

export type SummaryPoint = Point & {
  count: number
  sum: number
  readonly quantiles: Numbers
  readonly values: Numbers
}

/**
 * Who is told. A metric belongs to the resource and scope that were told last, a point to the metric. All points of a kind are one
 * object that is used again: what is kept of it is copied.
 */
export type MetricsSink = {
  scope(resource: ResourceParts, scope: ScopeParts): void
  metric(metric: MetricParts): void
  number(point: NumberPoint): void
  histogram(point: HistogramPoint): void
  exponential(point: ExponentialPoint): void
  summary(point: SummaryPoint): void
}

export function createNumbers(): Numbers {
  return { values: new Float64Array(16), length: 0 }
}

export function addNumber(numbers: Numbers, value: number): void {
  if (numbers.length === numbers.values.length) {
    const grown = new Float64Array(numbers.length * 2)
    grown.set(numbers.values)
    numbers.values = grown
  }
  numbers.values[numbers.length++] = value
}

const NO_BYTES = new Uint8Array(0)

export function noAttributes(): AttributeBytes {
  return { bytes: NO_BYTES, view: new DataView(NO_BYTES.buffer), start: 0, end: 0 }
}

function createPoint(): Point {
  return { attributes: noAttributes(), startMs: 0, timeMs: 0, flags: 0, exemplars: 0 }
}

export function createNumberPoint(): NumberPoint {
  return { ...createPoint(), value: 0, hasValue: false }
}

export function createHistogramPoint(): HistogramPoint {
  return { ...createPoint(), count: 0, sum: NaN, hasSum: false, bucketCounts: createNumbers(), bounds: createNumbers() }
}

export function createExponentialPoint(): ExponentialPoint {
  return {
    ...createPoint(),
    count: 0,
    sum: NaN,
    hasSum: false,
    scale: 0,
    zeroCount: 0,
    zeroThreshold: 0,
    positiveOffset: 0,
    positive: createNumbers(),
    negativeOffset: 0,
    negative: createNumbers(),
  }
}

export function createSummaryPoint(): SummaryPoint {
  return { ...createPoint(), count: 0, sum: 0, quantiles: createNumbers(), values: createNumbers() }
}

export function clearPoint(point: Point): void {
  point.startMs = 0
  point.timeMs = 0
  point.flags = 0
  point.exemplars = 0
  point.attributes.start = point.attributes.end = 0
}
