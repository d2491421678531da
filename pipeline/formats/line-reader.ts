/**
 * Reads the lines of expositions.
 *
 * Exporters send the same series in the same order, scrape after scrape. So each line is first compared with the one that is
 * expected at its place: if its bytes up to the value are the same, there is nothing to find out but the number. Only a line that
 * is not as expected is looked up, and only one that was never seen is taken apart.
 */
import { newColumn } from '../model/column.ts'
import { labelsFrom } from '../model/labels.ts'
import type { LabelMaker } from './block-labels.ts'
import { sameBytes } from './byte-compare.ts'
import { canReadExpected, expectedValues, nextLine, readExpectedLines, viewBlocks } from './expected-lines.ts'
import { noLines, type KnownLines, type LineIndex } from './known-lines.ts'
import { Learning } from './learning.ts'
import { NO_BLOCK } from './line-shape.ts'
import { readMetadataLine } from './metadata-line.ts'
import { relearn } from './relearn.ts'
import { createSampleLine, nameEnd, readNumbers, readSampleLine, skipBlanks, type Dialect } from './sample-line.ts'
import { decodeLabels } from './label-block.ts'
import { asciiText } from './token-text.ts'

const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d
const SPACE = 0x20
const HASH = 0x23
const MINUS = 0x2d
const DOT = 0x2e
const ZERO = 0x30
const OPEN = 0x7b

const POWERS_OF_TEN = Float64Array.from({ length: 16 }, (_, power) => 10 ** power)

/** More than one in so many lines out of place, and the expected order is not worth much. */
const DISPLACED_SHARE = 8
/** So many more expositions with much out of place than without, and the target has no order. */
const NO_ORDER = 2
/** What is counted at most, so that a target whose order returns is believed after a while. */
const MAX_DISORDER = 5

/** So many lines are read without, before reading fast is tried again: numbers that are not written plainly often stand together. */
const LINES_BETWEEN = 8

const NO_VALUES = new Float64Array(0)
// Where a line and a number are read to: there are thousands of readers, and only one reads at a time.
const sampleLine = createSampleLine()
const plainNumber = new Float64Array(1)

export type Lines = {
  readonly known: KnownLines
  /** By slot. */
  readonly values: Float64Array
  readonly times: Float64Array | undefined
  readonly samples: number
  readonly duplicates: number
  readonly added: number
}

/** What is kept of a target between its expositions. */
export type LineMemory = LabelMaker & {
  known: KnownLines
  /** Of a target that does not keep its order. */
  index: LineIndex | undefined
  /** How many more expositions had much out of place than not. */
  disorder: number
  readonly maxSeries: number
}

const NO_MEMORY: LineMemory = {
  known: noLines('text'),
  index: undefined,
  disorder: 0,
  maxSeries: 0,
  makeLabels: labelsFrom,
}

/** Reads one exposition after the other, of whatever target. */
export class LineReader {
  badLines = 0
  problem: string | undefined
  exemplars = 0
  badExemplars = 0
  /** Whether the last line of an OpenMetrics exposition was there. */
  ended = false

  #memory = NO_MEMORY
  #known = NO_MEMORY.known
  /** The line that is expected next. */
  #next = 0
  #learning: Learning | undefined
  #values: Float64Array = NO_VALUES
  #times: Float64Array | undefined
  /** Of the sample whose number was read last; NaN if it has none. */
  #time = NaN
  #lastLiteral = -1

