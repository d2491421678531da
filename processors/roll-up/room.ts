/** Typed arrays that grow. */
type Numbers = Float64Array<ArrayBuffer> | Int32Array<ArrayBuffer> | Uint32Array<ArrayBuffer> | Uint8Array<ArrayBuffer>

/** The array itself if it is long enough, else a longer one as of `resized`. There are many, so little of them is left free. */
export function roomFor<A extends Numbers>(array: A, length: number): A {
  return length <= array.length ? array : resized(array, Math.max(64, Math.ceil(length * 1.0625)))
}

/**
 * One with the same content as far as there is room, and zeros behind it. Nothing is in the array that it was: its memory is free at once,
 * where otherwise it would be there until V8 looks for garbage in the whole heap, since arrays that have to grow are old.
 */
export function resized<A extends Numbers>(array: A, length: number): A {
  const Kind = array.constructor as new (buffer: ArrayBuffer) => A
  return new Kind(array.buffer.transfer(length * array.BYTES_PER_ELEMENT))
}
