/**
 * What is found out while an exposition is read that is not line for line as expected: which of the known lines it has, in which
 * order, and which new ones.
 *
 * Lines, literals, blocks and slots that are new continue the numbers of the known ones.
 */
import type { Labels } from '../model/labels.ts'
import { SeriesIndex } from '../model/series-index.ts'
import { ByteArena } from './byte-arena.ts'
import { hashBlock, hashBytes, sameBytes } from './byte-compare.ts'
import { blocksOf } from './expected-lines.ts'
import { HashIndex, PairIndex } from './hash-index.ts'
import type { KnownLines, LineIndex } from './known-lines.ts'
import { NO_BLOCK } from './line-shape.ts'

export class Learning {
  readonly known: KnownLines
  /** The lines of this exposition, by number, in the order in which they came. */
  sequence: Int32Array
  length = 0
  /** How many different ones that are. */
  distinct = 0
  samples = 0
  duplicates = 0
  /** Known lines that were not where they were expected. */
  displaced = 0
  /** The line that ends the exposition; -1 if none is known. */
  endLine: number

  lineCount: number
  literalOf: Int32Array
  blockOf: Int32Array
  slotOf: Int32Array
  slotCount: number
  /** Those that are known. */
  readonly blocks: ByteArena
  readonly newLiterals = new ByteArena()
  readonly newBlocks = new ByteArena()

  #newNames: string[] = []
  /** Once somebody has asked for one. */
  #knownLabels: readonly Labels[] | undefined
  #newLabels: Labels[] = []
  #newBlockNames: string[] | undefined
  #newComments = new Map<number, number>()
  #literalIndex: HashIndex
  #index: LineIndex | undefined
  #firstBlocks: Map<Labels, number> | undefined
  #firstLiterals: Map<string, number> | undefined
  /** Whether a name or a label set is spelt in two ways. */
  #spellingsDiffer = false
  #seriesIndex: SeriesIndex | undefined
  #lineSeen: Uint8Array
  #slotSeen: Uint8Array
  #slotsSeen = 0

  /** The first `expected` lines were read already, each as known. */
  constructor(known: KnownLines, expected: number, index: LineIndex | undefined) {
    const { literalOf, blockOf, literalIndex } = known.shape
    this.known = known
    this.blocks = blocksOf(known)
    this.lineCount = literalOf.length
    this.endLine = known.shape.endLine
    this.literalOf = literalOf
    this.blockOf = blockOf
    this.slotOf = known.columns.slotOf
    this.slotCount = known.slotCount
    if (known.nameOfBlock !== undefined) this.#newBlockNames = []
    this.#literalIndex = literalIndex
    this.#index = index
    this.sequence = new Int32Array(Math.max(256, this.lineCount))
    this.#lineSeen = new Uint8Array(Math.max(256, this.lineCount))
    this.#slotSeen = new Uint8Array(Math.max(256, this.slotCount))
    for (let line = 0; line < expected; line++) this.note(line)
  }

  /** What was built for finding lines, as long as nothing was added to it. */
  get unchangedIndex(): LineIndex | undefined {
    const unchanged = this.lineCount === this.known.shape.literalOf.length && this.newBlocks.count === 0
    return unchanged ? this.#index : undefined
  }

  get blockHashes(): Int32Array | undefined {
    return this.#index?.blocks.hashes
  }

  /** Notes that a line was there. Returns whether its value counts: the first of a series does. */
  note(line: number): boolean {
    if (this.length === this.sequence.length) this.sequence = grow(this.sequence)
    this.sequence[this.length++] = line
    if (this.#lineSeen[line] === 0) {
      this.#lineSeen[line] = 1
      this.distinct++
    }
    const slot = this.slotOf[line]!
    if (slot < 0) return false
    this.samples++
    if (this.#slotSeen[slot] === 1) {
      this.duplicates++
      return false
    }
    this.#slotSeen[slot] = 1
    this.#slotsSeen++
    return true
  }

  isSeen(line: number): boolean {
    return this.#lineSeen[line] === 1
  }

  /** Whether the series are exactly the known ones. */
  get hasKnownSlots(): boolean {
    return this.slotCount === this.known.slotCount && this.#slotsSeen === this.slotCount
  }

