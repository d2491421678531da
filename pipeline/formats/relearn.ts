/** Makes what is known of a target anew, after an exposition that had other lines, or had them in another order. */
import type { Labels } from '../model/labels.ts'
import {
  columnCount,
  createLayout,
  metricAt,
  Numbering,
  RunBuilder,
  type LabelList,
  type Layout,
} from '../model/layout.ts'
import { ONE } from '../model/scale.ts'
import type { Metric } from '../model/series.ts'
import { BlockLabels, type LabelMaker } from './block-labels.ts'
import { pickStrings } from './byte-arena.ts'
import { HashIndex, PairIndex } from './hash-index.ts'
import type { KnownLines, LineIndex, StartSlots } from './known-lines.ts'
import type { Learning } from './learning.ts'
import { NO_BLOCK, shapeFrom, shareColumns, type Columns, type Shape } from './line-shape.ts'
import { packBlocks } from './packed-blocks.ts'
import { startSlots } from './start-times.ts'

export type Relearnt = {
  readonly known: KnownLines
  /** By new slot: the slot it had while the exposition was read. */
  readonly oldSlots: Uint32Array
  /** Series that are new. */
  readonly added: number
  readonly index?: LineIndex
}

/**
 * A target that keeps its order gets its lines in the order of this exposition. One that does not keeps the lines it had where
 * they were, with new ones behind them: that leaves the layout as it is, as far as it can be.
 */
export function relearn(learning: Learning, keepsOrder: boolean, labelMaker: LabelMaker): Relearnt {
  const { known } = learning
  const order = keepsOrder ? learning.sequence.subarray(0, learning.length) : settledOrder(learning)
  const literals = new Renumbering(learning.literalCount)
  const blocks = new Renumbering(learning.blockCount)
  // As long as the series are the same their slots are, too, whatever the order of lines: the layout stays.
  const slots = new Renumbering(learning.slotCount)
  if (learning.hasKnownSlots) for (let slot = 0; slot < known.slotCount; slot++) slots.of(slot)

  const literalOf = new Int32Array(order.length)
  const blockOf = new Int32Array(order.length).fill(NO_BLOCK)
  const slotOf = new Int32Array(order.length).fill(-1)
  let sampleLines = 0
  for (let i = 0; i < order.length; i++) {
    const line = order[i]!
    literalOf[i] = literals.of(learning.literalOf[line]!)
    const block = learning.blockOf[line]!
    if (block === NO_BLOCK) continue
    blockOf[i] = blocks.of(block)
    slotOf[i] = slots.of(learning.slotOf[line]!)
    sampleLines++
  }
  const oldLiterals = literals.old()
  const oldBlocks = blocks.old()
  const oldSlots = slots.old()
  const shape = shapeFrom(
    known.shape.dialect,
    pickStrings(known.shape.literals, learning.newLiterals, oldLiterals),
    Array.from(oldLiterals, literal => learning.nameOf(literal)),
    literalOf,
    blockOf,
  )
  const blockLabels = Array.from(oldBlocks, block => learning.labelsOfBlock(block))
  const blockNames = learning.hasNames ? Array.from(oldBlocks, block => learning.nameOfBlock(block)) : undefined
  const { columns, labels } = numberSeries(shape, slotOf, oldSlots.length, blockLabels, blockNames)
  const starts = startSlots(shape.dialect, columns, labels)
  const hashes = keepsOrder ? undefined : learning.blockHashes
  const isOneList = isSameList(labels, blockLabels)
  const labelsOfBlock = new BlockLabels(isOneList ? labels : blockLabels, labelMaker)
  const now: KnownLines = {
    shape,
    columns,
    ...keptBlocks(learning, shape, oldBlocks, keepsOrder && sampleLines === oldSlots.length),
    labelsOfBlock,
    ...(blockNames && { nameOfBlock: blockNames }),
    layout: layoutFrom(known, columns, isOneList ? labelsOfBlock : labels, oldSlots, starts),
    slotCount: oldSlots.length,
    sampleLines,
    repeats: sampleLines > oldSlots.length,
    ...(starts && { starts }),
  }
  // Otherwise the layout has a list of its own, which holds the label sets anyway.
  if (isOneList) labelsOfBlock.madeFrom(now)
  return {
    known: now,
    oldSlots,
    added: oldSlots.reduce((count, slot) => (slot < known.slotCount ? count : count + 1), 0),
    ...(hashes && { index: indexFrom(oldBlocks, hashes, shape) }),
  }
}

/** Comments as they came, then the known samples that are still there, then the new ones, then the end. */
function settledOrder(learning: Learning): Int32Array {
  const { sequence, length, blockOf, lineCount, endLine } = learning
  const order = new Int32Array(length)
  let count = 0
  for (let i = 0; i < length; i++) {
    const line = sequence[i]!
    if (blockOf[line] === NO_BLOCK && line !== endLine) order[count++] = line
  }
  for (let line = 0; line < lineCount; line++) {
    if (blockOf[line] !== NO_BLOCK && learning.isSeen(line)) order[count++] = line
  }
  if (endLine >= 0 && learning.isSeen(endLine)) order[count++] = endLine
  return order.subarray(0, count)
}

