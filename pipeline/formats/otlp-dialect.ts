/** What an encoding of OTLP has to say about texts, once for a plan; numbers are a matter of its writer. */
import type { Attribute, Scope } from './otlp-entity.ts'
import type { OtlpMetric, Shape } from './otlp-metric.ts'

export type Dialect = {
  /** The beginning of what a resource has: all but its scopes. */
  resource(attributes: readonly Attribute[], schemaUrl: string): Uint8Array
  /** The beginning of what a scope has: all but its metrics. */
  scope(scope: Scope): Uint8Array
  /** The attributes of a point, as they stand in it. */
  point(attributes: readonly Attribute[], shape: Shape): Uint8Array
  metric(metric: OtlpMetric): MetricBytes
  bounds(bounds: readonly number[]): Uint8Array
}

/** What stands around the points of a metric. */
export type MetricBytes = {
  readonly shape: Shape
  /** Some bytes stand before and after `head`, for whoever copies in strides. */
  readonly head: DataView
  readonly headStart: number
  readonly headEnd: number
  readonly tail: Uint8Array
}

/** How far before or beyond a block whoever copies in strides reaches at most. */
export const SLACK = 32

export function metricBytes(shape: Shape, head: Uint8Array, tail: Uint8Array): MetricBytes {
  const padded = new Uint8Array(SLACK + head.length + SLACK)
  padded.set(head, SLACK)
  return { shape, head: new DataView(padded.buffer), headStart: SLACK, headEnd: SLACK + head.length, tail }
}
