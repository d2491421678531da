/**
 * From the points of a request to the samples of sources, by the rules of OpenTelemetry's data model.
 *
 * - A point that is older than the newest of its stream is late: it is counted and left out.
 * - Deltas are added up; what comes out is cumulative since the first. A delta that ends no later than the one before has been counted
 *   already (clients send again what nobody confirmed); one that begins before the stream does is late. Gaps count as nothing.
 * - A cumulative stream that began anew says so by its start time, which goes along.
 * - A point with the flag "no recorded value" ends its series.
 * - A point that makes no sense costs itself: the client hears how many, and why the first.
 */
import {
  createNumbers,
  NO_RECORDED_VALUE,
  type HistogramPoint,
  type MetricsSink,
  type Numbers,
} from '../../pipeline/formats/otlp-points.ts'
import { hasBounds, type Distribution } from './distribution.ts'
import { ExponentialGrid } from './exponential-buckets.ts'
import { pushedMetric, type PushedMetric } from './pushed-metric.ts'
import { RejectedError, type PushedSource } from './pushed-source.ts'
import { createSpare } from './rounds.ts'
import type { Sources } from './sources.ts'

/** What a request came to. */
export type Taken = {
  readonly points: number
  readonly late: number
  readonly exemplars: number
  readonly rejected: number
  /** Why; the first reason. */
  readonly message: string
  readonly sources: ReadonlySet<PushedSource>
}

type AnyPoint = Pick<HistogramPoint, 'attributes' | 'startMs' | 'timeMs' | 'flags' | 'exemplars'>

export class Intake implements MetricsSink {
  readonly #sources: Sources
  readonly #nowMs: number
  readonly #touched = new Set<PushedSource>()
  readonly #spare = createSpare()
  #source: PushedSource | undefined
  /** -1 for a metric of which there is no series yet. */
  #number = -1
  #metric: PushedMetric | undefined
  /** Why nothing of this scope or metric can be taken. */
  #scopeProblem = ''
  #metricProblem = ''
  #points = 0
  #late = 0
  #exemplars = 0
  #rejected = 0
  #message = ''

  constructor(sources: Sources, nowMs: number) {
    this.#sources = sources
    this.#nowMs = nowMs
  }

  get taken(): Taken {
    return {
      points: this.#points,
      late: this.#late,
      exemplars: this.#exemplars,
      rejected: this.#rejected,
      message: this.#message,
      sources: this.#touched,
    }
  }

  scope(...parts: Parameters<MetricsSink['scope']>): void {
    this.#source = this.#metric = undefined
    this.#scopeProblem = ''
    try {
      this.#source = this.#sources.sourceOf(...parts)
      this.#touched.add(this.#source)
    } catch (error) {
      if (!(error instanceof RejectedError)) throw error
      this.#scopeProblem = error.message
    }
  }

