/**
 * One resource and scope that pushes: its streams, which are the metrics and attributes that came, and the columns that they are.
 *
 * A request changes it in two steps: what comes is put into rounds, and at the end kept, if the rounds were taken, or undone.
 */
import { readAttributes } from '../../pipeline/formats/otlp-attributes.ts'
import type { AttributeBytes, Numbers } from '../../pipeline/formats/otlp-points.ts'
import type { Source } from '../../pipeline/model/batch.ts'
import { getLabel, withLabels, type Labels } from '../../pipeline/model/labels.ts'
import type { Metric } from '../../pipeline/model/series.ts'
import { columnsOf, emptyDistribution, renumber, Totals, type Distribution } from './distribution.ts'
import type { ExponentialGrid } from './exponential-buckets.ts'
import { NumbersByStream } from './numbers-by-stream.ts'
import { isAlike, type PushedMetric } from './pushed-metric.ts'
import { MAX_VARIANTS, PushedMetrics } from './pushed-metrics.ts'
import { Rounds } from './rounds.ts'
import { SeriesColumns } from './series-columns.ts'
import { StreamIndex } from './stream-index.ts'

export type SourceOptions = {
  /** The labels of a point with these attributes. */
  labelsOf(attributes: ReturnType<typeof readAttributes>): Labels
  /** Where series of all sources are counted. */
  readonly used: { series: number }
  /** How many more there may be. */
  room(): number
}

/** One that cannot be taken; the message ends up in the answer. */
export class RejectedError extends Error {
  override name = 'RejectedError'
}

/** What is kept for each series and source is not larger than this, so that limits on how many there are limit memory. */
export const MAX_ATTRIBUTE_BYTES = 16 * 1024

export class PushedSource {
  readonly source: Source
  readonly rounds = new Rounds()
  readonly columns: SeriesColumns
  readonly metrics = new PushedMetrics()
  /** Times of the newest points; -Infinity before the first. */
  times = new NumbersByStream(-Infinity)
  /** Of deltas: when the first began, and what has come so far. */
  starts = new NumbersByStream(NaN)
  totals = new NumbersByStream(NaN)
  readonly #options: SourceOptions
  #index = new StreamIndex()
  #streams = 0
  #streamsBefore = 0
  #metricOf: number[] = []
  /** Of numbers their column, of others -1. */
  #columnOf: number[] = []
  #distributions: (Distribution | undefined)[] = []
  #arrivedMs: number[] = []
  /** Streams of this request, and for each stream the last request that had it. */
  #touched: number[] = []
  #touchedBy: number[] = []
  #request = 1
  #ended = new Set<number>()

  constructor(source: Source, options: SourceOptions) {
    this.source = source
    this.#options = options
    this.columns = new SeriesColumns(options.used)
  }

  get isEmpty(): boolean {
    return this.#streams === 0
  }

  /** -1 if there is none. */
  find(metric: number, attributes: AttributeBytes): number {
    return this.#index.find(metric, attributes)
  }

