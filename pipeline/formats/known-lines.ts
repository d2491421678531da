/** What is known of one target's payload: its lines, the series they stand for, and the layout these make. Never changes. */
import { EMPTY_LAYOUT, type Layout } from '../model/layout.ts'
import { NO_LABELS, type BlockLabels } from './block-labels.ts'
import { ByteArena } from './byte-arena.ts'
import { HashIndex, PairIndex } from './hash-index.ts'
import { EMPTY_SHAPE, type Columns, type Shape } from './line-shape.ts'
import type { Dialect } from './sample-line.ts'

export type KnownLines = {
  readonly shape: Shape
  readonly columns: Columns
  /** The label blocks, from the end of the name to the value; most are packed (`packed-blocks.ts`), with a dictionary that others share. */
  readonly blocks: ByteArena | string
  readonly dictionary: Uint8Array | undefined
  readonly labelsOfBlock: BlockLabels
  /** The metric name in each block, where blocks have names in them at all. */
  readonly nameOfBlock?: readonly string[]
  readonly layout: Layout
  readonly slotCount: number
  readonly sampleLines: number
  /** Some lines stand for the same series, so the first of them must be found. */
  readonly repeats: boolean
  /** Where slots and columns of the layout are not the same. */
  readonly starts?: StartSlots
}

/** Slots that hold the time when a counter began are no columns but belong to some. */
export type StartSlots = {
  /** By column. */
  readonly valueSlot: Int32Array
  /** By column; -1 if it is not known when that began. */
  readonly startSlot: Int32Array
}

/** For finding lines in any order. Much larger than what is needed to read them in the known one. */
export type LineIndex = { readonly blocks: HashIndex; readonly pairs: PairIndex }

const NO_COLUMNS: Columns = {
  slotOf: new Int32Array(0),
  metrics: [],
  scales: [],
  metricOf: new Uint32Array(0),
  labelsOf: new Uint32Array(0),
}

/** Nothing is known. */
export function noLines(dialect: Dialect): KnownLines {
  return {
    shape: EMPTY_SHAPE[dialect],
    columns: NO_COLUMNS,
    blocks: new ByteArena(),
    dictionary: undefined,
    labelsOfBlock: NO_LABELS,
    layout: EMPTY_LAYOUT,
    slotCount: 0,
    sampleLines: 0,
    repeats: false,
  }
}
