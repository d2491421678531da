/** Writes a snapshot as bytes, a piece at a time. Nothing here looks at labels or names; this is the loop that runs per sample. */
import { applyScale, ONE } from '../model/scale.ts'
import type { Batch } from '../model/batch.ts'
import { SLACK } from './render-labels.ts'
import { NUMBER_ROOM, writeNumber } from './render-number.ts'
import type { Grouping } from './render-order.ts'
import type { Prepared } from './render-prepared.ts'
import type { Snapshot } from './render-snapshot.ts'

/** Where a piece begins. A snapshot never changes, so the same cursor always gives the same piece. */
export type Cursor = {
  readonly family: number
  readonly segment: number
  /** Counted in the order of the group; -1 stands for the beginning of a segment. */
  readonly position: number
}

export type Piece = { readonly bytes: Buffer; readonly next: Cursor | undefined }

export const START: Cursor = { family: 0, segment: 0, position: -1 }

const PIECE_BYTES = 64 * 1024
/** Value, timestamp, the blank between them, line feed, and what copying in strides may write too much. */
const LINE_ROOM = 2 * NUMBER_ROOM + 2 + SLACK
const LINE_FEED = 0x0a
const BLANK = 0x20
const END = Buffer.from('# EOF\n')

export function renderPiece(snapshot: Snapshot, cursor: Cursor): Piece {
  // A line that is longer than a piece gets a piece that is as long as it.
  for (let size = PIECE_BYTES; ; size *= 4) {
    const piece = fillPiece(snapshot, cursor, size)
    if (piece !== undefined) return piece
  }
}

function fillPiece(snapshot: Snapshot, cursor: Cursor, size: number): Piece | undefined {
  const { families } = snapshot.plan
  const page = createPage(size)
  let { family, segment, position } = cursor
  for (; family < families.length; family++) {
    const { header, segments } = families[family]!
    const opened = segment > 0 || position >= 0
    const before = page.at
    if (!opened && !append(page, header)) return cut(page, { family, segment: 0, position: -1 })
    const afterHeader = page.at
    for (; segment * 2 < segments.length; segment++) {
      const from = position
      position = writeSegment(page, snapshot, segments[segment * 2]!, segments[segment * 2 + 1]!, from)
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

type Page = { readonly bytes: Buffer; readonly view: DataView; at: number }

function createPage(size: number): Page {
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
function writeSegment(page: Page, snapshot: Snapshot, member: number, group: number, from: number): number {
  const batch = snapshot.batches[member]
  if (batch === undefined) return -1
  const grouping = snapshot.plan.groupings[member]!
  const start = from >= 0 ? from : grouping.starts[group]!
  const end = grouping.starts[group + 1]!
  const { timestamps, syntax } = snapshot
  const timeUnit = !timestamps ? 0 : syntax === 'text' ? 1 : 1000
  return writeLines(page, snapshot.plan.members[member]!, grouping, batch, snapshot.skips[member], start, end, timeUnit)
}

function writeLines(
  page: Page,
  prepared: Prepared,
  grouping: Grouping,
  batch: Batch,
  skip: Uint8Array | undefined,
  start: number,
  end: number,
  timeUnit: number,
): number {
  const { bytes, view } = page
  const room = bytes.length - LINE_ROOM
  const { columns } = grouping
  const { values, timeMs } = batch
  const { metricOf, labelsOf, scales } = prepared.layout
  const { starts } = prepared.table
  const blocks = prepared.table.bytes
  let at = page.at
  let number = -1
  let metric = prepared.shown[0]!
  let scale = ONE
  for (let position = start; position < end; position++) {
    const column = columns === undefined ? position : columns[position]!
    if (skip !== undefined && skip[column] === 1) continue
    if (metricOf[column] !== number) {
      number = metricOf[column]!
      metric = prepared.shown[number]!
      scale = scales[number]!
    }
    const label = labelsOf[column]!
    const blockStart = starts[label]!
    const blockLength = starts[label + 1]! - blockStart
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
      copy(view, at, blocks, blockStart + unwanted, blockLength - unwanted)
      at += blockLength - unwanted
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
 * Copies in strides of 32 bytes, so up to 31 too many, which is faster than a call for so few bytes. As doubles bytes might
 * change only where they are a NaN (0xff, or 0xf0 and more before 0x7f), and UTF-8 has no such sequence.
 */
function copy(to: DataView, at: number, from: DataView, start: number, length: number): void {
  for (let i = 0; i < length; i += 32) {
    to.setFloat64(at + i, from.getFloat64(start + i, true), true)
    to.setFloat64(at + i + 8, from.getFloat64(start + i + 8, true), true)
    to.setFloat64(at + i + 16, from.getFloat64(start + i + 16, true), true)
    to.setFloat64(at + i + 24, from.getFloat64(start + i + 24, true), true)
  }
}
