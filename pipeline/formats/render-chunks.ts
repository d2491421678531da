/** Writes a snapshot as bytes, a piece at a time. Nothing here looks at labels or names; this is the loop that runs per sample. */
import { applyScale, ONE } from '../model/scale.ts'
import type { Batch } from '../model/batch.ts'
import { BACK, FIRST, LAST } from './packed-strings.ts'
import { SLACK } from './render-labels.ts'
import { NUMBER_ROOM, writeNumber } from './render-number.ts'
import type { ShownMetric } from './render-metrics.ts'
import { SEGMENT_LENGTH } from './render-plan.ts'
import type { Prepared } from './render-prepared.ts'
import type { Snapshot } from './render-snapshot.ts'

/** Where a piece begins. A snapshot never changes, so the same cursor always gives the same piece. */
export type Cursor = {
  readonly family: number
  readonly segment: number
  /** Counted in the order of the group; -1 stands for the beginning of a segment. */
  readonly position: number
}

/** The bytes are in the page that it was written on, and the next piece begins at `next`, if there is one. */
export type Piece = { readonly bytes: Buffer; readonly next: Cursor | undefined }

export const START: Cursor = { family: 0, segment: 0, position: -1 }

const PAGE_BYTES = 128 * 1024
/** Value, timestamp, the blank between them, line feed, and what copying in strides may write too much. */
const LINE_ROOM = 2 * NUMBER_ROOM + 2 + SLACK
const LINE_FEED = 0x0a
const BLANK = 0x20
const END = Buffer.from('# EOF\n')

/** `page` is written over. */
export function renderPiece(snapshot: Snapshot, cursor: Cursor, page = createPage()): Piece {
  let piece = fillPiece(snapshot, cursor, page)
  // A line that is longer than a page gets a page that is as long as it.
  for (let size = 4 * PAGE_BYTES; piece === undefined; size *= 4) piece = fillPiece(snapshot, cursor, createPage(size))
  return piece
}

function fillPiece(snapshot: Snapshot, cursor: Cursor, page: Page): Piece | undefined {
  const { families } = snapshot.plan
  page.at = 0
  let { family, segment, position } = cursor
  for (; family < families.length; family++) {
    const { header, segments } = families[family]!
    const opened = segment > 0 || position >= 0
    const before = page.at
    if (!opened && !append(page, header)) return cut(page, { family, segment: 0, position: -1 })
    const afterHeader = page.at
    for (; segment * SEGMENT_LENGTH < segments.length; segment++) {
      position = writeSegment(page, snapshot, segments, segment * SEGMENT_LENGTH, position)
      // Nothing of the family is out yet: its header goes with its first line.
      if (position >= 0 && !opened && page.at === afterHeader) {
        page.at = before
        return cut(page, { family, segment: 0, position: -1 })
      }
      if (position >= 0) return cut(page, { family, segment, position })
    }
    if (!opened && page.at === afterHeader) page.at = before
    segment = 0
  }
  if (snapshot.syntax === 'openmetrics' && !append(page, END)) return cut(page, { family, segment: 0, position: -1 })
  return { bytes: page.bytes.subarray(0, page.at), next: undefined }
}

/** A piece with nothing in it is no piece. */
function cut({ bytes, at }: Page, next: Cursor): Piece | undefined {
  return at === 0 ? undefined : { bytes: bytes.subarray(0, at), next }
}

/** Where a piece is written. A page that is used again is faster than a fresh one, by the memory that need not be fetched. */
export type Page = { readonly bytes: Buffer; readonly view: DataView; at: number }

export function createPage(size = PAGE_BYTES): Page {
  const bytes = Buffer.allocUnsafeSlow(size)
  return { bytes, view: new DataView(bytes.buffer, bytes.byteOffset, size), at: 0 }
}

function append(page: Page, text: Buffer): boolean {
  if (page.at + text.length > page.bytes.length) return false
  page.bytes.set(text, page.at)
  page.at += text.length
  return true
}

