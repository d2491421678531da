/** Typed arrays that grow. */
type Numbers = Float64Array<ArrayBuffer> | Int32Array<ArrayBuffer> | Uint32Array<ArrayBuffer> | Uint8Array<ArrayBuffer>

/** The array itself if it is long enough, else a longer one with the same content. */
export function roomFor<A extends Numbers>(array: A, length: number): A {
  if (length <= array.length) return array
  const Kind = array.constructor as new (length: number) => A
  const grown = new Kind(Math.max(64, Math.ceil(length * 1.25)))
  grown.set(array)
  return grown
}
