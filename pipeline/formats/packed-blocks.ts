/**
 * Label blocks of a target, packed: those of one node differ by little from each other and from those of other nodes, so most of each is
 * said by where it stands already.
 *
 *     packed   = count *length *sequence              each number of these has two bytes, the lower one first
 *     sequence = literals copied distance *byte       numbers of one, one and two bytes, then so many bytes as `literals` says
 *
 * A sequence stands for the bytes that follow it, and after them for `copied` bytes that came so long before: in the blocks, or in the
 * dictionary, which is thought to stand before them. The distance is never below sixteen, so that whoever unpacks can copy sixteen bytes
 * at a time, without asking how many they are: what is too much is written over by what follows.
 *
 * It is a string because that is one object, where an array of bytes is two, and memory beside the heap.
 */
import type { ByteArena } from './byte-arena.ts'
import type { Shape } from './line-shape.ts'

export type PackedBlocks = { readonly blocks: string; readonly dictionary: Uint8Array }

/** Unpacking more than that would cost more than reading it from far away. */
export const MOST_UNPACKED_BYTES = 16 * 1024
export const MOST_DICTIONARY_BYTES = 4 * 1024
/** Of what is packed, with what is read behind it. */
export const MOST_PACKED_BYTES = MOST_UNPACKED_BYTES + 16

const NO_DICTIONARY = new Uint8Array(0)
const SEQUENCE_BYTES = 4
const MOST_AT_ONCE = 255
const LEAST_DISTANCE = 16
/** Copying fewer would take more bytes than they are. */
const LEAST_COPIED = 6

// There is one packed at a time.
const unpacked = new Uint8Array(MOST_DICTIONARY_BYTES + MOST_UNPACKED_BYTES)
const packed = Buffer.alloc(2 * MOST_UNPACKED_BYTES)
const TABLE_BITS = 12
/** Where bytes with this hash were last; -1 if there were none. */
const places = new Int16Array(1 << TABLE_BITS)

/** The blocks of a target with this shape; undefined if it is not worth it. */
export function packBlocks(shape: Shape, blocks: ByteArena): PackedBlocks | undefined {
  const { count, starts, byteLength } = blocks
  // Where each has a byte or two, there is nothing to gain.
  if (byteLength > MOST_UNPACKED_BYTES || count * 4 > byteLength) return undefined
  const dictionary = dictionaryFor(shape, blocks)
  unpacked.set(dictionary)
  unpacked.set(blocks.bytes.subarray(0, byteLength), dictionary.length)
  let at = packed.writeUInt16LE(count, 0)
  for (let block = 0; block < count; block++) at = packed.writeUInt16LE(starts[block + 1]! - starts[block]!, at)
  at = packBytes(dictionary.length, dictionary.length + byteLength, at)
  return at < byteLength ? { blocks: packed.toString('latin1', 0, at), dictionary } : undefined
}

/** The first target of a shape may be the only one; the blocks of the second are what all others are told by. */
function dictionaryFor(shape: Shape, { bytes, byteLength }: ByteArena): Uint8Array {
  if (shape.dictionary === undefined) shape.dictionary = NO_DICTIONARY
  else if (shape.dictionary === NO_DICTIONARY) {
    shape.dictionary = bytes.slice(0, Math.min(byteLength, MOST_DICTIONARY_BYTES))
  }
  return shape.dictionary
}

/** Writes unpacked[start, end) as sequences; what is before may be copied from. Returns where they end. */
function packBytes(start: number, end: number, to: number): number {
  places.fill(-1)
  for (let known = 0; known + 4 <= start; known++) places[hashAt(known)] = known
  let literals = start
  for (let p = start; p + LEAST_COPIED <= end;) {
    const hash = hashAt(p)
    const from = places[hash]!
    places[hash] = p
    const length = from < 0 || p - from < LEAST_DISTANCE ? 0 : sameLength(from, p, end)
    if (length < LEAST_COPIED) {
      p++
      continue
    }
    to = writeSequences(literals, p, length, p - from, to)
    literals = p + length
    while (++p < literals) if (p + 4 <= end) places[hashAt(p)] = p
  }
  return writeSequences(literals, end, 0, 0, to)
}

/** As many as it takes for unpacked[from, end), and for `copied` bytes behind them. */
function writeSequences(from: number, end: number, copied: number, distance: number, to: number): number {
  for (;;) {
    const literals = Math.min(end - from, MOST_AT_ONCE)
    const isLast = from + literals === end
    const length = isLast ? Math.min(copied, MOST_AT_ONCE) : 0
    packed[to] = literals
    packed[to + 1] = length
    packed.writeUInt16LE(distance, to + 2)
    to += SEQUENCE_BYTES
    for (const stop = from + literals; from < stop;) packed[to++] = unpacked[from++]!
    copied -= length
    if (isLast && copied === 0) return to
  }
}

function sameLength(a: number, b: number, end: number): number {
  const first = b
  while (b < end && unpacked[a] === unpacked[b]) {
    a++
    b++
  }
  return b - first
}

function hashAt(p: number): number {
  const word = unpacked[p]! | (unpacked[p + 1]! << 8) | (unpacked[p + 2]! << 16) | (unpacked[p + 3]! << 24)
  return Math.imul(word, 0x9e3779b1) >>> (32 - TABLE_BITS)
}

/** Unpacks the sequences at `from` to memory[to, end), before which the dictionary is. What is behind is written over, too. */
export function unpackBytes(memory: Uint8Array, from: number, to: number, end: number): void {
  while (to < end) {
    const literals = memory[from]!
    const copied = memory[from + 1]!
    const distance = memory[from + 2]! | (memory[from + 3]! << 8)
    from += SEQUENCE_BYTES
    for (const stop = from + literals; from < stop;) memory[to++] = memory[from++]!
    for (const stop = to + copied; to < stop; to++) memory[to] = memory[to - distance]!
  }
}
