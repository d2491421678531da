/** Copies of a few bytes: a call of `set` costs more than they do. */

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

/** Copies from[start, end) to `at`, whatever the bytes are, and not a byte more. */
export function copyWords(to: DataView, at: number, from: DataView, start: number, end: number): void {
  const shift = at - start
  let p = start
  for (; p <= end - 4; p += 4) to.setUint32(p + shift, from.getUint32(p, true), true)
  for (; p < end; p++) to.setUint8(p + shift, from.getUint8(p))
}

/** Copies from[start, end) to `at`, and not a byte more. No eight of them may be a NaN. */
export function copyExactly(to: DataView, at: number, from: DataView, start: number, end: number): void {
  const length = (end - start) | 0
  if (length < 8) {
    for (let i = 0; i < length; i++) to.setUint8(at + i, from.getUint8(start + i))
    return
  }
  let p = 0
  for (; p <= length - 32; p = (p + 32) | 0) {
    const first = from.getFloat64((start + p) | 0, true)
    const second = from.getFloat64((start + p + 8) | 0, true)
    const third = from.getFloat64((start + p + 16) | 0, true)
    const fourth = from.getFloat64((start + p + 24) | 0, true)
    to.setFloat64((at + p) | 0, first, true)
    to.setFloat64((at + p + 8) | 0, second, true)
    to.setFloat64((at + p + 16) | 0, third, true)
    to.setFloat64((at + p + 24) | 0, fourth, true)
  }
  for (; p <= length - 8; p = (p + 8) | 0) to.setFloat64((at + p) | 0, from.getFloat64((start + p) | 0, true), true)
  to.setFloat64((at + length - 8) | 0, from.getFloat64((start + length - 8) | 0, true), true)
}
