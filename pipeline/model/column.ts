/**
 * The numbers of batches, several to a piece of memory: of each batch by itself they would be asked of the system and given back, which
 * costs more than filling them.
 *
 * A piece is there for as long as any of its columns, so it is small: whoever keeps the one of a target that is seldom scraped keeps no
 * more than this beside it.
 */
const PIECE = 2048
const LONGEST = PIECE / 8
/** So few numbers lie in the object itself. */
const SHORTEST = 8

let piece = new Float64Array(0)
let used = 0

/** Zeros. */
export function newColumn(length: number): Float64Array {
  if (length > LONGEST || length <= SHORTEST) return new Float64Array(length)
  if (used + length > piece.length) {
    piece = new Float64Array(PIECE)
    used = 0
  }
  const column = new Float64Array(piece.buffer, used * piece.BYTES_PER_ELEMENT, length)
  used += length
  return column
}
