/**
 * What was sent of each source: which series, and when last. From it come the markers for series that have ended, and that no sample is
 * sent twice or after a later one.
 */
import type { Batch, Source } from '../../pipeline/model/batch.ts'
import { columnCount, EMPTY_LAYOUT, scaleAt, type Layout } from '../../pipeline/model/layout.ts'
import { ONE } from '../../pipeline/model/scale.ts'
import { compareLayouts } from '../../pipeline/formats/layout-change.ts'
import { labelPlanOf, type LabelPlan } from '../../pipeline/formats/remote-write-labels.ts'
import type { Samples } from './shards.ts'

type State = {
  plan: LabelPlan
  /** Whether its series are live: after a failed scrape the plan is kept for the next one. */
  isLive: boolean
  /** The time of the last batch. */
  lastMs: number
  /** When series last ended: one that begins has nothing to say about the time before. */
  endedMs: number
  /**
   * By column, the time of its last sample, -Infinity where it had none since it began. Only where that is not `lastMs` for all: where
   * samples have times of their own, or not every column had one.
   */
  lastTimes: Float64Array | undefined
}

export class SentSources {
  readonly #states = new Map<Source, State>()
  #seriesCount = 0
  readonly #scratch = new SampleLists()

  /** Series that are live. */
  get seriesCount(): number {
    return this.#seriesCount
  }

  /** Every metric of a live series, some of them several times. */
  *layouts(): Iterable<Layout> {
    for (const { plan, isLive } of this.#states.values()) if (isLive) yield plan.layout
  }

  /** The lists of what it returns are written over by the next call. */
  end({ source, timeMs, outcome }: Batch): Samples | undefined {
    const state = this.#states.get(source)
    if (state === undefined) return undefined
    if (outcome === 'removed') this.#states.delete(source)
    if (!state.isLive) return undefined
    const { layout } = state.plan
    this.#seriesCount -= columnCount(layout)
    const ended = this.#markers(state, columnCount(layout), undefined, timeMs)
    state.isLive = false
    state.lastTimes = undefined
    return ended
  }

  /** Calls `take` with markers and samples, and returns how many are not sent because that time is over for their series. */
  add(batch: Batch, take: (samples: Samples) => void): number {
    const { source, layout, times, absent } = batch
    const timeMs = Math.round(batch.timeMs)
    let state = this.#states.get(source)
    if (state === undefined) {
      const plan = labelPlanOf(layout)
      state = { plan, isLive: false, lastMs: -Infinity, endedMs: -Infinity, lastTimes: undefined }
      this.#states.set(source, state)
    }
    const { lastMs, endedMs } = state
    const isPlain = times === undefined && absent === undefined && timeMs > lastMs && timeMs > endedMs
    if (!state.isLive) {
      this.#seriesCount += columnCount(layout)
      if (state.plan.layout !== layout) state.plan = labelPlanOf(layout, state.plan)
      state.isLive = true
      if (!isPlain) state.lastTimes = new Float64Array(columnCount(layout)).fill(-Infinity)
    } else if (state.plan.layout !== layout) {
      this.#change(state, batch, isPlain, take)
    } else if (!isPlain) {
      state.lastTimes ??= new Float64Array(columnCount(layout)).fill(lastMs)
    }
    const samples = this.#fresh(state, batch, endedMs)
    take(samples)
    return columnCount(layout) - (absent?.length ?? 0) - samples.count
  }

  #change(state: State, { layout, timeMs }: Batch, isPlain: boolean, take: (samples: Samples) => void): void {
    const { plan, lastTimes, lastMs } = state
    const { ended, origin } = compareLayouts(plan.layout, layout)
    this.#seriesCount += columnCount(layout) - columnCount(plan.layout)
    if (ended.length > 0) take(this.#markers(state, ended.length, ended, timeMs))
    state.plan = labelPlanOf(layout, plan)
    if (lastTimes === undefined && isPlain) return
    state.lastTimes = new Float64Array(origin.length)
    for (let column = 0; column < origin.length; column++) {
      const from = origin[column]!
      state.lastTimes[column] = from < 0 ? -Infinity : lastTimes === undefined ? lastMs : lastTimes[from]!
    }
  }

  /** Markers for these columns, or for the first `count`, those left out that never had a sample. */
  #markers(state: State, count: number, columns: Uint32Array | undefined, timeMs: number): Samples {
    const { plan, lastTimes, lastMs } = state
    const lists = this.#scratch.ofSize(count)
    let next = 0
    for (let i = 0; i < count; i++) {
      const column = columns === undefined ? i : columns[i]!
      const last = lastTimes === undefined ? lastMs : lastTimes[column]!
      if (last === -Infinity) continue
      lists.columns[next] = column
      lists.times[next] = timeMs > last ? Math.round(timeMs) : last + 1
      state.endedMs = Math.max(state.endedMs, lists.times[next]!)
      next++
    }
    return { plan, columns: lists.columns, count: next, values: undefined, times: lists.times, starts: undefined }
  }

  /** What began has nothing to say about the time up to `beginMs`. */
  #fresh(state: State, batch: Batch, beginMs: number): Samples {
    const { plan } = state
    const { layout, values, absent, times, starts } = batch
    const count = columnCount(layout)
    const timeMs = Math.round(batch.timeMs)
    const lists = this.#scratch.ofSize(count)
    const { lastTimes } = state
    let next = 0
    let nextAbsent = 0
    for (let column = 0; column < count; column++) {
      if (absent !== undefined && absent[nextAbsent] === column) {
        nextAbsent++
        continue
      }
      const own = times === undefined ? NaN : times[column]!
      const time = Number.isNaN(own) ? timeMs : Math.round(own)
      if (lastTimes !== undefined) {
        const last = lastTimes[column]!
        if (time <= (last === -Infinity ? beginMs : last)) continue
        lastTimes[column] = time
      }
      lists.columns[next] = column
      lists.values[next] = values[column]!
      lists.times[next] = time
      if (starts !== undefined) lists.starts[next] = Math.round(starts[column]!)
      next++
    }
    scaleAll(layout, lists, next)
    if (next === count && times === undefined) {
      state.lastTimes = undefined
      state.lastMs = timeMs
    } else state.lastMs = Math.max(state.lastMs, timeMs)
    return {
      plan,
      columns: lists.columns,
      count: next,
      values: lists.values,
      times: lists.times,
      starts: starts === undefined ? undefined : lists.starts,
    }
  }
}

function scaleAll(layout: Layout, { columns, values }: Lists, count: number): void {
  if (layout === EMPTY_LAYOUT || layout.scales.every(scale => scale === ONE)) return
  for (let i = 0; i < count; i++) {
    const { multiply, divide } = scaleAt(layout, columns[i]!)
    values[i] = (values[i]! * multiply) / divide
  }
}

type Lists = { columns: Uint32Array; values: Float64Array; times: Float64Array; starts: Float64Array }

/** Used again for each batch: memory that is there already is faster than fresh one. */
class SampleLists {
  #lists: Lists = listsOf(256)

  ofSize(count: number): Lists {
    if (this.#lists.columns.length < count) this.#lists = listsOf(2 ** Math.ceil(Math.log2(count)))
    return this.#lists
  }
}

function listsOf(count: number): Lists {
  return {
    columns: new Uint32Array(count),
    values: new Float64Array(count),
    times: new Float64Array(count),
    starts: new Float64Array(count),
  }
}
