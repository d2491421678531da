/** What becomes of a metric of OTLP: which classic series its points are. */
import { CUMULATIVE, DELTA, type MetricKind, type MetricParts } from '../../pipeline/formats/otlp-points.ts'
import { METRIC_TYPES, metricFrom, type Metric, type MetricType } from '../../pipeline/model/series.ts'

export type PushedMetric = {
  readonly name: string
  readonly kind: MetricKind
  readonly isDelta: boolean
  readonly isMonotonic: boolean
  /** What its points are found by: the metric itself, or the count of a histogram or summary. */
  readonly main: Metric
  /** Of histograms their buckets, of summaries their quantiles. */
  readonly parts: Metric
  readonly sum: Metric
}

const MAX_NAME_LENGTH = 1024
const MAX_DESCRIPTION_LENGTH = 16 * 1024

/** Throws a sentence if no series can be made of it. */
export function pushedMetric({
  name,
  description,
  unit,
  kind,
  temporality,
  isMonotonic,
  metadata,
}: MetricParts): PushedMetric {
  if (name === '') throw new Error('a metric has no name')
  if (name.length + unit.length > MAX_NAME_LENGTH || description.length > MAX_DESCRIPTION_LENGTH) {
    throw new Error(`the name or description of a metric is too long: "${name.slice(0, 60)}..."`)
  }
  const hasTemporality = kind !== 'gauge' && kind !== 'summary'
  if (hasTemporality && temporality !== DELTA && temporality !== CUMULATIVE) {
    throw new Error(`metric "${name}" is neither cumulative nor delta`)
  }
  const common = { family: name, unit, help: description, isOtel: true } as const
  const isDelta = hasTemporality && temporality === DELTA
  if (kind === 'gauge' || kind === 'sum') {
    const type = told(metadata.get('prometheus.type')) ?? (kind === 'sum' && isMonotonic ? 'counter' : 'gauge')
    const isUpDown = kind === 'sum' && type === 'gauge'
    const main = metricFrom({ ...common, name, type, ...(isUpDown && { isUpDown }) })
    return { name, kind, isDelta, isMonotonic: kind === 'sum' && isMonotonic, main, parts: main, sum: main }
  }
  const type = kind === 'summary' ? 'summary' : 'histogram'
  return {
    name,
    kind,
    isDelta,
    isMonotonic: true,
    main: metricFrom({ ...common, name: `${name}_count`, type }),
    parts: metricFrom({ ...common, name: type === 'summary' ? name : `${name}_bucket`, type }),
    sum: metricFrom({ ...common, name: `${name}_sum`, type }),
  }
}

/** A Collector that scraped a type which OTLP lacks says so in the metric's metadata. */
function told(type: unknown): MetricType | undefined {
  const known = METRIC_TYPES.find(one => one === type)
  return known === 'unknown' || known === 'info' || known === 'stateset' ? known : undefined
}

export function isSameMetric(
  known: PushedMetric,
  { name, description, unit, kind, temporality, isMonotonic }: MetricParts,
): boolean {
  return (
    known.name === name &&
    known.kind === kind &&
    known.main.help === description &&
    known.main.unit === unit &&
    known.isDelta === (temporality === DELTA && kind !== 'gauge' && kind !== 'summary') &&
    (kind !== 'sum' || known.isMonotonic === isMonotonic)
  )
}

/** Whether points of both can be of one series: descriptions do not matter. */
export function isAlike(a: PushedMetric, b: PushedMetric): boolean {
  return a.name === b.name && a.kind === b.kind && a.isDelta === b.isDelta && a.isMonotonic === b.isMonotonic
}
