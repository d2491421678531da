/**
 * What a metric becomes in OTLP, by the rules of OpenTelemetry for Prometheus data (compatibility/prometheus_and_openmetrics):
 *
 * | type                | OTLP                                                                      |
 * | ------------------- | ------------------------------------------------------------------------- |
 * | counter             | monotonic sum                                                             |
 * | gauge, unknown      | gauge                                                                     |
 * | info, stateset      | sum that is not monotonic                                                 |
 * | up-down counter     | the same, as it came                                                      |
 * | histogram, summary  | put together from `_bucket`, quantiles, `_sum` and `_count`               |
 * | gaugehistogram      | its parts as gauges, each by its own name: OTLP has nothing for the whole |
 *
 * Names stay as they are, `_total` included. Where the type in OTLP does not tell what it was, metadata does (`prometheus.type`).
 */
import type { Metric, MetricType } from '../model/series.ts'
import { cut, metricName, type NameRules } from './otlp-names.ts'
import { ucumUnit } from './otlp-units.ts'

export const DELTA = 1
export const CUMULATIVE = 2

export type Shape = 'gauge' | 'sum' | 'histogram' | 'summary'

export type OtlpMetric = {
  readonly name: string
  readonly description: string
  readonly unit: string
  readonly shape: Shape
  readonly isMonotonic: boolean
  /** Of sums and histograms. */
  readonly temporality: typeof DELTA | typeof CUMULATIVE
  /** What it was, where the shape does not say. */
  readonly prometheusType?: MetricType
}

/** What a series is of the histogram or summary of its family; a value by itself if it is none of it. */
export type Role = 'value' | 'bucket' | 'quantile' | 'sum' | 'count'

export function roleOf({ name, family, type }: Metric): Role {
  if (type !== 'histogram' && type !== 'summary') return 'value'
  if (name === `${family}_count`) return 'count'
  if (name === `${family}_sum`) return 'sum'
  if (type === 'histogram') return name === `${family}_bucket` ? 'bucket' : 'value'
  return name === family ? 'quantile' : 'value'
}

const SHAPES: Readonly<Record<MetricType, Shape>> = {
  counter: 'sum',
  gauge: 'gauge',
  unknown: 'gauge',
  info: 'sum',
  stateset: 'sum',
  gaugehistogram: 'gauge',
  // Parts that do not make up a whole.
  histogram: 'gauge',
  summary: 'gauge',
}

const TOLD_BY_METADATA: ReadonlySet<MetricType> = new Set<MetricType>(['unknown', 'info', 'stateset', 'gaugehistogram'])

/** A metric whose series stand for themselves. */
export function valueMetric(metric: Metric, rules: NameRules): OtlpMetric {
  return {
    ...described(metric, metric.name, rules),
    shape: metric.isUpDown === true && metric.type === 'gauge' ? 'sum' : SHAPES[metric.type],
    isMonotonic: metric.type === 'counter',
    ...(TOLD_BY_METADATA.has(metric.type) && metric.isOtel !== true && { prometheusType: metric.type }),
  }
}

/** The histogram or summary that a metric is part of. */
export function familyMetric(metric: Metric, rules: NameRules): OtlpMetric {
  const shape = metric.type === 'summary' ? 'summary' : 'histogram'
  return { ...described(metric, metric.family, rules), shape, isMonotonic: true }
}

function described(metric: Metric, name: string, rules: NameRules) {
  return {
    name: metricName(name, rules),
    description: cut(metric.help, rules.descriptionLength),
    unit: cut(metric.isOtel === true ? metric.unit : ucumUnit(metric.unit), rules.unitLength),
    temporality: metric.isDelta === true ? DELTA : CUMULATIVE,
  } as const
}
