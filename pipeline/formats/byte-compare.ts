/**
 * Comparing and hashing bytes eight and four at a time: a loop over single bytes costs five to eight times as much.
 *
 * Eight bytes are compared as a double. Bytes that make a NaN differ from themselves, which is a miss and does no harm; only
 * zeros compare equal though their sign differs, so NUL bytes must not be in what is compared with.
 */

/** Whether a[p, p + length) and b[q, q + length) are the same. */
export function sameBytes(a: DataView, p: number, b: DataView, q: number, length: number): boolean {
  if (length < 8) {
    for (let i = 0; i < length; i++) if (a.getUint8(p + i) !== b.getUint8(q + i)) return false
    return true
  }
  const last = length - 8
  let i = 0
  for (; i + 24 < last; i += 32) {
    if (
      a.getFloat64(p + i, true) !== b.getFloat64(q + i, true) ||
      a.getFloat64(p + i + 8, true) !== b.getFloat64(q + i + 8, true) ||
      a.getFloat64(p + i + 16, true) !== b.getFloat64(q + i + 16, true) ||
      a.getFloat64(p + i + 24, true) !== b.getFloat64(q + i + 24, true)
    ) {
      return false
    }
  }
  for (; i < last; i += 8) if (a.getFloat64(p + i, true) !== b.getFloat64(q + i, true)) return false
  // The last eight overlap with those before.
  return a.getFloat64(p + last, true) === b.getFloat64(q + last, true)
}

/** Not known outside, so that nobody can write labels that all have the same hash. */
const SEED = Math.floor(Math.random() * 2 ** 32) | 0

export function hashBytes(view: DataView, start: number, end: number): number {
  let hash = SEED
  let p = start
  for (; p + 4 <= end; p += 4) hash = mix(hash, view.getInt32(p, true))
  for (; p < end; p++) hash = mix(hash, view.getUint8(p))
  return finish(hash)
}

const TAB = 0x09
const SPACE = 0x20
const QUOTE = 0x22
const COMMA = 0x2c
const OPEN = 0x7b
const CLOSE = 0x7d

/**
 * The hash of the label block that begins at `start`, whose end is not known yet: of all bytes up to the first brace that looks
 * like its end. A label value can hold such a brace, but never a block end before one, so equal blocks have equal hashes.
 */
export function hashBlock(view: DataView, start: number, bytesEnd: number): number {
  // Lines that never close a brace must not be hashed to the end of everything, one after the other.
  const limit = Math.min(bytesEnd, start + MAX_HASHED_BYTES)
  let p = start
  while (p < limit && isBlank(view.getUint8(p))) p++
  // Without braces the block is the blank between name and value.
  if (p >= limit || view.getUint8(p) !== OPEN) return finish(SEED)
  // Two hashes at a time, so that neither waits for the other.
  let hash = SEED
  let other = ~SEED
  for (; p + 8 <= limit; p += 8) {
    const word = view.getInt32(p, true)
    const nextWord = view.getInt32(p + 4, true)
    const difference = word ^ 0x7d7d7d7d
    const nextDifference = nextWord ^ 0x7d7d7d7d
    // Not zero if one of the eight bytes is a closing brace.
    const closes = ((difference - 0x01010101) & ~difference) | ((nextDifference - 0x01010101) & ~nextDifference)
    if ((closes & 0x80808080) !== 0) {
      const at = closeWithin(view, p, p + 8)
      if (at >= 0) return hashTail(view, p, at, hash ^ other)
    }
    hash = Math.imul(hash ^ word, 0x5bd1e995)
    hash ^= hash >>> 15
    other = Math.imul(other ^ nextWord, 0x2c1b3c6d)
    other ^= other >>> 13
  }
  const at = closeWithin(view, p, limit)
  return hashTail(view, p, at < 0 ? limit - 1 : at, hash ^ other)
}

const MAX_HASHED_BYTES = 1024

function closeWithin(view: DataView, start: number, end: number): number {
  for (let p = start; p < end; p++) {
    if (view.getUint8(p) !== CLOSE) continue
    const before = view.getUint8(p - 1)
    if (before === QUOTE || before === COMMA || before === OPEN || isBlank(before)) return p
  }
  return -1
}

function hashTail(view: DataView, start: number, last: number, before: number): number {
  let hash = before
  for (let p = start; p <= last; p++) hash = mix(hash, view.getUint8(p))
  return finish(hash)
}

function mix(hash: number, word: number): number {
  const mixed = Math.imul(hash ^ word, 0x5bd1e995)
  return mixed ^ (mixed >>> 15)
}

function finish(hash: number): number {
  const mixed = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  return mixed ^ (mixed >>> 13)
}

function isBlank(byte: number): boolean {
  return byte === SPACE || byte === TAB
}