  metric(parts: Parameters<MetricsSink['metric']>[0]): void {
    this.#metric = undefined
    this.#metricProblem = this.#scopeProblem
    if (this.#source === undefined) return
    try {
      this.#number = this.#source.metrics.find(parts)
      this.#metric = this.#number < 0 ? pushedMetric(parts) : this.#source.metrics.at(this.#number)
    } catch (error) {
      this.#metricProblem = (error as Error).message
    }
  }

  number(point: Parameters<MetricsSink['number']>[0]): void {
    const stream = this.#begin(point, point.hasValue ? undefined : 'has no value')
    if (stream < 0) return
    const source = this.#source!
    let { value } = point
    let startMs = this.#metric!.kind === 'sum' && point.startMs > 0 ? point.startMs : NaN
    if (this.#metric!.isDelta) {
      if (!Number.isFinite(value)) return this.#reject('is a delta and no finite number')
      if (value < 0 && this.#metric!.isMonotonic) return this.#reject('can only grow and came with a negative delta')
    }
    const column = source.columnOf(stream)
    const round = source.rounds.roundFor(column, source.columns.count, this.#spare)
    if (round < 0) return this.#reject('comes too often in one request')
    if (this.#metric!.isDelta) {
      startMs = this.#startOf(stream, point)
      const before = source.totals.now[stream]!
      value = source.totals.now[stream] = Number.isNaN(before) ? value : before + value
    }
    this.#arrive(stream, point)
    source.rounds.put(round, column, value, point.timeMs || NaN, startMs)
  }

  histogram(point: HistogramPoint): void {
    const stream = this.#begin(point, histogramProblem(point))
    if (stream >= 0) this.#putHistogram(stream, point, point.bounds, point.bucketCounts)
  }

  exponential(point: Parameters<MetricsSink['exponential']>[0]): void {
    const stream = this.#begin(point, ExponentialGrid.problemOf(point))
    if (stream < 0) return
    const grid = this.#source!.distributionOf(stream).grid ?? new ExponentialGrid()
    grid.convert(point, gridBounds, gridCounts)
    this.#putHistogram(stream, point, gridBounds, gridCounts, grid)
  }

  #putHistogram(
    stream: number,
    point: Pick<HistogramPoint, keyof AnyPoint | 'count' | 'sum' | 'hasSum'>,
    bounds: Numbers,
    counts: Numbers,
    grid?: ExponentialGrid,
  ): void {
    const source = this.#source!
    const { hasSum } = point
    const distribution = this.#shape(stream, bounds, { hasSum, isNested: grid !== undefined, ...(grid && { grid }) })
    if (distribution === undefined) return
    const round = source.rounds.roundFor(distribution.countColumn, source.columns.count, this.#spare)
    if (round < 0) return this.#reject('comes too often in one request')
    let startMs = point.startMs > 0 ? point.startMs : NaN
    let { sum, count } = point
    let buckets = counts.values
    if (distribution.totals !== undefined) {
      startMs = this.#startOf(stream, point)
      distribution.totals.add(counts, sum, count)
      ;({ buckets, count } = distribution.totals.now)
      sum = hasSum ? distribution.totals.now.sum : NaN
    }
    this.#arrive(stream, point)
    const timeMs = point.timeMs || NaN
    const { columns, restColumn, sumColumn, countColumn } = distribution
    let below = 0
    for (let i = 0; i < columns.length; i++) {
      below += buckets[i]!
      source.rounds.put(round, columns[i]!, below, timeMs, startMs)
    }
    source.rounds.put(round, restColumn, count, timeMs, startMs)
    source.rounds.put(round, countColumn, count, timeMs, startMs)
    if (hasSum) source.rounds.put(round, sumColumn, sum, timeMs, startMs)
  }

  summary(point: Parameters<MetricsSink['summary']>[0]): void {
    const stream = this.#begin(point, point.quantiles.length > MAX_BOUNDS ? TOO_MANY_BOUNDS : undefined)
    if (stream < 0) return
    const source = this.#source!
    const distribution = this.#shape(stream, point.quantiles, { hasSum: true, isNested: false })
    if (distribution === undefined) return
    const round = source.rounds.roundFor(distribution.countColumn, source.columns.count, this.#spare)
    if (round < 0) return this.#reject('comes too often in one request')
    this.#arrive(stream, point)
    const timeMs = point.timeMs || NaN
    const startMs = point.startMs > 0 ? point.startMs : NaN
    const { columns, sumColumn, countColumn } = distribution
    columns.forEach((column, i) => source.rounds.put(round, column, point.values.values[i]!, timeMs, NaN))
    source.rounds.put(round, sumColumn, point.sum, timeMs, startMs)
    source.rounds.put(round, countColumn, point.count, timeMs, startMs)
  }

  /** The stream of a point that counts, or -1 where that was dealt with. */
  #begin(point: AnyPoint, problem: string | undefined): number {
    this.#points++
    this.#exemplars += point.exemplars
    if (this.#metric === undefined) return this.#refuse(this.#metricProblem)
    const source = this.#source!
    const isEnd = (point.flags & NO_RECORDED_VALUE) !== 0
    if (!isEnd && problem !== undefined) return this.#refuse(`metric "${this.#metric.name}" ${problem}`)
    let stream = this.#number < 0 ? -1 : source.find(this.#number, point.attributes)
    if (stream < 0) {
      try {
        stream = source.admit(this.#metric, point.attributes, isEnd)
        if (this.#number < 0) this.#number = source.metrics.numberOf(this.#metric)
      } catch (error) {
        if (!(error instanceof RejectedError)) throw error
        return this.#refuse(error.message)
      }
      // What never was cannot end.
      if (stream < 0) return -1
    }
    const newestMs = source.times.now[stream]!
    const timeMs = point.timeMs || this.#nowMs
    if (timeMs < newestMs || (this.#metric.isDelta && !isEnd && this.#isCounted(stream, point))) {
      this.#late++
      return -1
    }
    if (!isEnd) return stream
    source.times.now[stream] = timeMs
    source.end(stream)
    return -1
  }

  /** Of deltas: whether this one is in the sum already, or from before it. One may begin and end in the millisecond of the last. */
  #isCounted(stream: number, { timeMs, startMs }: AnyPoint): boolean {
    const { times, starts } = this.#source!
    const newestMs = times.now[stream]!
    return (
      ((timeMs || this.#nowMs) === newestMs && startMs < newestMs) || (startMs > 0 && startMs < starts.now[stream]!)
    )
  }

  /** When a stream of deltas began: with its first, or, where that does not say, at its time. */
  #startOf(stream: number, { startMs, timeMs }: AnyPoint): number {
    const { starts } = this.#source!
    if (Number.isNaN(starts.now[stream]!)) starts.now[stream] = startMs || timeMs || this.#nowMs
    return starts.now[stream]!
  }

  #arrive(stream: number, { timeMs }: AnyPoint): void {
    const source = this.#source!
    source.times.now[stream] = timeMs || this.#nowMs
    source.touch(stream)
  }

  /** The columns of a histogram or summary with these bounds; undefined if there may be no more. */
  #shape(stream: number, bounds: Numbers, options: Parameters<PushedSource['reshape']>[2]): Distribution | undefined {
    const source = this.#source!
    const distribution = source.distributionOf(stream)
    const isShaped = distribution.isShaped && hasBounds(distribution, bounds)
    if (isShaped && (!options.hasSum || distribution.sumColumn >= 0)) return distribution
    // Other bounds are other counts: what deltas have added up to cannot be told in them, and they begin anew.
    if (!options.isNested && !isShaped) source.starts.now[stream] = NaN
    try {
      return source.reshape(stream, bounds, { ...options, isNested: options.isNested || isShaped })
    } catch (error) {
      if (!(error instanceof RejectedError)) throw error
      this.#refuse(error.message)
      return undefined
    }
  }

  #reject(problem: string): void {
    this.#refuse(`metric "${this.#metric!.name}" ${problem}`)
  }

  #refuse(message: string): -1 {
    this.#rejected++
    if (this.#message === '') this.#message = message
    return -1
  }
}

const gridBounds = createNumbers()
const gridCounts = createNumbers()

const MAX_BOUNDS = 1000
const TOO_MANY_BOUNDS = `has more than ${MAX_BOUNDS} bounds`

function histogramProblem({ bounds, bucketCounts, count }: HistogramPoint): string | undefined {
  if (bounds.length > MAX_BOUNDS) return TOO_MANY_BOUNDS
  if (bucketCounts.length !== bounds.length + 1 && (bucketCounts.length > 0 || bounds.length > 0)) {
    return `has ${bucketCounts.length} buckets for ${bounds.length} bounds`
  }
  let total = 0
  for (let i = 0; i < bounds.length; i++) {
    total += bucketCounts.values[i]!
    const bound = bounds.values[i]!
    if (!Number.isFinite(bound) || (i > 0 && bound <= bounds.values[i - 1]!)) return 'has bounds that do not ascend'
  }
  return total > count ? `has buckets that count ${total} of ${count}` : undefined
}
