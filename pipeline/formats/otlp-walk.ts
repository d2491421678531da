/** Writes the numbers of a batch by its plan. Nothing here looks at labels or names; this is the loop that runs per sample. */
import type { Batch } from '../model/batch.ts'
import { applyScale, ONE } from '../model/scale.ts'
import { CompositePoints } from './otlp-composite-points.ts'
import type { EncodePlan, LeftOut } from './otlp-encode-plan.ts'
import type { GoesOn } from './otlp-ended.ts'
import { groupCount } from './otlp-groups.ts'
import type { PlannedComposites } from './otlp-planned-composites.ts'
import { PIECE_BYTES, PIECE_POINTS, TemplateDraft, type Template } from './otlp-template.ts'
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
  /** The numbers of a piece. */
  #numbersOf = new Float64Array(2 * PIECE_POINTS)

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
    for (let group = from; group < count; group++) {
      if (this.#cuts !== before) return group
      this.#numbers(plan, group, batch, isAbsent)
      if (plan.composites !== undefined) this.#composites(plan, plan.composites, group, batch, isAbsent)
    }
    this.#leaveOut(plan)
    return -1
  }

  /** Whether a batch of this plan can be written by a template: its points are those of the last batch. */
  isRepeatable(plan: EncodePlan, { absent, times, starts }: Batch): boolean {
    const { maxBytes, maxPoints } = this.#options
    return (
      this.#writer.again !== undefined &&
      plan.composites === undefined &&
      absent === undefined &&
      times === undefined &&
      starts === undefined &&
      maxBytes >= 8 * PIECE_BYTES &&
      maxPoints >= 8 * PIECE_POINTS
    )
  }

  /** As `batch`, and keeps what was written. */
  record(plan: EncodePlan, batch: Batch, first: number, draft: TemplateDraft): number {
    const writer = this.#writer
    const { groups, starts } = plan
    const cutsBefore = this.#cuts
    for (let group = first; group < groupCount(groups);) {
      this.#makeRoom(2 * PIECE_BYTES, 2 * PIECE_POINTS)
      if (this.#cuts !== cutsBefore) return group
      const from = group
      const distance = writer.length
      const before = this.points
      const cuts = this.#cuts
      while (
        group < groupCount(groups) &&
        writer.length - distance < PIECE_BYTES &&
        this.points - before < PIECE_POINTS
      ) {
        this.#numbers(plan, group++, batch, undefined, draft.distances)
      }
      // Where a request ended in between, or a point was left out, the next batch may have it.
      const isWhole = this.#cuts === cuts && this.points - before === starts[group]! - starts[from]!
      draft.add(from, group, isWhole ? writer.again!.last(writer.length - distance) : undefined, distance)
    }
    this.#leaveOut(plan)
    return -1
  }

  /** As `batch`, by what was recorded of the same plan; `from` and what is returned are numbers of pieces. */
  repeat(template: Template, plan: EncodePlan, batch: Batch, from: number): number {
    const { starts } = plan
    const { pieces, values } = template
    const before = this.#cuts
    for (let next = from; next < pieces.length; next++) {
      if (this.#cuts !== before) return next
      const piece = pieces[next]!
      const first = starts[piece.groupFrom]!
      const count = starts[piece.groupTo]! - first
      const { bytes } = piece
      if (bytes !== undefined && this.#readNumbers(plan, batch, first, count)) {
        this.#makeRoom(bytes.length, count)
        this.#writer.again!.piece(bytes, values, first, this.#numbersOf, count, batch.timeMs)
        this.points += count
      } else {
        for (let group = piece.groupFrom; group < piece.groupTo; group++) this.#numbers(plan, group, batch, undefined)
      }
    }
    this.#leaveOut(plan)
    return -1
  }

  /** False if one of them is not to be sent. */
  #readNumbers({ columns, layout, isScaled }: EncodePlan, { values }: Batch, first: number, count: number): boolean {
    if (this.#numbersOf.length < count) this.#numbersOf = new Float64Array(2 * count)
    const numbers = this.#numbersOf
    const { dropNotANumber } = this.#options
    for (let i = 0; i < count; i++) {
      const column = columns[first + i]!
      const value = isScaled ? applyScale(values[column]!, layout.scales[layout.metricOf[column]!]!) : values[column]!
      if (dropNotANumber && value - value !== 0) return false
      numbers[i] = value
    }
    return true
  }

  #makeRoom(bytes: number, points: number): void {
    const { maxBytes, maxPoints } = this.#options
    if (this.points + points > maxPoints || this.#writer.length + bytes > maxBytes) this.#cut(false)
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

  /** Notes for each point how far its value is from the end of the request, if `distances` are wanted. */
  #numbers(
    plan: EncodePlan,
    group: number,
    batch: Batch,
    isAbsent: Uint8Array | undefined,
    distances?: Uint32Array,
  ): void {
    const { columns, blocks, isScaled, layout } = plan
    const { metricOf, labelsOf } = layout
    const { values, times, starts, timeMs } = batch
    const { dropNotANumber, maxPoints, maxBytes } = this.#options
    const writer = this.#writer
    const { next } = writer
    const end = plan.starts[group + 1]!
    const groupBytes = groupLength(plan, group) + AROUND + writer.numberBytes
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
      if (distances !== undefined) distances[i] = writer.again!.valueDistance
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
  return groupLength(plan, group) + headEnd - headStart + tail.length + AROUND
}

function groupLength({ groups }: EncodePlan, group: number): number {
  return groups.starts[2 * group + 2]! - groups.starts[2 * group]!
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
