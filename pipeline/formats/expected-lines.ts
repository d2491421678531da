/**
 * Reads lines that are as expected by WebAssembly, at a fraction of what it costs without: comparing bytes is most of what a scrape
 * costs, and there they are compared sixteen at a time.
 *
 * There is one memory for all targets, and what must be known of a target is copied into it before: a few kilobytes, where a payload
 * has sixty. What sockets receive is there already, other bytes are copied, too. Payloads with more lines or labels than fit are read
 * without.
 */
import { landingMemory, LANDING_PAGES, runInLanding, WORKING_BYTES } from '../landing.ts'
import { ByteArena } from './byte-arena.ts'
import { expectedLinesModule, type Places } from './expected-lines-code.ts'
import type { KnownLines } from './known-lines.ts'
import type { Columns, Shape } from './line-shape.ts'
import { MOST_DICTIONARY_BYTES, MOST_PACKED_BYTES, unpackBytes } from './packed-blocks.ts'

type ReadLines = (from: number, limit: number, line: number, end: number) => number
type Unpack = (from: number, to: number, end: number) => void

const MOST_LINES = 16_384
const MOST_LITERAL_BYTES = 512 * 1024
const MOST_BLOCKS = 16_384
const MOST_BLOCK_BYTES = 1024 * 1024
const MOST_COPIED_BYTES = 1024 * 1024
/** Of each line: where its literal is, how long that is, its block, its slot. */
const LINE_NUMBERS = 4
/** Copying bytes costs so much less than comparing them. */
const COPIES_FASTER = 4
const LINE_FEED = 0x0a

const placed = placesFrom([
  ['powersOfTen', 16 * 8],
  ['next', 8],
  ['lines', MOST_LINES * LINE_NUMBERS * 4],
  ['blockStarts', (MOST_BLOCKS + 1) * 4],
  ['values', MOST_LINES * 8],
  ['literals', MOST_LITERAL_BYTES],
  ['packed', MOST_PACKED_BYTES],
  // Right before the blocks that are told by it.
  ['dictionary', MOST_DICTIONARY_BYTES],
  ['blocks', MOST_BLOCK_BYTES],
  ['copied', MOST_COPIED_BYTES],
])

/** One thing after the other, each where a double may be. */
function placesFrom<Name extends string>(sizes: readonly (readonly [Name, number])[]): Record<Name, number> {
  let at = 0
  const places: Partial<Record<Name, number>> = {}
  for (const [name, bytes] of sizes) {
    places[name] = at
    at += Math.ceil(bytes / 8) * 8
  }
  if (at > WORKING_BYTES) throw new Error(`${at} bytes are needed`)
  return places as Record<Name, number>
}

const places: Places = { ...placed, pages: LANDING_PAGES }
const memory = Buffer.from(landingMemory)
const shorts = new Uint16Array(landingMemory)
const numbers = new Int32Array(landingMemory)
const values = new Float64Array(landingMemory, placed.values, MOST_LINES)

let readLines: ReadLines | undefined
let unpack: Unpack = (from, to, end) => unpackBytes(memory, from, to, end)
let isReady = false

/** When the first target is read for the second time: a process that scrapes nothing needs none of this. */
function prepare(): void {
  isReady = true
  const functions = runInLanding(expectedLinesModule(places))
  if (functions !== undefined) {
    readLines = functions['readLines'] as ReadLines
    unpack = functions['unpack'] as Unpack
  }
  new Float64Array(landingMemory, placed.powersOfTen, 16).set(Array.from({ length: 16 }, (_, power) => 10 ** power))
}

/** What is in the memory now. */
let loadedColumns: Columns | undefined
let loadedLines: KnownLines | undefined
/** The one whose blocks are there, with the rest or without. */
let loadedBlocks: KnownLines | undefined
let loadedDictionary: Uint8Array | undefined
const lineTables = new WeakMap<Columns, Int32Array>()

/** Whether lines of so many bytes can be read in this way, and it is worth the copying that must be done before. */
export function canReadExpected(known: KnownLines, byteCount: number): boolean {
  if (!isReady) prepare()
  if (readLines === undefined) return false
  if (known === loadedLines) return true
  const { shape, blocks } = known
  const { literals, literalOf } = shape
  if (literalOf.length > MOST_LINES || literals.byteLength > MOST_LITERAL_BYTES) return false
  // What is packed is never too much.
  if (typeof blocks !== 'string' && (blocks.count > MOST_BLOCKS || blocks.byteLength > MOST_BLOCK_BYTES)) return false
  const blockBytes = typeof blocks === 'string' ? blocks.length : blocks.byteLength
  const toCopy = literals.byteLength + blockBytes + literalOf.length * LINE_NUMBERS * 4
  return literalOf.length > 0 && toCopy <= byteCount * COPIES_FASTER
}

