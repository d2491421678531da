/** What a series is called and how its source describes it. */
import { createInternTable, hashString } from './intern.ts'
import type { Labels } from './labels.ts'

export const METRIC_TYPES = [
  'counter',
  'gauge',
  'histogram',
  'summary',
  'gaugehistogram',
  'info',
  'stateset',
  'unknown',
] as const
export type MetricType = (typeof METRIC_TYPES)[number]

/**
 * A metric as its source describes it. Help, type and unit are description, not identity of a series: that is name and labels.
 * Histograms and summaries travel as their classic series; `x_bucket` has the family `x` and its type.
 */
export type Metric = {
  readonly name: string
  readonly family: string
  readonly type: MetricType
  readonly unit: string
  readonly help: string
  /**
   * Of counters and histograms: numbers are increases since the sample before, which was at the time that `starts` of the batch has,
   * instead of increases since the counter began.
   */
  readonly isDelta?: true
  /** The name is OpenTelemetry's: it came by OTLP, and who serves it to Prometheus adds unit and `_total` as configured. Scraped names never change. */
  readonly isOtel?: true
  /** Of gauges that came by OTLP: it is a sum that may fall, too (an up-down counter), and leaves by OTLP as one. */
  readonly isUpDown?: true
}

/** A metric with labels: a view made on demand, for the functions that people write. */
export type Series = { readonly metric: Metric; readonly labels: Labels }

const metrics = createInternTable<Metric>()

/** The one `Metric` object with this description; family defaults to the name. */
export function metricFrom(description: { name: string } & Partial<Metric>): Metric {
  const { name, family = name, type = 'unknown', unit = '', help = '', isDelta, isOtel, isUpDown } = description
  let hash = hashString(isDelta === true ? `${name} delta` : isOtel === true ? `${name} otel` : name)
  for (const text of [family, type, unit, help]) hash = hashString(text, hash)
  return metrics.intern(
    hash,
    known =>
      known.name === name &&
      known.family === family &&
      known.type === type &&
      known.unit === unit &&
      known.help === help &&
      known.isDelta === isDelta &&
      known.isOtel === isOtel &&
      known.isUpDown === isUpDown,
    () =>
      Object.freeze({
        name,
        family,
        type,
        unit,
        help,
        ...(isDelta && { isDelta }),
        ...(isOtel && { isOtel }),
        ...(isUpDown && { isUpDown }),
      }),
  )
}