  /** Whether the lines are exactly the known ones, in whatever order. */
  get hasKnownLines(): boolean {
    return this.lineCount === this.known.shape.literalOf.length && this.distinct === this.lineCount
  }

  literalLength(literal: number): number {
    const known = this.known.shape.literals
    return literal < known.count ? lengthIn(known, literal) : lengthIn(this.newLiterals, literal - known.count)
  }

  /** Whether the bytes at `p` begin with a literal. */
  isLiteral(literal: number, view: DataView, p: number, limit: number): boolean {
    const known = this.known.shape.literals
    return literal < known.count
      ? isAt(known, literal, view, p, limit)
      : isAt(this.newLiterals, literal - known.count, view, p, limit)
  }

  /** The literal that is these bytes, or -1. */
  findLiteral(view: DataView, start: number, end: number): number {
    const hash = hashBytes(view, start, end)
    const { slots, hashes, mask } = this.#literalIndex
    for (let slot = hash & mask; slots[slot] !== 0; slot = (slot + 1) & mask) {
      const literal = slots[slot]! - 1
      if (
        hashes[literal] === hash &&
        this.literalLength(literal) === end - start &&
        this.isLiteral(literal, view, start, end)
      ) {
        return literal
      }
    }
    return -1
  }

  addLiteral(bytes: Uint8Array, view: DataView, start: number, end: number, name: string): number {
    if (this.newLiterals.count === 0) this.#literalIndex = this.#literalIndex.copy()
    this.newLiterals.add(bytes, start, end)
    this.#newNames.push(name)
    return this.#literalIndex.add(hashBytes(view, start, end))
  }

  blockLength(block: number): number {
    const known = this.blocks
    return block < known.count ? lengthIn(known, block) : lengthIn(this.newBlocks, block - known.count)
  }

  /** The block that the bytes at `start` begin with, or -1. A block never begins another one but the blank one. */
  findBlock(view: DataView, start: number, limit: number): number {
    const hash = hashBlock(view, start, limit)
    const { slots, hashes, mask } = this.#lines.blocks
    const known = this.blocks
    for (let slot = hash & mask; slots[slot] !== 0; slot = (slot + 1) & mask) {
      const block = slots[slot]! - 1
      if (hashes[block] !== hash) continue
      const found =
        block < known.count
          ? isAt(known, block, view, start, limit)
          : isAt(this.newBlocks, block - known.count, view, start, limit)
      if (found) return block
    }
    return -1
  }

  addBlock(bytes: Uint8Array, view: DataView, start: number, end: number, labels: Labels, name: string): number {
    this.newBlocks.add(bytes, start, end)
    this.#newLabels.push(labels)
    if (name !== '') this.#newBlockNames ??= Array.from({ length: this.newBlocks.count - 1 }, () => '')
    this.#newBlockNames?.push(name)
    return this.#lines.blocks.add(hashBlock(view, start, end))
  }

  get literalCount(): number {
    return this.known.shape.literals.count + this.newLiterals.count
  }

  /** The metric name that a literal is; empty for comments, and where the name stands in the block. */
  nameOf(literal: number): string {
    const { names } = this.known.shape
    return literal < names.length ? names[literal]! : this.#newNames[literal - names.length]!
  }

  get blockCount(): number {
    return this.blocks.count + this.newBlocks.count
  }

  labelsOfBlock(block: number): Labels {
    this.#knownLabels ??= this.known.labelsOfBlock.list
    const known = this.#knownLabels
    return block < known.length ? known[block]! : this.#newLabels[block - known.length]!
  }

  /** Whether some blocks have metric names in them. */
  get hasNames(): boolean {
    return this.#newBlockNames !== undefined
  }

