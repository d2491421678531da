/**
 * Label blocks most of which are like one shortly before them, kept as what is different, as in `packed-strings.ts`: but what a layout
 * has from the one before is taken over without looking at it, and nobody is held up by millions of them.
 *
 * A block is the first bytes of the one that it is like, its own, and the last bytes of that one. One that is like no other is all its own,
 * and only such have others that are like them.
 */
import { ByteArena } from './byte-arena.ts'
import { GrowingBytes } from './growing-bytes.ts'
import { BACK, findLikes, FIRST, LAST } from './packed-strings.ts'
import { pause, type Work } from './render-work.ts'

export type Blocks = {
  /** What block i has of its own is bytes[starts[i], starts[i + 1]). Some bytes follow the last one. */
  readonly starts: Int32Array
  readonly bytes: DataView
  /**
   * Of each three: how far back the one is that it is like, and how many bytes of its beginning and of its end count. Empty where none is
   * like another one.
   */
  readonly parts: Uint16Array
}

/** Blocks are looked at together, to see which of them are alike. */
const MOST_TOGETHER = 256
/** Fewer are not, where there are more: what is new would else be like no other, one after the other. */
const FEWEST_TOGETHER = 32
/** About so many are copied without a pause. */
const MOST_AT_ONCE = 4096

/**
 * `origin` says of each block its number in the blocks before, or -1; `text` is asked for those. `slack` bytes follow the last one.
 */
export function* packBlocks(
  origin: Int32Array,
  before: Blocks | undefined,
  text: (block: number) => string,
  slack: number,
): Work<Blocks> {
  const count = origin.length
  const starts = new Int32Array(count + 1)
  const parts = new Uint16Array(3 * count)
  const bytes = new GrowingBytes(count * 48)

  /** From one on that is like no other up to where others are between them: as they are. Returns the first that is not. */
  function takeOver(first: number): number {
    const from = origin[first]!
    let end = first + 1
    while (end < count && origin[end] === from + end - first) {
      if (end - first >= MOST_AT_ONCE && isLikeNone(before!, from + end - first)) break
      end++
    }
    const shift = bytes.length - before!.starts[from]!
    for (let i = first; i < end; i++) starts[i] = before!.starts[from + i - first]! + shift
    if (before!.parts.length > 0) {
      parts.set(before!.parts.subarray(3 * from, 3 * (from + end - first)), 3 * first)
    }
    bytes.copy(before!.bytes, before!.starts[from]!, before!.starts[from + end - first]!)
    return end
  }

  /** Returns the first that is not among them. */
  function pack(first: number): number {
    together.count = 0
    let end = first
    for (; end < count && end - first < MOST_TOGETHER; end++) {
      const from = origin[end]!
      if (end - first >= FEWEST_TOGETHER && from >= 0 && isLikeNone(before!, from)) break
      if (from >= 0) addBlock(together, before!, from)
      else addText(together, text(end))
    }
    findLikes(together, 0, (i, back, head, tail) => {
      starts[first + i] = bytes.length
      parts[3 * (first + i) + BACK] = back
      parts[3 * (first + i) + FIRST] = head
      parts[3 * (first + i) + LAST] = tail
      bytes.copy(together.view, together.starts[i]! + head, together.starts[i + 1]! - tail)
    })
    return end
  }

  for (let i = 0; i < count;) {
    i = origin[i]! >= 0 && isLikeNone(before!, origin[i]!) ? takeOver(i) : pack(i)
    if (i < count) yield pause
  }
  starts[count] = bytes.length
  return { starts, parts: isAnyLike(parts) ? parts : NO_PARTS, bytes: yield* bytes.finish(slack) }
}

const NO_PARTS = new Uint16Array(0)

/** Nobody needs them any more. */
export function releaseBlocks({ starts, parts, bytes }: Blocks): void {
  for (const { buffer } of parts.length === 0 ? [starts, bytes] : [starts, bytes, parts]) {
    ;(buffer as ArrayBuffer).transfer(0)
  }
}

function isAnyLike(parts: Uint16Array): boolean {
  for (let i = BACK; i < parts.length; i += 3) if (parts[i] !== 0) return true
  return false
}

/** Used again for each few. */
const together = new ByteArena()
let room = Buffer.allocUnsafeSlow(1024)

function isLikeNone({ parts }: Blocks, block: number): boolean {
  return parts.length === 0 || parts[3 * block + BACK] === 0
}

function addText(arena: ByteArena, text: string): void {
  // No UTF-16 unit becomes more than three bytes.
  if (room.length < text.length * 3) room = Buffer.allocUnsafeSlow(text.length * 6)
  arena.add(room, 0, room.write(text))
}

function addBlock(arena: ByteArena, { starts, parts, bytes }: Blocks, block: number): void {
  if (parts.length === 0) return void arena.add(new Uint8Array(bytes.buffer), starts[block]!, starts[block + 1]!)
  const like = block - parts[3 * block + BACK]!
  const [first, last] = [parts[3 * block + FIRST]!, parts[3 * block + LAST]!]
  const own = starts[block + 1]! - starts[block]!
  if (room.length < first + own + last) room = Buffer.allocUnsafeSlow(2 * (first + own + last))
  const from = new Uint8Array(bytes.buffer)
  room.set(from.subarray(starts[like], starts[like]! + first))
  room.set(from.subarray(starts[block], starts[block + 1]), first)
  room.set(from.subarray(starts[like + 1]! - last, starts[like + 1]), first + own)
  arena.add(room, 0, first + own + last)
}
