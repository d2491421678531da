/**
 * Tables in which equal things are one object, so that identity is equality and a million series share a few label sets.
 *
 * Entries are held weakly: what nobody uses any more is collected, and its place in the table is cleared afterwards.
 */
import { Sweeper } from './sweeper.ts'

export type InternTable<T extends object> = {
  /** The one object equal to what `same` accepts; made by `make` if there is none. */
  intern(hash: number, same: (known: T) => boolean, make: () => T): T
  /** How many places are taken, including those whose object was collected and not yet cleared. */
  readonly size: number
}

export function createInternTable<T extends object>(): InternTable<T> {
  // A hash is not an identity: things with equal hashes share a bucket and are told apart by `same`.
  const buckets = new Map<number, WeakRef<T> | WeakRef<T>[]>()
  let size = 0

  const sweeper = new Sweeper(buckets, clear)

  function clear(hash: number, bucket: WeakRef<T> | WeakRef<T>[]): void {
    if (bucket instanceof WeakRef && bucket.deref() !== undefined) return
    const refs = Array.isArray(bucket) ? bucket : [bucket]
    const alive = refs.filter(ref => ref.deref() !== undefined)
    if (alive.length === refs.length) return
    size -= refs.length - alive.length
    if (alive.length === 0) buckets.delete(hash)
    else buckets.set(hash, alive.length === 1 ? alive[0]! : alive)
  }

  return {
    intern(hash, same, make) {
      const bucket = buckets.get(hash)
      if (bucket instanceof WeakRef) {
        const known = bucket.deref()
        if (known !== undefined && same(known)) return known
      } else if (bucket !== undefined) {
        for (const ref of bucket) {
          const known = ref.deref()
          if (known !== undefined && same(known)) return known
        }
      }
      const one = make()
      const ref = new WeakRef(one)
      if (bucket === undefined) buckets.set(hash, ref)
      else if (Array.isArray(bucket)) bucket.push(ref)
      else buckets.set(hash, [bucket, ref])
      sweeper.added(one, hash)
      size++
      return one
    },
    get size() {
      return size
    },
  }
}

/** FNV-1a over UTF-16 units; continue from `hash` to hash several strings. */
export function hashString(text: string, hash = 0x811c9dc5): number {
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  // A separator, so that ("ab", "c") and ("a", "bc") start from different states.
  return Math.imul(hash ^ 0x1ff, 0x01000193)
}
