/** Which shard of kube-state-metrics an object belongs to: jump consistent hash (Lamping and Veach, 2014) of the FNV-1a hash of its uid. */

const BITS_64 = (1n << 64n) - 1n

export function shardOf(uid: string, shards: number): number {
  return shards === 1 ? 0 : jumpHash(fnv1a(uid), shards)
}

function fnv1a(text: string): bigint {
  let hash = 0xcbf29ce484222325n
  for (const byte of Buffer.from(text)) hash = ((hash ^ BigInt(byte)) * 0x100000001b3n) & BITS_64
  return hash
}

function jumpHash(key: bigint, buckets: number): number {
  let bucket = -1
  let next = 0
  while (next < buckets) {
    bucket = next
    key = (key * 2862933555777941757n + 1n) & BITS_64
    next = Math.floor((bucket + 1) * (2 ** 31 / (Number(key >> 33n) + 1)))
  }
  return bucket
}
