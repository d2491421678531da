/** Copies of a few bytes: a call of `set` costs more than they do. */
import { BACK, FIRST, LAST, type PackedStrings } from './packed-strings.ts'

/**
 * Copies from[start, end) so that it ends at `at`, from its end on in strides of 32 bytes: up to 31 too many before it, which is
 * faster than a call for so few bytes. As doubles bytes might change only where they are a NaN (0xff, or 0xf0 and more before 0x7f).
 * UTF-8 has no such sequence, tags have not, and a length only where it is about 16 KiB or more: such blocks are copied by a call.
 */
export function copyDown(to: DataView, at: number, from: DataView, start: number, end: number): void {
  if (end - start >= 0x3f00) {
    new Uint8Array(to.buffer).set(new Uint8Array(from.buffer, start, end - start), at - (end - start))
    return
  }
  let q = at | 0
  for (let p = end | 0; p > start; p = (p - 32) | 0) {
    const first = from.getFloat64((p - 8) | 0, true)
    const second = from.getFloat64((p - 16) | 0, true)
    const third = from.getFloat64((p - 24) | 0, true)
    const fourth = from.getFloat64((p - 32) | 0, true)
    to.setFloat64((q - 8) | 0, first, true)
    to.setFloat64((q - 16) | 0, second, true)
    to.setFloat64((q - 24) | 0, third, true)
    to.setFloat64((q - 32) | 0, fourth, true)
    q = (q - 32) | 0
  }
}

/**
 * Copies a string so that it ends at `at`, and up to 31 bytes too many before it. Returns where it begins. If it is plain, no eight of
 * its bytes are a NaN.
 */
export function copyPacked(to: DataView, at: number, from: PackedStrings, string: number, isPlain: boolean): number {
  const { view, starts, parts, tailStart, tailLength } = from
  at = copyPart(to, at, view, tailStart, tailLength, isPlain)
  if (starts.length === 0) return at
  const part = (3 * string) | 0
  const like = (string - parts[part + BACK]!) | 0
  const own = starts[string]!
  const first = parts[part + FIRST]!
  const last = parts[part + LAST]!
  if (last > 0) at = copyPart(to, at, view, starts[like + 1]! - last, last, isPlain)
  at = copyPart(to, at, view, own, starts[string + 1]! - own, isPlain)
  return first > 0 ? copyPart(to, at, view, starts[like]!, first, isPlain) : at
}

function copyPart(to: DataView, at: number, from: DataView, start: number, length: number, isPlain: boolean): number {
  if (isPlain) copyDown(to, at, from, start, (start + length) | 0)
  else copyWords(to, at - length, from, start, start + length)
  return (at - length) | 0
}

/** Copies from[start, end) to `at`, whatever the bytes are, and not a byte more. */
export function copyWords(to: DataView, at: number, from: DataView, start: number, end: number): void {
  const shift = at - start
  let p = start
  for (; p <= end - 4; p += 4) to.setUint32(p + shift, from.getUint32(p, true), true)
  for (; p < end; p++) to.setUint8(p + shift, from.getUint8(p))
}

/** Copies from[start, end) to `at`, and not a byte more. No eight of them may be a NaN. */
export function copyExactly(to: DataView, at: number, from: DataView, start: number, end: number): void {
  if (end - start < 32) {
    copyFew(to, at, from, start, end)
    return
  }
  const last = (end - 32) | 0
  let q = at | 0
  for (let p = start | 0; p < last; p = (p + 32) | 0) {
    copyStride(to, q, from, p)
    q = (q + 32) | 0
  }
  // Of the last stride some may be there already.
  copyStride(to, (at + last - start) | 0, from, last)
}

function copyStride(to: DataView, q: number, from: DataView, p: number): void {
  const fourth = from.getFloat64((p + 24) | 0, true)
  const third = from.getFloat64((p + 16) | 0, true)
  const second = from.getFloat64((p + 8) | 0, true)
  const first = from.getFloat64(p, true)
  to.setFloat64((q + 24) | 0, fourth, true)
  to.setFloat64((q + 16) | 0, third, true)
  to.setFloat64((q + 8) | 0, second, true)
  to.setFloat64(q, first, true)
}

function copyFew(to: DataView, at: number, from: DataView, start: number, end: number): void {
  const last = (end - 8) | 0
  if (last < start) {
    for (let p = start; p < end; p++) to.setUint8(at + p - start, from.getUint8(p))
    return
  }
  let q = at | 0
  for (let p = start | 0; p < last; p = (p + 8) | 0) {
    to.setFloat64(q, from.getFloat64(p, true), true)
    q = (q + 8) | 0
  }
  to.setFloat64((at + last - start) | 0, from.getFloat64(last, true), true)
}