  /** The metric name in a block; empty if there is none. */
  nameOfBlock(block: number): string {
    const known = this.blocks.count
    return (block < known ? this.known.nameOfBlock?.[block] : this.#newBlockNames?.[block - known]) ?? ''
  }

  /** The line of a literal and a block, or -1. */
  findLine(literal: number, block: number): number {
    return this.#lines.pairs.find(literal, block)
  }

  /** The line of a comment, or -1. */
  findComment(literal: number): number {
    return this.known.shape.firstLineOf[literal] ?? this.#newComments.get(literal) ?? -1
  }

  /** A comment has no block. */
  addLine(literal: number, block: number): number {
    const line = this.lineCount++
    if (line >= this.literalOf.length || this.literalOf === this.known.shape.literalOf) this.#growLines()
    this.literalOf[line] = literal
    this.blockOf[line] = block
    const slot = block === NO_BLOCK ? -1 : this.#slotFor(literal, block)
    this.slotOf[line] = slot
    if (slot === this.slotCount) {
      this.slotCount++
      if (slot >= this.#slotSeen.length) this.#slotSeen = growBytes(this.#slotSeen)
    }
    if (block === NO_BLOCK) this.#newComments.set(literal, line)
    else this.#index?.pairs.add(this.literalOf, this.blockOf, line)
    return line
  }

  /** The slot of a series: a new one, unless the series is there already in another spelling. */
  #slotFor(literal: number, block: number): number {
    const name = this.#seriesName(literal, block)
    const firstBlock = this.#firstBlockLike(block)
    this.#noteName(name, literal)
    if (!this.#spellingsDiffer) return this.slotCount
    if (this.#seriesIndex === undefined) {
      this.#seriesIndex = new SeriesIndex(this.lineCount)
      for (let line = 0; line < this.lineCount - 1; line++) {
        const other = this.blockOf[line]!
        if (other === NO_BLOCK) continue
        const otherName = this.#seriesName(this.literalOf[line]!, other)
        this.#seriesIndex.findOrAdd(otherName, this.#firstBlockLike(other), this.slotOf[line]!)
      }
    }
    return this.#seriesIndex.findOrAdd(name, firstBlock, this.slotCount)
  }

  #seriesName(literal: number, block: number): string {
    return this.nameOf(literal) || this.nameOfBlock(block)
  }

  /** The first of the blocks that have the same labels. */
  #firstBlockLike(block: number): number {
    if (this.#firstBlocks === undefined) {
      this.#firstBlocks = new Map()
      for (let known = 0; known < this.blocks.count; known++) this.#firstBlockLike(known)
    }
    const labels = this.labelsOfBlock(block)
    const first = this.#firstBlocks.get(labels)
    if (first === undefined) this.#firstBlocks.set(labels, block)
    else if (first !== block) this.#spellingsDiffer = true
    return first ?? block
  }

  #noteName(name: string, literal: number): void {
    if (this.#firstLiterals === undefined) {
      this.#firstLiterals = new Map()
      const { names } = this.known.shape
      names.forEach((known, number) => {
        if (known !== '') this.#noteName(known, number)
      })
    }
    const first = this.#firstLiterals.get(name)
    if (first === undefined) this.#firstLiterals.set(name, literal)
    else if (first !== literal) this.#spellingsDiffer = true
  }

  get #lines(): LineIndex {
    return (this.#index ??= createIndex(this))
  }

  #growLines(): void {
    this.literalOf = grow(this.literalOf)
    this.blockOf = grow(this.blockOf)
    this.slotOf = grow(this.slotOf)
    if (this.#lineSeen.length < this.literalOf.length) {
      const seen = new Uint8Array(this.literalOf.length)
      seen.set(this.#lineSeen)
      this.#lineSeen = seen
    }
  }
}

function createIndex({ blocks: known, newBlocks, literalOf, blockOf, lineCount }: Learning): LineIndex {
  const blocks = new HashIndex(known.count)
  for (const arena of [known, newBlocks]) {
    for (let block = 0; block < arena.count; block++) {
      blocks.add(hashBlock(arena.view, arena.starts[block]!, arena.starts[block + 1]!))
    }
  }
  return { blocks, pairs: new PairIndex(literalOf, blockOf, lineCount) }
}

function lengthIn(arena: ByteArena, number: number): number {
  return arena.starts[number + 1]! - arena.starts[number]!
}

function isAt(arena: ByteArena, number: number, view: DataView, p: number, limit: number): boolean {
  const start = arena.starts[number]!
  const length = arena.starts[number + 1]! - start
  return p + length <= limit && sameBytes(view, p, arena.view, start, length)
}

function grow(numbers: Int32Array): Int32Array {
  const grown = new Int32Array(Math.max(256, numbers.length * 2))
  grown.set(numbers)
  return grown
}

function growBytes(bytes: Uint8Array): Uint8Array {
  const grown = new Uint8Array(bytes.length * 2)
  grown.set(bytes)
  return grown
}