  /**
   * The stream of attributes whose bytes nobody knew, which is a new one unless `onlyKnown`: then it may be -1. Throws
   * `RejectedError`, and `MalformedError` if they are no attributes.
   */
  admit(metric: PushedMetric, attributes: AttributeBytes, onlyKnown: boolean): number {
    const { main, kind, name } = metric
    if (attributes.end - attributes.start > MAX_ATTRIBUTE_BYTES) {
      throw new RejectedError(`a point has more than ${MAX_ATTRIBUTE_BYTES} bytes of attributes`)
    }
    const labels = withoutBound(this.#options.labelsOf(readAttributes(attributes)), kind)
    const known = this.columns.find(main, labels)
    const owner = known < 0 ? -1 : this.columns.ownerOf(known)
    if (owner >= 0) {
      // Attributes in another order, or a description that changed.
      if (!isAlike(this.metrics.at(this.#metricOf[owner]!), metric)) throw conflict(name)
      const number = this.metrics.add(metric)
      // What is not remembered is looked for again each time.
      if (number >= 0 && this.#index.size < MAX_VARIANTS * this.#streams) this.#index.add(number, attributes, owner)
      return owner
    }
    if (onlyKnown) return -1
    if (this.#options.room() <= 0) throw new RejectedError('there are too many series')
    if (known >= 0 && this.columns.metricOf(known) !== main) throw conflict(name)
    const number = this.metrics.add(metric)
    if (number < 0) throw new RejectedError(`metric "${name}" comes in too many different ways`)
    const column = this.columns.columnOf(main, labels)
    const stream = this.#streams++
    this.times.begin(stream)
    this.starts.begin(stream)
    this.totals.begin(stream)
    this.#metricOf[stream] = number
    this.#columnOf[stream] = kind === 'gauge' || kind === 'sum' ? column : -1
    this.#distributions[stream] = undefined
    this.#arrivedMs[stream] = Infinity
    this.#touchedBy[stream] = 0
    this.columns.give(column, stream)
    this.#index.add(number, attributes, stream)
    if (this.#columnOf[stream] < 0) this.#distributions[stream] = emptyDistribution(column, labels)
    return stream
  }

  columnOf(stream: number): number {
    return this.#columnOf[stream]!
  }

  distributionOf(stream: number): Distribution {
    return this.#distributions[stream]!
  }

  /**
   * Gives a histogram or summary the columns for these bounds. Series of bounds that are no more end. What deltas have added up to
   * stays where the new bounds can hold it (`isNested`), else it begins anew. Throws `RejectedError`.
   */
  reshape(
    stream: number,
    bounds: Numbers,
    options: { hasSum: boolean; isNested: boolean; grid?: ExponentialGrid },
  ): Distribution {
    const before = this.#distributions[stream]!
    const { parts, sum, kind, isDelta, name } = this.metrics.at(this.#metricOf[stream]!)
    if (this.#options.room() < bounds.length + 2) throw new RejectedError('there are too many series')
    const { labels } = before
    const label = boundLabel(kind)!
    const boundsNow = bounds.values.slice(0, bounds.length)
    const taken: number[] = []
    const take = (metric: typeof parts, text?: string): number => {
      const own = text === undefined ? labels : withLabels(labels, [[label, text]])
      const column = this.columns.columnOf(metric, own)
      taken.push(column)
      return column
    }
    const columns = Int32Array.from(boundsNow, bound => take(parts, numberText(bound)))
    const distribution: Distribution = {
      isShaped: true,
      labels,
      bounds: boundsNow,
      columns,
      restColumn: kind === 'summary' ? -1 : take(parts, '+Inf'),
      sumColumn: options.hasSum || before.sumColumn >= 0 ? take(sum) : -1,
      countColumn: before.countColumn,
      ...(options.grid && { grid: options.grid }),
      ...(isDelta && {
        totals:
          options.isNested && before.totals !== undefined
            ? before.totals.withBounds(before.bounds, boundsNow)
            : new Totals(new Float64Array(boundsNow.length + 1)),
      }),
    }
    if (!this.#areFree(taken, stream, [parts, sum])) {
      for (const column of taken) if (this.columns.ownerOf(column) < 0) this.columns.end(column)
      throw conflict(name)
    }
    for (const column of taken) this.columns.give(column, stream)
    this.#distributions[stream] = distribution
    const kept = new Set(columns)
    for (const column of before.columns) if (!kept.has(column)) this.columns.end(column)
    return distribution
  }

  /** Whether columns have one of these metrics and belong to nobody else. */
  #areFree(columns: readonly number[], stream: number, metrics: readonly Metric[]): boolean {
    return columns.every(column => {
      const owner = this.columns.ownerOf(column)
      return (owner < 0 || owner === stream) && metrics.includes(this.columns.metricOf(column))
    })
  }

  /** The request has something of this stream. */
  touch(stream: number): void {
    if (this.#touchedBy[stream] !== this.#request) {
      this.#touchedBy[stream] = this.#request
      this.#touched.push(stream)
    }
    if (this.#ended.size > 0) this.#ended.delete(stream)
  }

  /** The stream is no more, once the request is taken. */
  end(stream: number): void {
    this.touch(stream)
    this.#ended.add(stream)
  }

  /** Everything of the request was taken. Says whether streams have ended, which `compact` takes away. */
  keep(nowMs: number): boolean {
    for (const stream of this.#touched) {
      this.times.keep(stream)
      this.starts.keep(stream)
      this.totals.keep(stream)
      this.#distributions[stream]?.totals?.keep()
      this.#arrivedMs[stream] = nowMs
    }
    // Those whose only points were rejected.
    for (let stream = this.#streamsBefore; stream < this.#streams; stream++) {
      if (this.#touchedBy[stream] !== this.#request) this.#dismiss(stream)
    }
    for (const stream of this.#ended) this.#dismiss(stream)
    this.#settle()
    return this.columns.hasEnded
  }

  /** Nothing of the request counts. Where nothing was handed on, streams that it brought are not there either. */
  undo(nowMs: number, wasHandedOn: boolean): void {
    for (const stream of this.#touched) {
      this.times.undo(stream)
      this.starts.undo(stream)
      this.totals.undo(stream)
      this.#distributions[stream]?.totals?.undo()
    }
    for (let stream = this.#streamsBefore; stream < this.#streams; stream++) {
      if (wasHandedOn) this.#arrivedMs[stream] = nowMs
      else this.#dismiss(stream)
    }
    this.#settle()
    if (!wasHandedOn && this.columns.hasEnded) this.compact()
  }

  #settle(): void {
    this.#touched = []
    this.#request++
    this.#ended.clear()
    this.rounds.clear()
    this.#streamsBefore = this.#streams
    this.metrics.expectFirst()
  }

  /** Ends the streams of which nothing came since then. Says whether there are any. */
  expire(beforeMs: number): boolean {
    for (let stream = 0; stream < this.#streams; stream++)
      if (this.#arrivedMs[stream]! <= beforeMs) this.#dismiss(stream)
    return this.columns.hasEnded
  }

  #dismiss(stream: number): void {
    const distribution = this.#distributions[stream]
    if (distribution === undefined) this.columns.end(this.#columnOf[stream]!)
    else for (const column of columnsOf(distribution)) this.columns.end(column)
    this.#metricOf[stream] = -1
  }

  /** Numbers streams, metrics and columns anew, without those that have ended. */
  compact(): void {
    const columnNumbers = this.columns.compact()
    const streamNumbers = new Int32Array(this.#streams).fill(-1)
    const metricNumbers = this.metrics.compact(this.#metricOf)
    let count = 0
    for (let stream = 0; stream < this.#streams; stream++) {
      const metric = this.#metricOf[stream]!
      if (metric < 0) continue
      const distribution = this.#distributions[stream]
      this.#metricOf[count] = metricNumbers[metric]!
      this.#columnOf[count] = distribution === undefined ? columnNumbers[this.#columnOf[stream]!]! : -1
      this.#distributions[count] = distribution && renumber(distribution, columnNumbers)
      this.#arrivedMs[count] = this.#arrivedMs[stream]!
      for (const numbers of [this.times, this.starts, this.totals]) numbers.move(stream, count)
      streamNumbers[stream] = count++
    }
    for (const list of [this.#metricOf, this.#columnOf, this.#distributions, this.#arrivedMs]) list.length = count
    this.columns.giveAll(streamNumbers)
    this.#index = this.#index.renumbered(streamNumbers, metricNumbers)
    this.#streams = this.#streamsBefore = count
  }
}

/** The label that tells the parts of a histogram or summary apart. */
function boundLabel(kind: PushedMetric['kind']): string | undefined {
  if (kind === 'gauge' || kind === 'sum') return undefined
  return kind === 'summary' ? 'quantile' : 'le'
}

/** An attribute of that name makes room, as labels of targets do in Prometheus. */
function withoutBound(labels: Labels, kind: PushedMetric['kind']): Labels {
  const label = boundLabel(kind)
  const value = label === undefined ? undefined : getLabel(labels, label)
  if (label === undefined || value === undefined) return labels
  return withLabels(labels, [
    [label, undefined],
    [`exported_${label}`, value],
  ])
}

function conflict(name: string): RejectedError {
  return new RejectedError(`metric "${name}" has series that a metric of another type has, too`)
}

function numberText(bound: number): string {
  if (bound === Infinity) return '+Inf'
  return bound === -Infinity ? '-Inf' : String(bound)
}
