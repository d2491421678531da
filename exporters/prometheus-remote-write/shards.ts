/**
 * The requests that are being written, one for each shard. A series always goes to the same shard, whoever sends it, and a shard sends
 * one request after the other: so the samples of a series arrive in order.
 */
import { SET_LENGTH, type LabelPlan } from '../../pipeline/formats/remote-write-labels.ts'
import { SeriesMemory } from '../../pipeline/formats/remote-write-memory.ts'
import { SeenSeries } from '../../pipeline/formats/remote-write-seen.ts'
import { createWriter1 } from '../../pipeline/formats/remote-write-1.ts'
import { createWriter2 } from '../../pipeline/formats/remote-write-2.ts'
import type { RequestWriter } from '../../pipeline/formats/remote-write-request.ts'
import type { Emit } from '../delivery/payload.ts'

export type Version = 1 | 2

export type ShardOptions = {
  readonly shards: number
  readonly maxSamples: number
  readonly sendMetadata: boolean
  /** Which message new requests are. */
  version(): Version
}

/** Samples to be sent, and what they are samples of. Columns have a place each in all lists. */
export type Samples = {
  readonly plan: LabelPlan
  readonly columns: Uint32Array
  readonly count: number
  /** Markers that series have ended where there are none. */
  readonly values: Float64Array | undefined
  readonly times: Float64Array
  readonly starts: Float64Array | undefined
}

/** A receiver that unpacks a request needs its memory at once. */
const MAX_LENGTH = 4 * 2 ** 20

export const NOTES: Record<Version, string> = { 1: '1', 2: '2' }

export class Shards {
  readonly #options: ShardOptions
  readonly #emit: Emit
  readonly #memory = new SeriesMemory()
  #writers: { readonly request: RequestWriter; readonly seen: SeenSeries }[] = []
  #version: Version = 1
  #pending = 0
  #order = new Uint32Array(0)

  constructor(options: ShardOptions, emit: Emit) {
    this.#options = options
    this.#emit = emit
  }

  /** Samples in requests that are begun. */
  get pending(): number {
    return this.#pending
  }

  /** Returns how many are not sent because another source sent the same series at that time or a later one just before. */
  add(samples: Samples): number {
    if (samples.count === 0) return 0
    if (this.#options.version() !== this.#version) this.#begin()
    const { shards } = this.#options
    if (shards === 1) return this.#write(0, samples, undefined, 0, samples.count)
    const ends = this.#sort(samples)
    let start = 0
    let repeated = 0
    for (let shard = 0; shard < shards; shard++) {
      const end = ends[shard]!
      if (end > start) repeated += this.#write(shard, samples, this.#order, start, end)
      start = end
    }
    return repeated
  }

  flush(): void {
    for (const shard of this.#writers.keys()) this.#finish(shard)
  }

  #begin(): void {
    this.flush()
    this.#version = this.#options.version()
    this.#writers = []
  }

  /** Puts the places of samples in the order of their shards, and says where each of these ends. */
  #sort({ plan, columns, count }: Samples): Uint32Array {
    const { shards } = this.#options
    const { sets, layout } = plan
    if (this.#order.length < count) this.#order = new Uint32Array(count * 2)
    const ends = new Uint32Array(shards + 1)
    for (let i = 0; i < count; i++) ends[(hashAt(sets, layout.labelsOf[columns[i]!]!) % shards) + 1]!++
    for (let shard = 0; shard < shards; shard++) ends[shard + 1]! += ends[shard]!
    for (let i = 0; i < count; i++) this.#order[ends[hashAt(sets, layout.labelsOf[columns[i]!]!) % shards]!++] = i
    return ends
  }

  #write(shard: number, samples: Samples, order: Uint32Array | undefined, start: number, end: number): number {
    const { plan, columns, values, times, starts } = samples
    const { metricOf, labelsOf, metrics, labels } = plan.layout
    const { request, seen } = (this.#writers[shard] ??= this.#createWriter())
    let repeated = 0
    request.use(plan)
    for (let i = start; i < end; i++) {
      const place = order === undefined ? i : order[i]!
      const column = columns[place]!
      const metric = metricOf[column]!
      const set = labelsOf[column]!
      const timeMs = times[place]!
      const hash = hashAt(plan.sets, set) ^ plan.metrics[metric]!.hash
      if (!seen.isLater(hash, metrics[metric]!.name, labels[set]!, timeMs)) {
        repeated++
        continue
      }
      if (values === undefined) request.end(metric, set, timeMs)
      else request.add(metric, set, values[place]!, timeMs, starts === undefined ? NaN : starts[place]!)
      this.#pending++
      if (request.samples >= this.#options.maxSamples || request.length > MAX_LENGTH) this.#finish(shard)
    }
    return repeated
  }

  #createWriter(): { readonly request: RequestWriter; readonly seen: SeenSeries } {
    const request = this.#version === 1 ? createWriter1(this.#memory) : createWriter2(this.#memory, this.#options)
    return { request, seen: new SeenSeries(this.#options.maxSamples) }
  }

  #finish(shard: number): void {
    const writer = this.#writers[shard]
    const points = writer?.request.samples ?? 0
    if (writer === undefined || points === 0) return
    this.#pending -= points
    writer.seen.clear()
    this.#emit({ body: writer.request.finish(), points, shard, note: NOTES[this.#version] })
  }
}

function hashAt(sets: Uint32Array, set: number): number {
  return sets[set * SET_LENGTH + 3]!
}
