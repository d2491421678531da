/**
 * The latest value of one fact for every thing that has it, whichever target it came from. NaN is no value.
 *
 * A thing may be shown by several sources. Of their samples the freshest counts, and of two of one time the larger, so that the order
 * in which targets are scraped means nothing.
 */
import { resized } from './room.ts'
import type { Things } from './things.ts'

export type ReadingOptions = {
  /**
   * What is kept: the value, the rate per second of a counter, or what a counter has grown by since somebody drained it.
   * At first sight a counter has grown by all that it shows; as `growth` by nothing, because what it shows was others'.
   */
  readonly keep: 'value' | 'rate' | 'increase' | 'growth'
  /** Samples above this are activity, whose last time is kept. */
  readonly activeAbove?: number
}

/** In which columns of a batch what is read is, to be multiplied and divided. */
export type Places = {
  readonly columns: Uint32Array
  readonly multiply: number
  readonly divide: number
}

type Sample = { readonly value: number; readonly timeMs: number }

/** Of containers that are gone nobody knows whether they come back. */
const MOST_LEFT = 100_000

/** No source. */
const NOBODY = 0

export class Reading {
  values = new Float64Array(0)
  /**
   * When samples are from. Undefined while all of a source are from when it was read last, as those of nearly all sources are: then that
   * is kept by source.
   */
  #times: Float64Array<ArrayBuffer> | undefined
  /** When a sample was last above the threshold; NaN if never. */
  active: Float64Array<ArrayBuffer> | undefined
  readonly things: Things
  readonly activeAbove: number | undefined
  readonly isIncrease: boolean
  readonly #isGrowth: boolean
  /** What counters showed that are not shown now, by the key of the thing, the oldest first. */
  readonly left = new Map<string, number>()
  #owners = new Int32Array(0)
  #counters: { values: Float64Array<ArrayBuffer>; times: Float64Array<ArrayBuffer> } | undefined
  /** By thing, all sources that show it, where there are several, with what those showed last that do not count; counters have no such. */
  readonly #contested = new Map<number, Map<number, Sample | undefined>>()

  constructor(things: Things, { keep, activeAbove }: ReadingOptions) {
    this.things = things
    this.activeAbove = activeAbove
    this.isIncrease = keep === 'increase' || keep === 'growth'
    this.#isGrowth = keep === 'growth'
    if (keep !== 'value') {
      this.#counters = { values: new Float64Array(0), times: new Float64Array(0) }
      this.#times = new Float64Array(0)
    }
    if (activeAbove !== undefined) this.active = new Float64Array(0)
    things.attach(this)
  }

