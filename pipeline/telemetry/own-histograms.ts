/**
 * Histograms that are counted here and shown to the SDK when it collects: its own hash the labels at each call, and every batch has its
 * time taken in every processor.
 */
import type { HrTime } from '@opentelemetry/api'
import type { HistogramMetricData, MetricProducer } from '@opentelemetry/sdk-metrics'
import type { OwnMetric } from './own-metrics.ts'

type Labels = Readonly<Record<string, string>>

export class HistogramCell {
  readonly #attributes: Labels
  readonly #bounds: readonly number[]
  readonly #startMs: number
  /** Of each bucket, the last one for what is above all bounds. */
  readonly #counts: number[]
  #count = 0
  #sum = 0
  #min = Infinity
  #max = -Infinity

  constructor(attributes: Labels, bounds: readonly number[], startMs: number) {
    this.#attributes = attributes
    this.#bounds = bounds
    this.#startMs = startMs
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
      attributes: this.#attributes,
      startTime: hrTime(this.#startMs),
      endTime,
      value: { buckets, count: this.#count, sum: this.#sum, min: this.#min, max: this.#max },
    }
  }
}

export type HistogramRow = { readonly metric: OwnMetric; readonly cells: ReadonlyMap<string, HistogramCell> }

/** `kinds` are the SDK's numbers for what these data are. */
export function histogramProducer(
  scope: string,
  rows: readonly HistogramRow[],
  nowMs: () => number,
  kinds: Pick<HistogramMetricData, 'aggregationTemporality' | 'dataPointType'> & {
    readonly valueType: HistogramMetricData['descriptor']['valueType']
  },
): MetricProducer {
  const { aggregationTemporality, dataPointType, valueType } = kinds

  function dataOf({ metric, cells }: HistogramRow, endTime: HrTime): HistogramMetricData {
    const { name, unit, description } = metric
    return {
      descriptor: { name, unit, description, valueType },
      aggregationTemporality,
      dataPointType,
      dataPoints: Array.from(cells.values(), cell => cell.point(endTime)),
    }
  }

  return {
    async collect() {
      const endTime = hrTime(nowMs())
      const metrics = rows.filter(({ cells }) => cells.size > 0).map(row => dataOf(row, endTime))
      return {
        resourceMetrics: { resource: NO_RESOURCE, scopeMetrics: [{ scope: { name: scope }, metrics }] },
        errors: [],
      }
    },
  }
}

function hrTime(ms: number): HrTime {
  return [Math.floor(ms / 1000), Math.floor((ms % 1000) * 1e6)]
}

/** The SDK says whose data these are. */
const NO_RESOURCE = { attributes: {}, merge: () => NO_RESOURCE, getRawAttributes: () => [] }