  begin(memory: LineMemory, dialect: Dialect): void {
    if (dialect !== memory.known.shape.dialect) {
      memory.known = noLines(dialect)
      memory.index = undefined
    }
    this.#memory = memory
    this.#known = memory.known
    this.badLines = 0
    this.problem = undefined
    this.exemplars = 0
    this.badExemplars = 0
    this.ended = false
    this.#next = 0
    this.#learning = undefined
    this.#values = NO_VALUES
    this.#times = undefined
    this.#lastLiteral = -1
    if (this.#known.repeats) this.#startLearning()
  }

  /** Reads bytes[start, limit): whole lines, each with its line feed. */
  read(bytes: Uint8Array, start: number, limit: number): void {
    let p = start
    let view: DataView | undefined
    while (p < limit) {
      const isFast = this.#learning === undefined && canReadExpected(this.#known, limit - p)
      if (isFast) {
        p = this.#readFast(bytes, p, limit)
        if (p === limit) return
      }
      view ??= new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
      const next = this.#readExpected(bytes, view, p, limit, isFast ? LINES_BETWEEN : Infinity)
      p = next > p ? next : this.#readOther(bytes, view, p, limit)
    }
  }

  bad(problem: string): void {
    const lines = this.#learning === undefined ? this.#next : this.#learning.length
    this.problem ??= `line ${lines + this.badLines + 1}: ${problem}`
    this.badLines++
  }

  finish(): Lines {
    this.ended = this.#hasEnded()
    const { shape, sampleLines } = this.#known
    if (this.#learning === undefined && this.#next < shape.literalOf.length) this.#startLearning()
    const learning = this.#learning
    const memory = this.#memory
    if (learning === undefined) {
      memory.disorder = Math.max(0, memory.disorder - 1)
      return this.#result(sampleLines, 0, 0)
    }
    const { samples, duplicates } = learning
    const disordered = learning.displaced * DISPLACED_SHARE > learning.length
    memory.disorder = disordered ? Math.min(memory.disorder + 1, MAX_DISORDER) : Math.max(0, memory.disorder - 1)
    const keepsOrder = memory.disorder < NO_ORDER
    // The first time that much is out of place, the new order is learnt; if that does not last, there is none.
    const reorder = disordered && keepsOrder
    if (learning.hasKnownLines && !reorder && !shape.families.conflicting) {
      memory.index = keepsOrder ? undefined : learning.unchangedIndex
      return this.#result(samples, duplicates, 0)
    }
    const { known, oldSlots, added, index } = relearn(learning, keepsOrder, memory)
    this.#known = memory.known = known
    memory.index = index
    this.#values = pick(this.#values, oldSlots)
    this.#times &&= pick(this.#times, oldSlots)
    return this.#result(samples, duplicates, added)
  }

  #result(samples: number, duplicates: number, added: number): Lines {
    const result = { known: this.#known, values: this.#values, times: this.#times, samples, duplicates, added }
    // Whoever gets them keeps them or not; here they are not needed any more.
    this.#memory = NO_MEMORY
    this.#known = NO_MEMORY.known
    this.#learning = undefined
    this.#values = NO_VALUES
    this.#times = undefined
    return result
  }

  /** As `#readExpected`, for lines whose numbers are written plainly. */
  #readFast(bytes: Uint8Array, start: number, limit: number): number {
    const { slotCount, columns, shape } = this.#known
    const from = this.#next
    const p = readExpectedLines(this.#known, bytes, start, limit, from)
    const next = (this.#next = nextLine())
    const read = expectedValues()
    if (from === 0 && next === shape.literalOf.length) {
      const values = newColumn(slotCount)
      for (let slot = 0; slot < slotCount; slot++) values[slot] = read[slot]!
      this.#values = values
      return p
    }
    this.#makeValues()
    for (let line = from; line < next; line++) {
      const slot = columns.slotOf[line]!
      if (slot >= 0) this.#values[slot] = read[slot]!
    }
    return p
  }

  /** Reads lines for as long as they are the expected ones, and so many at the most. Returns where the first other line begins. */
  #readExpected(bytes: Uint8Array, view: DataView, start: number, limit: number, most: number): number {
    this.#makeValues()
    const { shape, columns } = this.#known
    const { literalOf, blockOf, literals } = shape
    const slotOf = columns.slotOf
    const literalView = literals.view
    const literalStarts = literals.starts
    const { view: blockView, starts: blockStarts } = viewBlocks(this.#known)
    const values = this.#values
    const number = plainNumber
    const learning = this.#learning
    let line = this.#next
    const count = Math.min(literalOf.length, line + most)
    let p = start
    while (p < limit && line < count) {
      const literal = literalOf[line]!
      const literalStart = literalStarts[literal]!
      const literalLength = literalStarts[literal + 1]! - literalStart
      let q = p + literalLength
      if (q > limit || !sameBytes(view, p, literalView, literalStart, literalLength)) break
      const block = blockOf[line]!
      if (block >= 0) {
        const blockStart = blockStarts[block]!
        const blockLength = blockStarts[block + 1]! - blockStart
        if (q + blockLength > limit) break
        // What `sameBytes` does, in place: the compiler leaves it out of line, and this is most of all the time there is.
        if (blockLength < 8) {
          if (!sameBytes(view, q, blockView, blockStart, blockLength)) break
        } else {
          const shift = blockStart - q
          const last = q + blockLength - 8
          let at = q
          for (; at + 24 < last; at += 32) {
            if (
              view.getFloat64(at, true) !== blockView.getFloat64(at + shift, true) ||
              view.getFloat64(at + 8, true) !== blockView.getFloat64(at + 8 + shift, true) ||
              view.getFloat64(at + 16, true) !== blockView.getFloat64(at + 16 + shift, true) ||
              view.getFloat64(at + 24, true) !== blockView.getFloat64(at + 24 + shift, true)
            ) {
              break
            }
          }
          if (at + 24 < last) break
          while (at < last && view.getFloat64(at, true) === blockView.getFloat64(at + shift, true)) at += 8
          if (at < last || view.getFloat64(last, true) !== blockView.getFloat64(last + shift, true)) break
        }
        q = readPlainNumber(bytes, q + blockLength, number)
        if (q < 0) {
          q = this.#readNumbers(bytes, p + literalLength + blockLength)
          if (q < 0) break
          this.#store(line)
        } else if (learning === undefined) values[slotOf[line]!] = number[0]!
        else if (learning.note(line)) this.#values[slotOf[line]!] = number[0]!
      } else if (learning !== undefined) learning.note(line)
      p = q
      line++
    }
    this.#next = line
    return p
  }

  /** Reads a line that is not the expected one. Returns where the next line begins. */
  #readOther(bytes: Uint8Array, view: DataView, start: number, limit: number): number {
    const learning = this.#learning ?? this.#startLearning()
    // Most lines have the name of the line before.
    let literal = this.#lastLiteral
    let end = literal < 0 ? start : start + learning.literalLength(literal)
    if (literal < 0 || !isKeyAt(bytes, end) || !learning.isLiteral(literal, view, start, limit)) {
      end = nameEnd(bytes, start, limit, true)
      if (end === start && bytes[start] !== OPEN) return this.#readWhole(bytes, view, start, learning)
      literal = learning.findLiteral(view, start, end)
    }
    if (this.#hasEnded()) return this.#readWhole(bytes, view, start, learning)
    const block = learning.findBlock(view, end, limit)
    if (block < 0) return this.#readWhole(bytes, view, start, learning)
    // One of the two has the name, and only one.
    const hasName = end > start
    if (hasName === (learning.nameOfBlock(block) !== '')) return this.#readWhole(bytes, view, start, learning)
    const next = this.#readValue(bytes, end + learning.blockLength(block))
    if (next < 0) return this.#readWhole(bytes, view, start, learning)
    if (literal < 0) literal = learning.addLiteral(bytes, view, start, end, asciiText(bytes, start, end))
    this.#sample(learning, literal, block)
    return next
  }

  /** Takes a line apart. */
  #readWhole(bytes: Uint8Array, view: DataView, start: number, learning: Learning): number {
    const next = bytes.indexOf(LINE_FEED, start) + 1
    const end = next - start > 1 && bytes[next - 2] === CARRIAGE_RETURN ? next - 2 : next - 1
    const first = skipBlanks(bytes, start, end)
    if (this.#hasEnded()) this.bad('there is something after # EOF')
    else if (first === end || bytes[first] === HASH) this.#readComment(bytes, view, start, end, next, learning)
    else this.#readSample(bytes, view, start, end, learning)
    return next
  }

  #readComment(bytes: Uint8Array, view: DataView, start: number, end: number, next: number, learning: Learning): void {
    let literal = learning.findLiteral(view, start, next)
    let line = literal < 0 ? -1 : learning.findComment(literal)
    if (line < 0) {
      if (skipBlanks(bytes, start, end) < end) {
        const metadata = readMetadataLine(bytes, start, end, this.#known.shape.dialect)
        if (metadata.kind === 'bad') return this.bad(metadata.problem)
        if (metadata.kind === 'eof') learning.endLine = learning.lineCount
      }
      literal = learning.addLiteral(bytes, view, start, next, '')
      line = learning.addLine(literal, NO_BLOCK)
    } else this.#continueAt(line, learning)
    learning.note(line)
    if (line === learning.endLine) this.#next = this.#known.shape.literalOf.length
  }

  #readSample(bytes: Uint8Array, view: DataView, start: number, end: number, learning: Learning): void {
    const line = sampleLine
    const wrong = readSampleLine(bytes, start, end, this.#known.shape.dialect, line)
    if (wrong !== undefined) return this.bad(wrong)
    let block = learning.findBlock(view, line.nameEnd, line.keyEnd)
    if (block < 0 || learning.blockLength(block) !== line.keyEnd - line.nameEnd) {
      if (hasNul(bytes, start, line.keyEnd)) return this.bad('there is a NUL byte')
      const decoded = decodeLabels(bytes, line.labels)
      if (typeof decoded === 'string') return this.bad(decoded)
      const labels = this.#memory.makeLabels(decoded.labels)
      block = learning.addBlock(bytes, view, line.nameEnd, line.keyEnd, labels, decoded.name)
    }
    let literal = learning.findLiteral(view, start, line.nameEnd)
    if (literal < 0) {
      literal = learning.addLiteral(bytes, view, start, line.nameEnd, asciiText(bytes, line.nameStart, line.nameEnd))
    }
    plainNumber[0] = line.value
    this.#time = line.timeMs
    this.#countExemplar()
    this.#sample(learning, literal, block)
  }

  #sample(learning: Learning, literal: number, block: number): void {
    let line = learning.findLine(literal, block)
    if (line < 0) {
      line = learning.addLine(literal, block)
      const { maxSeries } = this.#memory
      if (learning.slotCount > maxSeries) throw new Error(`there are more than ${maxSeries} series`)
      if (learning.slotCount > this.#values.length) this.#growValues()
    } else this.#continueAt(line, learning)
    this.#lastLiteral = literal
    this.#store(line)
  }

  /** What follows a known line is expected to be what followed it last time. */
  #continueAt(line: number, learning: Learning): void {
    if (line >= this.#known.shape.literalOf.length) return
    if (line !== this.#next) learning.displaced++
    this.#next = line + 1
  }

  #store(line: number): void {
    const slot = this.#learning === undefined ? this.#known.columns.slotOf[line]! : this.#learning.slotOf[line]!
    if (this.#learning !== undefined && !this.#learning.note(line)) return
    this.#values[slot] = plainNumber[0]!
    if (this.#times !== undefined) this.#times[slot] = this.#time
    else if (!Number.isNaN(this.#time)) {
      this.#times = new Float64Array(this.#values.length).fill(NaN)
      this.#times[slot] = this.#time
    }
  }

  /** Reads the value, and what follows it, at `p`. Returns where the next line begins, or -1 if this cannot be read. */
  #readValue(bytes: Uint8Array, p: number): number {
    const next = readPlainNumber(bytes, p, plainNumber)
    if (next < 0) return this.#readNumbers(bytes, p)
    this.#time = NaN
    return next
  }

  #readNumbers(bytes: Uint8Array, p: number): number {
    const next = bytes.indexOf(LINE_FEED, p) + 1
    const end = next - p > 1 && bytes[next - 2] === CARRIAGE_RETURN ? next - 2 : next - 1
    const line = sampleLine
    if (readNumbers(bytes, p, end, this.#known.shape.dialect, line) !== undefined) return -1
    plainNumber[0] = line.value
    this.#time = line.timeMs
    this.#countExemplar()
    return next
  }

  #countExemplar(): void {
    if (sampleLine.exemplar === 'good') this.exemplars++
    else if (sampleLine.exemplar === 'bad') this.badExemplars++
  }

  #hasEnded(): boolean {
    const end = this.#learning?.endLine ?? this.#known.shape.endLine
    return end >= 0 && (this.#learning?.isSeen(end) ?? this.#next > end)
  }

  /** Not before they are needed: what is read fast comes with an array of its own. */
  #makeValues(): void {
    if (this.#values.length === 0 && this.#known.slotCount > 0) this.#values = new Float64Array(this.#known.slotCount)
  }

  #startLearning(): Learning {
    this.#makeValues()
    this.#learning = new Learning(this.#known, this.#next, this.#memory.index)
    this.#memory.index = undefined
    return this.#learning
  }

  #growValues(): void {
    this.#values = grow(this.#values, 0)
    this.#times &&= grow(this.#times, NaN)
  }
}

/**
 * Reads digits, perhaps with a sign and a dot, up to the line feed: nearly all numbers are written like this. Returns where the
 * next line begins, or -1 if it is anything else. The bytes hold a line feed at or behind `start`.
 */
function readPlainNumber(bytes: Uint8Array, start: number, result: Float64Array): number {
  let p = start
  while (bytes[p] === SPACE) p++
  let negative = false
  if (bytes[p] === MINUS) {
    negative = true
    p++
  }
  const first = p
  let mantissa = 0
  let digit = bytes[p]! - ZERO
  while (digit >= 0 && digit <= 9) {
    mantissa = mantissa * 10 + digit
    digit = bytes[++p]! - ZERO
  }
  let digits = p - first
  let decimals = 0
  if (digit === DOT - ZERO) {
    const dot = p
    digit = bytes[++p]! - ZERO
    while (digit >= 0 && digit <= 9) {
      mantissa = mantissa * 10 + digit
      digit = bytes[++p]! - ZERO
    }
    decimals = p - dot - 1
    digits += decimals
  }
  // So many digits fit into a double, so the one rounding, that of the division, is right.
  if (digit !== LINE_FEED - ZERO || digits === 0 || digits > 15) return -1
  const value = decimals === 0 ? mantissa : mantissa / POWERS_OF_TEN[decimals]!
  result[0] = negative ? -value : value
  return p + 1
}

/** Whether a label block may begin here. */
function isKeyAt(bytes: Uint8Array, p: number): boolean {
  return bytes[p] === OPEN || bytes[p] === SPACE
}

function hasNul(bytes: Uint8Array, start: number, end: number): boolean {
  for (let p = start; p < end; p++) if (bytes[p] === 0) return true
  return false
}

function pick(numbers: Float64Array, places: Uint32Array): Float64Array {
  const picked = new Float64Array(places.length)
  for (let i = 0; i < places.length; i++) picked[i] = numbers[places[i]!]!
  return picked
}

function grow(numbers: Float64Array, fill: number): Float64Array {
  const grown = new Float64Array(Math.max(256, numbers.length * 2))
  grown.set(numbers)
  if (fill !== 0) grown.fill(fill, numbers.length)
  return grown
}