/** Writes what fits and returns the position where it has to go on, -1 if it is done. */
function writeSegment(page: Page, snapshot: Snapshot, segments: Int32Array, at: number, from: number): number {
  const { plan, timestamps, syntax } = snapshot
  const member = segments[at]!
  const batch = snapshot.batches[member]
  if (batch === undefined) return -1
  const start = from >= 0 ? from : segments[at + 1]!
  const end = segments[at + 2]!
  const only = segments[at + 3]! < 0 ? undefined : plan.metrics[segments[at + 3]!]
  const timeUnit = !timestamps ? 0 : syntax === 'text' ? 1 : 1000
  return writeLines(
    page,
    plan.members[member]!,
    only,
    plan.orders[member],
    batch,
    snapshot.skips[member],
    start,
    end,
    timeUnit,
  )
}

function writeLines(
  page: Page,
  prepared: Prepared,
  only: ShownMetric | undefined,
  columns: Uint32Array | undefined,
  batch: Batch,
  skip: Uint8Array | undefined,
  start: number,
  end: number,
  timeUnit: number,
): number {
  const { bytes, view } = page
  const room = bytes.length - LINE_ROOM
  const { values, timeMs } = batch
  const { labelsOf, starts, parts, blocks } = prepared
  const isPacked = parts.length > 0
  const isMixed = only === undefined || prepared.isScaled
  let at = page.at
  let number = -1
  let metric = only ?? prepared.metrics.shown[0]!
  let scale = ONE
  for (let position = start; position < end; position++) {
    const column = columns === undefined ? position : columns[position]!
    if (skip !== undefined && skip[column] === 1) continue
    if (isMixed && prepared.layout.metricOf[column] !== number) {
      number = prepared.layout.metricOf[column]!
      metric = prepared.metrics.shown[number]!
      scale = prepared.layout.scales[number]!
    }
    const label = labelsOf[column]!
    const blockStart = starts[label]!
    const blockEnd = starts[label + 1]!
    const part = (3 * label) | 0
    const first = isPacked ? parts[part + FIRST]! : 0
    const last = isPacked ? parts[part + LAST]! : 0
    const blockLength = (first + blockEnd - blockStart + last) | 0
    if (at + metric.aloneLength + blockLength > room) {
      page.at = at
      return position
    }
    if (blockLength === 1) {
      copy(view, at, metric.alone, 0, metric.aloneLength)
      at += metric.aloneLength
    } else {
      const { prefixLength, skip: unwanted } = metric
      copy(view, at, metric.prefix, 0, prefixLength)
      at += prefixLength
      if (first === 0) {
        copy(view, at, blocks, blockStart + unwanted, blockEnd - blockStart - unwanted)
        at += blockEnd - blockStart - unwanted
      } else {
        const like = starts[(label - parts[part + BACK]!) | 0]!
        copy(view, at, blocks, like + unwanted, first - unwanted)
        at += first - unwanted
        copy(view, at, blocks, blockStart, blockEnd - blockStart)
        at += blockEnd - blockStart
      }
      if (last > 0) {
        copy(view, at, blocks, starts[(label - parts[part + BACK]! + 1) | 0]! - last, last)
        at += last
      }
    }
    at = writeNumber(bytes, at, applyScale(values[column]!, scale))
    if (timeUnit !== 0) {
      bytes[at++] = BLANK
      at = writeNumber(bytes, at, timeOf(batch, column, timeMs) / timeUnit)
    }
    bytes[at++] = LINE_FEED
  }
  page.at = at
  return -1
}

function timeOf({ times }: Batch, column: number, timeMs: number): number {
  const own = times === undefined ? NaN : times[column]!
  return Number.isNaN(own) ? timeMs : own
}

/**
 * Copies in strides of 32 bytes, so up to 31 too many, which is faster than a call for so few bytes. `| 0` keeps the arithmetic
 * to integers without checks. As doubles bytes might change only where they are a NaN (0xff, or 0xf0 and more before 0x7f), and
 * UTF-8 has no such sequence.
 */
function copy(to: DataView, at: number, from: DataView, start: number, length: number): void {
  const end = (start + length) | 0
  let q = at | 0
  for (let p = start | 0; p < end; p = (p + 32) | 0) {
    const fourth = from.getFloat64((p + 24) | 0, true)
    const third = from.getFloat64((p + 16) | 0, true)
    const second = from.getFloat64((p + 8) | 0, true)
    const first = from.getFloat64(p, true)
    to.setFloat64((q + 24) | 0, fourth, true)
    to.setFloat64((q + 16) | 0, third, true)
    to.setFloat64((q + 8) | 0, second, true)
    to.setFloat64(q, first, true)
    q = (q + 32) | 0
  }
}
