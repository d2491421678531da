/** Writes the numbers of a batch by its plan. Nothing here looks at labels or names; this is the loop that runs per sample. */
import type { Batch } from '../model/batch.ts'
import { applyScale, ONE } from '../model/scale.ts'
import { CompositePoints } from './otlp-composite-points.ts'
import type { EncodePlan, LeftOut } from './otlp-encode-plan.ts'
import type { GoesOn } from './otlp-ended.ts'
import { groupCount, groupLength } from './otlp-groups.ts'
import type { PlannedComposites } from './otlp-planned-composites.ts'
import { MAX_POINTS, NONE } from './otlp-patterns.ts'
import { START_MS, TIME_MS, VALUE, type RequestWriter } from './otlp-request-writer.ts'

export type WalkOptions = {
  readonly dropNotANumber: boolean
  readonly maxPoints: number
  readonly maxBytes: number
  /** Takes the request that is as large as it may be. */
  full(points: number): void
  leftOut(reason: LeftOut, points: number): void
}

/** More than the tags and lengths around a metric and a group take. */
const AROUND = 64
const NOTHING: ReadonlyMap<LeftOut, number> = new Map()

export class Walk {
  /** In the request that is begun. */
  points = 0
  /** Requests that became full. */
  #cuts = 0
  readonly #writer: RequestWriter
  readonly #options: WalkOptions
  readonly #points: CompositePoints
  /** Those of a group that has a pattern. */
  readonly #numbersOf = new Float64Array(MAX_POINTS)

  constructor(writer: RequestWriter, options: WalkOptions) {
    this.#writer = writer
    this.#options = options
    this.#points = new CompositePoints(options.dropNotANumber)
  }

  /** Goes on at a group, and stops behind the one in which a request became full. Returns the next one; -1 if there is none. */
  batch(plan: EncodePlan, batch: Batch, from: number): number {
    const isAbsent = absentOf(batch)
    const count = groupCount(plan.groups)
    const before = this.#cuts
    // A pattern has one time for all, and none that they began at.
    const isEven = isAbsent === undefined && batch.times === undefined && batch.starts === undefined
    this.#writer.next[TIME_MS] = batch.timeMs
    for (let group = from; group < count; group++) {
      if (this.#cuts !== before) return group
      if (isEven && plan.composites === undefined) group = this.#byPatterns(plan, group, batch)
      if (group === count) break
      this.#numbers(plan, group, batch, isAbsent)
      if (plan.composites !== undefined) this.#composites(plan, plan.composites, group, batch, isAbsent)
    }
    this.#leaveOut(plan)
    return -1
  }

  /**
   * Writes groups as copies of their patterns, one after the other. Returns the first that has none, has numbers that are not to be sent,
   * or does not fit into the request.
   */
  #byPatterns(plan: EncodePlan, from: number, { values }: Batch): number {
    const { patterns, patternOf, columns, starts, groups, blocks, layout, isScaled } = plan
    const { dropNotANumber, maxBytes, maxPoints } = this.#options
    const writer = this.#writer
    const numbers = this.#numbersOf
    let { points } = this
    let group = from
    each: for (; group < patternOf.length; group++) {
      const number = patternOf[group]!
      if (number === NONE) break
      const pattern = patterns[number]!
      const { count } = pattern
      const size = pattern.length + groups.resources.lengthOf(group) + AROUND
      if (points + count > maxPoints || writer.length + size > maxBytes) break
      const first = starts[group]!
      for (let i = 0; i < count; i++) {
        const column = columns[first + i]!
        const value = isScaled ? applyScale(values[column]!, layout.scales[layout.metricOf[column]!]!) : values[column]!
        if (dropNotANumber && value - value !== 0) break each
        numbers[i] = value
      }
      writer.patterns!.group(pattern, groups, group, blocks, layout.labelsOf[columns[first]!]! + 1, numbers)
      points += count
    }
    this.points = points
    return group
  }