/**
 * Reads bytes[start, limit) from a line on; `canReadExpected` has said that it can. Returns where the first line begins that is not the
 * expected one or has a number that is not written plainly; which that is tells `nextLine`.
 */
export function readExpectedLines(
  known: KnownLines,
  bytes: Uint8Array,
  start: number,
  limit: number,
  line: number,
): number {
  if (known !== loadedLines) load(known)
  const end = known.shape.literalOf.length
  if (bytes.buffer === landingMemory) {
    const { byteOffset } = bytes
    return readLines!(byteOffset + start, byteOffset + limit, line, end) - byteOffset
  }
  let stop = limit
  if (limit - start > MOST_COPIED_BYTES) {
    // Up to where a line ends.
    stop = bytes.lastIndexOf(LINE_FEED, start + MOST_COPIED_BYTES - 1) + 1
    if (stop <= start) stop = start
  }
  memory.set(bytes.subarray(start, stop), placed.copied)
  return readLines!(placed.copied, placed.copied + stop - start, line, end) - placed.copied + start
}

/** The line at which `readExpectedLines` stopped. */
export function nextLine(): number {
  return numbers[placed.next / 4]!
}

/** The values that it has read, by slot. Valid until it is called again. */
export function expectedValues(): Float64Array {
  return values
}

/** Label blocks, for whoever reads without WebAssembly. Those that were packed are there until other lines are read. */
export function viewBlocks(known: KnownLines): { readonly view: DataView; readonly starts: Int32Array | Uint32Array } {
  if (typeof known.blocks !== 'string') return known.blocks
  if (known !== loadedBlocks) loadBlocks(known)
  return unpacked
}
const unpacked = {
  view: new DataView(landingMemory, placed.blocks, MOST_BLOCK_BYTES),
  starts: new Int32Array(landingMemory, placed.blockStarts, MOST_BLOCKS + 1),
}

/** Label blocks, for whoever has them for longer and does not write to them. */
export function blocksOf(known: KnownLines): ByteArena {
  const { blocks } = known
  if (typeof blocks !== 'string') return blocks
  const count = blocks.charCodeAt(0) | (blocks.charCodeAt(1) << 8)
  const { view, starts } = viewBlocks(known)
  const arena = new ByteArena(starts[count], count)
  arena.bytes.set(new Uint8Array(view.buffer, view.byteOffset, starts[count]))
  arena.starts.set(starts.subarray(0, count + 1))
  arena.count = count
  return arena
}

function load(known: KnownLines): void {
  const { shape, columns } = known
  if (columns !== loadedColumns) {
    memory.set(shape.literals.bytes.subarray(0, shape.literals.byteLength), placed.literals)
    numbers.set(lineTable(shape, columns), placed.lines / 4)
    loadedColumns = columns
  }
  if (known !== loadedBlocks) loadBlocks(known)
  loadedLines = known
}

function loadBlocks(known: KnownLines): void {
  const { blocks, dictionary } = known
  loadedLines = undefined
  loadedBlocks = known
  if (typeof blocks === 'string') return loadPacked(blocks, dictionary!)
  const { starts, bytes, count, byteLength } = blocks
  // One by one: there are as many as there are GPUs, and a call for so few costs more.
  for (let block = 0; block <= count; block++) numbers[placed.blockStarts / 4 + block] = starts[block]!
  memory.set(bytes.length === byteLength ? bytes : bytes.subarray(0, byteLength), placed.blocks)
}

function loadPacked(blocks: string, dictionary: Uint8Array): void {
  if (dictionary !== loadedDictionary) {
    memory.set(dictionary, placed.blocks - dictionary.length)
    loadedDictionary = dictionary
  }
  memory.write(blocks, placed.packed, 'latin1')
  const lengths = placed.packed / 2 + 1
  const count = shorts[lengths - 1]!
  const starts = placed.blockStarts / 4
  let start = 0
  numbers[starts] = 0
  for (let block = 0; block < count; block++) numbers[starts + block + 1] = start += shorts[lengths + block]!
  unpack(placed.packed + (count + 1) * 2, placed.blocks, placed.blocks + start)
}

/** Columns belong to one shape. */
function lineTable({ literalOf, blockOf, literals }: Shape, columns: Columns): Int32Array {
  let table = lineTables.get(columns)
  if (table === undefined) {
    table = new Int32Array(literalOf.length * LINE_NUMBERS)
    for (let line = 0; line < literalOf.length; line++) {
      const literal = literalOf[line]!
      const start = literals.starts[literal]!
      const length = literals.starts[literal + 1]! - start
      table.set([placed.literals + start, length, blockOf[line]!, columns.slotOf[line]!], line * LINE_NUMBERS)
    }
    lineTables.set(columns, table)
  }
  return table
}
