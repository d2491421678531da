/**
 * Histograms that are counted here and shown to the SDK when it collects: its own hash the labels at each call, and every batch has its
 * time taken in every processor.
 */
import type { Attributes, HrTime } from '@opentelemetry/api'
import type { HistogramMetricData, MetricProducer } from '@opentelemetry/sdk-metrics'
import type { OwnMetric } from './own-metrics.ts'

export type HistogramCell = { record(value: number): void }

export type OwnHistograms = {
  /** The one cell for these labels. */
  cell(metric: OwnMetric, attributes: Attributes, key: string): HistogramCell
  readonly producer: MetricProducer
}

type Family = { readonly metric: OwnMetric; readonly cells: Map<string, Cell> }

class Cell implements HistogramCell {
  readonly attributes: Attributes
  readonly #bounds: readonly number[]
  readonly #startTime: HrTime
  /** Of each bucket, the last one for what is above all bounds. */
  readonly #counts: number[]
  #count = 0
  #sum = 0
  #min = Infinity
  #max = -Infinity

  constructor(attributes: Attributes, bounds: readonly number[], startTime: HrTime) {
    this.attributes = attributes
    this.#bounds = bounds
    this.#startTime = startTime
    this.#counts = Array.from({ length: bounds.length + 1 }, () => 0)
  }

  record(value: number): void {
    if (Number.isNaN(value)) return
    const bounds = this.#bounds
    let bucket = 0
    while (bucket < bounds.length && value > bounds[bucket]!) bucket++
    this.#counts[bucket]!++
    this.#count++
    this.#sum += value
    if (value < this.#min) this.#min = value
    if (value > this.#max) this.#max = value
  }

  point(endTime: HrTime): HistogramMetricData['dataPoints'][number] {
    const buckets = { boundaries: [...this.#bounds], counts: this.#counts.slice() }
    return {
      attributes: this.attributes,
      startTime: this.#startTime,
      endTime,
      value: { buckets, count: this.#count, sum: this.#sum, min: this.#min, max: this.#max },
    }
  }
}

/** `kinds` are the SDK's numbers for what these data are. */
export function createOwnHistograms(
  scope: string,
  nowMs: () => number,
  kinds: Pick<HistogramMetricData, 'aggregationTemporality' | 'dataPointType'> & {
    readonly valueType: HistogramMetricData['descriptor']['valueType']
  },
): OwnHistograms {
  const families = new Map<string, Family>()
  const { aggregationTemporality, dataPointType, valueType } = kinds

  function now(): HrTime {
    const ms = nowMs()
    return [Math.floor(ms / 1000), Math.floor((ms % 1000) * 1e6)]
  }

  function dataOf({ metric, cells }: Family, endTime: HrTime): HistogramMetricData {
    const { name, unit, description } = metric
    return {
      descriptor: { name, unit, description, valueType },
      aggregationTemporality,
      dataPointType,
      dataPoints: Array.from(cells.values(), cell => cell.point(endTime)),
    }
  }

  return {
    cell(metric, attributes, key) {
      let family = families.get(metric.name)
      if (family === undefined) families.set(metric.name, (family = { metric, cells: new Map() }))
      let cell = family.cells.get(key)
      if (cell === undefined) family.cells.set(key, (cell = new Cell(attributes, metric.buckets ?? [], now())))
      return cell
    },
    producer: {
      async collect() {
        const endTime = now()
        const metrics = Array.from(families.values(), family => dataOf(family, endTime))
        return {
          resourceMetrics: { resource: NO_RESOURCE, scopeMetrics: [{ scope: { name: scope }, metrics }] },
          errors: [],
        }
      },
    },
  }
}

/** The SDK says whose data these are. */
const NO_RESOURCE = { attributes: {}, merge: () => NO_RESOURCE, getRawAttributes: () => [] }
