/** Keys and values as few large things, which go from thread to thread without being copied piece by piece. */

export type PackedEntries = {
  readonly keys: readonly string[]
  /** Of each value, in order; DELETED where there is none. */
  readonly lengths: Int32Array
  readonly bytes: Uint8Array<ArrayBuffer>
}

const DELETED = -1

/** Copies the values: they may change afterwards. */
export function packEntries(entries: Iterable<readonly [string, Uint8Array | undefined]>): PackedEntries {
  const pairs = [...entries]
  const lengths = Int32Array.from(pairs, ([, value]) => value?.length ?? DELETED)
  const bytes = new Uint8Array(lengths.reduce((sum, length) => sum + Math.max(0, length), 0))
  let at = 0
  for (const [, value] of pairs) {
    if (value === undefined) continue
    bytes.set(value, at)
    at += value.length
  }
  return { keys: pairs.map(([key]) => key), lengths, bytes }
}

/** The values are views of the packed bytes. */
export function* unpackEntries({ keys, lengths, bytes }: PackedEntries): Generator<[string, Uint8Array | undefined]> {
  let at = 0
  for (const [i, key] of keys.entries()) {
    const length = lengths[i]!
    yield [key, length === DELETED ? undefined : bytes.subarray(at, at + length)]
    at += Math.max(0, length)
  }
}