/** Whoever is not read line after line, as expected, would have to unpack them with every exposition. */
function keptBlocks(
  { known, blocks, newBlocks }: Learning,
  shape: Shape,
  numbers: Uint32Array,
  mayPack: boolean,
): Pick<KnownLines, 'blocks' | 'dictionary'> {
  const picked = pickStrings(blocks, newBlocks, numbers)
  if (mayPack && picked === blocks && known.dictionary !== undefined) {
    return { blocks: known.blocks, dictionary: known.dictionary }
  }
  return (mayPack ? packBlocks(shape, picked) : undefined) ?? { blocks: picked, dictionary: undefined }
}

/** Gives new numbers in the order in which the old ones are first asked for. */
class Renumbering {
  #numbers: Int32Array
  #old: Uint32Array
  #count = 0

  constructor(size: number) {
    this.#numbers = new Int32Array(size).fill(-1)
    this.#old = new Uint32Array(size)
  }

  of(old: number): number {
    const number = this.#numbers[old]!
    if (number >= 0) return number
    this.#old[this.#count] = old
    return (this.#numbers[old] = this.#count++)
  }

  /** The old numbers, by new number. */
  old(): Uint32Array {
    return this.#count === this.#old.length ? this.#old : this.#old.slice(0, this.#count)
  }
}

/** Numbers the metrics and label sets of the slots. */
function numberSeries(
  shape: Shape,
  slotOf: Int32Array,
  slotCount: number,
  blockLabels: readonly Labels[],
  blockNames: readonly string[] | undefined,
): { columns: Columns; labels: readonly Labels[] } {
  const { literalOf, blockOf } = shape
  const firstLines = new Int32Array(slotCount)
  for (let line = slotOf.length - 1; line >= 0; line--) if (slotOf[line]! >= 0) firstLines[slotOf[line]!] = line

  const metrics = new Numbering<Metric>()
  const labels = new Numbering<Labels>()
  const metricOfLiteral = new Int32Array(shape.names.length).fill(-1)
  const labelsOfBlock = new Int32Array(blockLabels.length).fill(-1)
  const metricOf = new Uint32Array(slotCount)
  const labelsOf = new Uint32Array(slotCount)
  for (let slot = 0; slot < slotCount; slot++) {
    const literal = literalOf[firstLines[slot]!]!
    const block = blockOf[firstLines[slot]!]!
    let metric = metricOfLiteral[literal]!
    if (metric < 0) {
      const known = shape.metrics[literal]
      metric = metrics.numberOf(known ?? shape.families.describe(blockNames![block]!))
      if (known !== undefined) metricOfLiteral[literal] = metric
    }
    metricOf[slot] = metric
    if (labelsOfBlock[block]! < 0) labelsOfBlock[block] = labels.numberOf(blockLabels[block]!)
    labelsOf[slot] = labelsOfBlock[block]!
  }
  const scales = metrics.items.map(() => ONE)
  const columns = shareColumns(shape, { slotOf, metrics: metrics.items, scales, metricOf, labelsOf })
  return { columns, labels: labels.items }
}

/** The layout of these columns; the known one if it has them already. */
function layoutFrom(
  known: KnownLines,
  columns: Columns,
  labels: readonly Labels[] | LabelList,
  oldSlots: Uint32Array,
  starts: StartSlots | undefined,
): Layout {
  const { metrics, scales } = columns
  const metricOf = starts === undefined ? columns.metricOf : pickNumbers(columns.metricOf, starts.valueSlot)
  const labelsOf = starts === undefined ? columns.labelsOf : pickNumbers(columns.labelsOf, starts.valueSlot)
  const runs = new RunBuilder()
  const oldColumns = columnsBySlot(known)
  for (let column = 0; column < metricOf.length; column++) {
    const slot = starts === undefined ? column : starts.valueSlot[column]!
    const oldSlot = oldSlots[slot]!
    if (oldSlot >= known.slotCount) continue
    const oldColumn = oldColumns === undefined ? oldSlot : oldColumns[oldSlot]!
    // Who is described in another way is another metric to whoever reads descriptions.
    if (oldColumn >= 0 && metricAt(known.layout, oldColumn) === metrics[metricOf[column]!])
      runs.add(column, oldColumn, 1)
  }
  const kept = runs.finish()
  const everything = kept.length === 3 && kept[0] === 0 && kept[1] === 0 && kept[2] === metricOf.length
  if (metricOf.length === columnCount(known.layout) && (everything || metricOf.length === 0)) return known.layout
  return createLayout({
    metrics,
    scales,
    labels,
    metricOf,
    labelsOf,
    ...(kept.length > 0 && { keptFrom: { id: known.layout.id, runs: kept } }),
  })
}

/** Where every block has labels of its own, and lines come in the order of slots, one list serves both. */
function isSameList(a: readonly Labels[], b: readonly Labels[]): boolean {
  return a.length === b.length && a.every((labels, i) => labels === b[i])
}

function columnsBySlot({ starts, slotCount }: KnownLines): Int32Array | undefined {
  if (starts === undefined) return undefined
  const columns = new Int32Array(slotCount).fill(-1)
  starts.valueSlot.forEach((slot, column) => {
    columns[slot] = column
  })
  return columns
}

function pickNumbers(numbers: Uint32Array, places: Int32Array): Uint32Array {
  return Uint32Array.from(places, place => numbers[place]!)
}

function indexFrom(oldBlocks: Uint32Array, hashes: Int32Array, { literalOf, blockOf }: Shape): LineIndex {
  const blocks = new HashIndex(oldBlocks.length)
  for (const block of oldBlocks) blocks.add(hashes[block]!)
  return { blocks, pairs: new PairIndex(literalOf, blockOf, literalOf.length) }
}