  grow(capacity: number): void {
    this.values = grown(this.values, capacity)
    if (this.#times !== undefined) this.#times = grown(this.#times, capacity)
    if (this.active !== undefined) this.active = grown(this.active, capacity)
    if (this.#counters !== undefined) {
      this.#counters = { values: grown(this.#counters.values, capacity), times: grown(this.#counters.times, capacity) }
    }
    this.#owners = resized(this.#owners, capacity)
  }

  /** A thing that comes back goes on counting where it was. */
  begin(number: number, key: string): void {
    const known = this.left.get(key)
    if (known === undefined) return
    this.left.delete(key)
    this.#counters!.values[number] = known
  }

  reset(number: number, key: string): void {
    if (this.isIncrease) this.#leave(number, key)
    this.#clear(number)
    if (this.#counters !== undefined) this.#counters.values[number] = NaN
    this.#contested.delete(number)
    if (this.active !== undefined) this.active[number] = NaN
  }

  /** The clock has been set back: nothing was read later than now. */
  notAfter(nowMs: number): void {
    this.things.notReadAfter(nowMs)
    for (const times of [this.#times ?? [], this.active ?? []]) {
      for (let i = 0; i < times.length; i++) if (times[i]! > nowMs) times[i] = nowMs
    }
  }

  /** When the sample that counts is from; NaN if there is none. */
  timeOf(number: number): number {
    if (this.#times !== undefined) return this.#times[number]!
    const owner = this.#owners[number]!
    return owner === NOBODY ? NaN : this.things.readMs[owner]!
  }

  /** From now on samples have times of their own. */
  #ownTimes(): Float64Array<ArrayBuffer> {
    return (this.#times ??= Float64Array.from(this.#owners, (_, number) => this.timeOf(number)))
  }

  /**
   * A sample for each thing of `numbers`: for numbers[i] there is one at places.columns[i]. `isAbsent` says which columns have none. With `gather` what they have is at gather[i] of the
   * batch, not at i.
   */
  write(
    source: number,
    numbers: ArrayLike<number>,
    places: Places,
    batch: { readonly values: Float64Array; readonly times?: Float64Array | undefined; readonly timeMs: number },
    gather: Uint32Array | undefined,
    isAbsent: Uint8Array | undefined,
  ): void {
    const { values: incoming, times: stamps, timeMs } = batch
    if (this.#counters === undefined && stamps === undefined && isAbsent === undefined) {
      this.#writePlain(source, numbers, places, incoming, gather, timeMs)
      return
    }
    this.#ownTimes()
    const { columns, multiply, divide } = places
    for (let i = 0; i < numbers.length; i++) {
      const own = columns[i]!
      if (isAbsent !== undefined && isAbsent[own] === 1) {
        this.#miss(source, numbers[i]!)
        continue
      }
      const column = gather === undefined ? own : gather[own]!
      const stamp = stamps === undefined ? timeMs : stamps[column]!
      const time = Number.isNaN(stamp) ? timeMs : stamp
      const value = (incoming[column]! * multiply) / divide
      if (this.#counters === undefined) this.#put(source, numbers[i]!, value, time)
      else this.#count(source, numbers[i]!, value, time)
    }
  }

  /** What nearly all batches are: every column has a sample of one time. */
  #writePlain(
    source: number,
    numbers: ArrayLike<number>,
    { columns, multiply, divide }: Places,
    incoming: Float64Array,
    gather: Uint32Array | undefined,
    timeMs: number,
  ): void {
    const { values, active, activeAbove = 0 } = this
    const owners = this.#owners
    const times = this.#times
    this.things.noteRead(source, timeMs)
    for (let i = 0; i < numbers.length; i++) {
      const number = numbers[i]!
      const column = columns[i]!
      const value = (incoming[gather === undefined ? column : gather[column]!]! * multiply) / divide
      if (owners[number] === source) {
        values[number] = value
        if (times !== undefined) times[number] = timeMs
        if (active !== undefined && value > activeAbove) active[number] = timeMs
      } else this.#put(source, number, value, timeMs)
    }
  }

  /** What counts stays where there is no sample; of another source nothing is known any more. */
  #miss(source: number, number: number): void {
    const sources = this.#contested.get(number)
    if (sources?.has(source) === true && this.#owners[number] !== source) sources.set(source, undefined)
  }

  #put(source: number, number: number, value: number, time: number): void {
    const owner = this.#owners[number]!
    if (owner !== source && owner !== NOBODY) {
      const sources = this.#contest(number, owner, source)
      const known = { value: this.values[number]!, timeMs: this.#ownTimes()[number]! }
      if (known.timeMs > time || (known.timeMs === time && known.value >= value)) {
        sources.set(source, { value, timeMs: time })
        return
      }
      sources.set(owner, known)
    }
    this.#owners[number] = source
    this.values[number] = value
    if (this.#times !== undefined) this.#times[number] = time
    if (this.active !== undefined && value > this.activeAbove!) this.active[number] = time
  }

  /**
   * From a counter to its rate. A counter that is smaller than before has begun anew. A sample that is repeated, or older, tells
   * nothing. Two sources may count one thing by clocks of their own, so only one of them is listened to.
   */
  #count(source: number, number: number, value: number, time: number): void {
    const owner = this.#owners[number]!
    if (owner !== source && owner !== NOBODY) {
      this.#contest(number, owner, source)
      return
    }
    this.#owners[number] = source
    const counters = this.#counters!
    const before = counters.values[number]!
    const sinceMs = time - counters.times[number]!
    if (sinceMs === 0) return
    counters.values[number] = value
    counters.times[number] = time
    if (sinceMs === -Infinity) return
    // One that is smaller and from before the last one was late: the counter has not begun anew.
    const isNothing = sinceMs < 0 || (this.#isGrowth && Number.isNaN(before))
    const increase = value >= before ? value - before : isNothing ? 0 : value
    if (this.isIncrease) this.#grow(number, increase, time)
    else if (sinceMs > 0) this.#put(source, number, (increase / sinceMs) * 1000, time)
  }

  #grow(number: number, increase: number, time: number): void {
    const known = this.values[number]!
    this.values[number] = Number.isNaN(known) ? increase : known + increase
    this.#times![number] = time
  }

  /** What a counter last showed: for whoever keeps it over a restart. */
  counterOf(number: number): number {
    return this.#counters?.values[number] ?? NaN
  }

  #leave(number: number, key: string): void {
    const value = this.counterOf(number)
    if (Number.isNaN(value)) return
    if (this.left.size >= MOST_LEFT) this.left.delete(this.left.keys().next().value!)
    this.left.set(key, value)
  }

  #contest(number: number, owner: number, source: number): Map<number, Sample | undefined> {
    let sources = this.#contested.get(number)
    if (sources === undefined) this.#contested.set(number, (sources = new Map([[owner, undefined]])))
    if (!sources.has(source)) sources.set(source, undefined)
    return sources
  }

  /** A source does not show the thing any more. If it was the one that counted, what the freshest of the others showed last counts. */
  end(source: number, number: number): void {
    const others = this.#contested.get(number)
    others?.delete(source)
    if (this.#owners[number] !== source) return
    if (this.#counters !== undefined && this.#handOver(number)) return
    this.#clear(number)
    for (const [other, last] of others ?? []) if (last !== undefined) this.#put(other, number, last.value, last.timeMs)
  }

  /** A source cannot be read for now: what others count as well is from now on counted by them. */
  yield(source: number): void {
    if (this.#counters === undefined) return
    for (const [number, sources] of this.#contested) {
      if (this.#owners[number] !== source) continue
      sources.delete(source)
      this.#handOver(number)
    }
  }

  /** The rate stays until the other source has told its counter twice. */
  #handOver(number: number): boolean {
    const [heir] = this.#contested.get(number)?.keys() ?? []
    if (heir === undefined) return false
    this.#owners[number] = heir
    // What it shows first is only where it goes on from.
    this.#counters!.values[number] = NaN
    this.#counters!.times[number] = this.isIncrease ? Infinity : NaN
    return true
  }

  #clear(number: number): void {
    this.#owners[number] = NOBODY
    this.values[number] = NaN
    if (this.#times !== undefined) this.#times[number] = NaN
    if (this.#counters === undefined) return
    if (!this.isIncrease) this.#counters.values[number] = NaN
    this.#counters.times[number] = NaN
  }
}

function grown(array: Float64Array<ArrayBuffer>, capacity: number): Float64Array<ArrayBuffer> {
  const known = array.length
  return resized(array, capacity).fill(NaN, known)
}