  #leaveOut({ leftOut }: EncodePlan): void {
    for (const [reason, points] of leftOut ?? NOTHING) this.#options.leftOut(reason, points)
  }

  /** The points of what does not go on, after the last sample of each where a target is ahead of us: `lastTimes`, by column. */
  ended(plan: EncodePlan, goesOn: GoesOn, timeMs: number, lastTimes?: Float64Array): void {
    const { columns, starts, layout, composites } = plan
    const endOf = (column: number): number =>
      lastTimes === undefined || lastTimes[column]! < timeMs ? timeMs : lastTimes[column]! + 1
    for (let group = 0; group < groupCount(plan.groups); group++) {
      let isOpen = false
      let metric = -1
      for (let i = starts[group]!; i < starts[group + 1]!; i++) {
        const column = columns[i]!
        if (goesOn.columns[column] === 1) continue
        const block = layout.labelsOf[column]! + 1
        const bytes = plan.metrics[layout.metricOf[column]!]!
        const size = this.#sizeOf(plan.blocks.starts, block)
        if (!this.#fits(plan, group, bytes, size)) continue
        if (this.#isFull(plan, group, bytes, size)) isOpen = this.#cut(isOpen)
        if (!isOpen || metric !== layout.metricOf[column]) {
          if (!isOpen) this.#writer.openGroup(plan.groups, group)
          else this.#writer.closeMetric()
          this.#writer.openMetric(bytes)
          isOpen = true
          metric = layout.metricOf[column]!
        }
        this.#writer.ended(plan.blocks, block, bytes.shape, endOf(column))
        this.points++
      }
      if (isOpen) this.#close()
      if (composites === undefined) continue
      for (let i = composites.starts[group] ?? 0; i < (composites.starts[group + 1] ?? 0); i++) {
        if (goesOn.composites[i] === 1) continue
        const bytes = composites.metrics[composites.metricOf[i]!]!
        const block = composites.blockOf[i]!
        const size = this.#compositeSize(composites, i)
        if (!this.#fits(plan, group, bytes, size)) continue
        if (this.#isFull(plan, group, bytes, size)) this.#cut(false)
        this.#writer.openGroup(plan.groups, group)
        this.#writer.openMetric(bytes)
        const endMs = endOf(leadingColumn(composites, i))
        if (bytes.shape === 'histogram') {
          this.#points.endHistogram(composites, i)
          this.#writer.histogram(composites.blocks, block, this.#points.histogram, endMs, NaN)
        } else {
          this.#points.endSummary(composites, i)
          this.#writer.summary(composites.blocks, block, this.#points.summary, endMs, NaN)
        }
        this.points++
        this.#close()
      }
    }
  }

  #numbers(plan: EncodePlan, group: number, batch: Batch, isAbsent: Uint8Array | undefined): void {
    const { columns, blocks, isScaled, layout } = plan
    const { metricOf, labelsOf } = layout
    const { values, times, starts, timeMs } = batch
    const { dropNotANumber, maxPoints, maxBytes } = this.#options
    const writer = this.#writer
    const { next } = writer
    const end = plan.starts[group + 1]!
    const groupBytes = groupLength(plan.groups, group) + AROUND + writer.numberBytes
    let isOpen = false
    let metric = -1
    let scale = ONE
    let around = 0
    for (let i = plan.starts[group]!; i < end; i++) {
      const column = columns[i]!
      if (isAbsent !== undefined && isAbsent[column] === 1) continue
      const number = metricOf[column]!
      let value = values[column]!
      if (isScaled) {
        if (number !== metric) scale = layout.scales[number]!
        value = applyScale(value, scale)
      }
      // Of what is no number, or is infinite, the difference to itself is no number.
      if (dropNotANumber && value - value !== 0) {
        this.#options.leftOut('not a number', 1)
        continue
      }
      const block = labelsOf[column]! + 1
      if (number !== metric || !isOpen) {
        const bytes = plan.metrics[number]!
        around = groupBytes + bytes.headEnd - bytes.headStart + bytes.tail.length
      }
      const size = around + blocks.starts[block + 1]! - blocks.starts[block]!
      if (this.points >= maxPoints || writer.length + size > maxBytes) {
        if (size + writer.numberBytes > maxBytes) {
          this.#options.leftOut('size', 1)
          continue
        }
        isOpen = this.#cut(isOpen)
      }
      if (number !== metric || !isOpen) {
        if (!isOpen) writer.openGroup(plan.groups, group)
        else writer.closeMetric()
        writer.openMetric(plan.metrics[number]!)
        metric = number
        isOpen = true
      }
      next[VALUE] = value
      next[TIME_MS] = times === undefined || Number.isNaN(times[column]!) ? timeMs : times[column]!
      next[START_MS] = starts === undefined ? NaN : starts[column]!
      writer.number(blocks, block)
      this.points++
    }
    if (isOpen) this.#close()
  }

  #composites(
    plan: EncodePlan,
    composites: PlannedComposites,
    group: number,
    batch: Batch,
    isAbsent: Uint8Array | undefined,
  ): void {
    const writer = this.#writer
    let isOpen = false
    let metric = -1
    for (let i = composites.starts[group] ?? 0; i < (composites.starts[group + 1] ?? 0); i++) {
      const number = composites.metricOf[i]!
      const bytes = composites.metrics[number]!
      const isHistogram = bytes.shape === 'histogram'
      const leading = leadingColumn(composites, i)
      if (isAbsent !== undefined && isAbsent[leading] === 1) continue
      const isWhole = isHistogram
        ? this.#points.readHistogram(plan, composites, i, batch, isAbsent)
        : this.#points.readSummary(plan, composites, i, batch, isAbsent)
      if (!isWhole) {
        this.#options.leftOut(isHistogram ? 'histogram' : 'not a number', 1)
        continue
      }
      const block = composites.blockOf[i]!
      const size = this.#compositeSize(composites, i)
      if (!this.#fits(plan, group, bytes, size)) continue
      if (this.#isFull(plan, group, bytes, size)) isOpen = this.#cut(isOpen)
      if (number !== metric || !isOpen) {
        if (!isOpen) writer.openGroup(plan.groups, group)
        else writer.closeMetric()
        writer.openMetric(bytes)
        metric = number
        isOpen = true
      }
      const own = batch.times?.[leading] ?? NaN
      const time = Number.isNaN(own) ? batch.timeMs : own
      const start = batch.starts?.[leading] ?? NaN
      if (isHistogram) writer.histogram(composites.blocks, block, this.#points.histogram, time, start)
      else writer.summary(composites.blocks, block, this.#points.summary, time, start)
      this.points++
    }
    if (isOpen) this.#close()
  }

  #compositeSize({ blocks, blockOf, bounds, boundsOf }: PlannedComposites, i: number): number {
    const { bytes, values } = bounds[boundsOf[i]!]!
    return this.#sizeOf(blocks.starts, blockOf[i]!) + bytes.length + (values.length + 2) * this.#writer.partBytes
  }

  #sizeOf(starts: Uint32Array, block: number): number {
    return starts[block + 1]! - starts[block]! + this.#writer.numberBytes
  }

  /** Whether a point can be sent at all. */
  #fits(plan: EncodePlan, group: number, bytes: Around, size: number): boolean {
    if (size + aroundLength(plan, group, bytes) + this.#writer.numberBytes <= this.#options.maxBytes) return true
    this.#options.leftOut('size', 1)
    return false
  }

  #isFull(plan: EncodePlan, group: number, bytes: Around, size: number): boolean {
    const { maxPoints, maxBytes } = this.#options
    return this.points >= maxPoints || this.#writer.length + size + aroundLength(plan, group, bytes) > maxBytes
  }

  #close(): void {
    this.#writer.closeMetric()
    this.#writer.closeGroup()
  }

  /** Ends the request; nothing is open after it. */
  #cut(isOpen: boolean): false {
    if (isOpen) this.#close()
    this.#cuts++
    if (this.points > 0) this.#options.full(this.points)
    this.points = 0
    return false
  }
}

type Around = { readonly headStart: number; readonly headEnd: number; readonly tail: Uint8Array }

function aroundLength(plan: EncodePlan, group: number, { headStart, headEnd, tail }: Around): number {
  return groupLength(plan.groups, group) + headEnd - headStart + tail.length + AROUND
}

/** The one that tells time and presence of a whole histogram or summary. */
function leadingColumn({ counts, totals }: PlannedComposites, i: number): number {
  return counts[i]! >= 0 ? counts[i]! : totals[i]!
}

function absentOf({ absent, values }: Batch): Uint8Array | undefined {
  if (absent === undefined || absent.length === 0) return undefined
  const isAbsent = new Uint8Array(values.length)
  for (const column of absent) isAbsent[column] = 1
  return isAbsent
}
