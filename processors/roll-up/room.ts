/** Typed arrays that grow. */
type Numbers = Float64Array<ArrayBuffer> | Int32Array<ArrayBuffer> | Uint32Array<ArrayBuffer> | Uint8Array<ArrayBuffer>

/** The array itself if it is long enough, else a longer one with the same content. There are many, so little of them is left free. */
export function roomFor<A extends Numbers>(array: A, length: number): A {
  return length <= array.length ? array : grownTo(array, Math.max(64, Math.ceil(length * 1.0625)))
}

/** A longer one with the same content. */
export function grownTo<A extends Numbers>(array: A, length: number): A {
  const Kind = array.constructor as new (length: number) => A
  const grown = new Kind(length)
  grown.set(array)
  return grown
}
