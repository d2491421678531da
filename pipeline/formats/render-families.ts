/**
 * Which family a metric is written in, and as what type: the formats differ in both.
 *
 * In the text format a counter's family is its name with `_total`, and there are neither info nor stateset nor gauge histogram.
 * In OpenMetrics samples have the suffixes that belong to their type or the whole document is wrong; a metric without them is
 * written as a family of its own, a counter without `_total` as `unknown`. Names of samples never change.
 */
import type { Metric, MetricType } from '../model/series.ts'

export type Syntax = 'text' | 'openmetrics'

/** A family as one syntax has it. Metrics of the same place are written together. */
export type Place = { readonly family: string; readonly type: string }

const SUFFIXES: Readonly<Record<Syntax, Partial<Record<MetricType, readonly string[]>>>> = {
  text: {
    histogram: ['_bucket', '_sum', '_count'],
    summary: ['', '_sum', '_count'],
    gaugehistogram: ['_bucket'],
  },
  openmetrics: {
    counter: ['_total', '_created'],
    histogram: ['_bucket', '_sum', '_count', '_created'],
    summary: ['', '_sum', '_count', '_created'],
    gaugehistogram: ['_bucket', '_gsum', '_gcount'],
    info: ['_info'],
    stateset: [''],
  },
}

const TEXT_TYPES: Readonly<Record<MetricType, string>> = {
  counter: 'counter',
  gauge: 'gauge',
  histogram: 'histogram',
  summary: 'summary',
  gaugehistogram: 'histogram',
  info: 'gauge',
  stateset: 'gauge',
  unknown: 'untyped',
}

/** What follows the name of a family in the names that are its own; the name itself is always one of them. */
export function claimedSuffixes(type: string): readonly string[] {
  const suffixes = SUFFIXES.openmetrics[type as MetricType]
  return suffixes === undefined ? [''] : [...new Set(['', ...suffixes])]
}

export function placeOf(metric: Metric, syntax: Syntax): Place {
  const { name, type } = metric
  // Whoever reads a counter takes one that falls for one that began anew.
  if (metric.isDelta === true) return { family: name, type: 'gauge' }
  const family = familyOf(metric, syntax)
  if (SUFFIXES[syntax][type]?.some(suffix => name === family + suffix)) {
    return { family, type: syntax === 'text' ? TEXT_TYPES[type] : type }
  }
  return placeAlone(metric, syntax)
}

/** The place of a metric that cannot be where it belongs. */
export function placeAlone(metric: Metric, syntax: Syntax): Place {
  return { family: metric.name, type: metric.isDelta === true ? 'gauge' : typeAlone(metric, syntax) }
}

/** Scraped text calls the family of a counter by the name of its samples; OpenMetrics wants it without the suffix. */
function familyOf({ name, family, type }: Metric, syntax: Syntax): string {
  const suffix = syntax === 'text' ? undefined : type === 'counter' ? '_total' : type === 'info' ? '_info' : undefined
  if (suffix === undefined || name !== family || !name.endsWith(suffix)) return family
  return name.slice(0, -suffix.length)
}

/** The type of a metric that is a family of its own. */
function typeAlone({ name, family, type }: Metric, syntax: Syntax): string {
  const suffix = name.slice(family.length)
  if (name !== family && ['_created', '_gsum', '_gcount'].includes(suffix)) return 'gauge'
  if (syntax === 'text') return SUFFIXES.text[type] === undefined ? TEXT_TYPES[type] : 'untyped'
  return type === 'gauge' || type === 'info' || type === 'stateset' ? 'gauge' : 'unknown'
}

/**
 * In OpenMetrics `x_created` belongs to the counter or distribution `x`. From the text format it comes as a gauge of its own, and next
 * to `x` it would be a mistake there.
 */
export function createdFamily({ name, family, type }: Metric): string | undefined {
  const isAlone = name === family && (type === 'gauge' || type === 'unknown')
  return isAlone && name.endsWith('_created') ? name.slice(0, -'_created'.length) : undefined
}

export function hasCreated(type: string): boolean {
  return type === 'counter' || type === 'histogram' || type === 'summary'
}

/** The place of a series among those of its family with the same labels: buckets or quantiles first. */
export function partRank({ name, family, type }: Metric): number {
  if (name.endsWith('_sum') || name.endsWith('_gsum')) return name === family ? 0 : 1
  if (name.endsWith('_count') || name.endsWith('_gcount')) return name === family ? 0 : 2
  return name.endsWith('_created') && (name !== family || type === 'gauge' || type === 'unknown') ? 3 : 0
}

/** The label that tells the parts of one distribution apart, where the metric has such a one. */
export function boundLabel({ name, family, type }: Metric): 'le' | 'quantile' | undefined {
  if (type === 'summary') return name === family ? 'quantile' : undefined
  return (type === 'histogram' || type === 'gaugehistogram') && name.endsWith('_bucket') ? 'le' : undefined
}
