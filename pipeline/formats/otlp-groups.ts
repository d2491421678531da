/** The resources and scopes of a plan, each pair once. */
import { ByteArena } from './byte-arena.ts'
import { HashIndex } from './hash-index.ts'

/** Of group g the resource is string 2g and the scope 2g + 1. */
export class Groups extends ByteArena {
  /** No eight bytes are a NaN, so that they can be copied as doubles. */
  isPlain = true
}

export class GroupTable {
  readonly arena = new Groups()
  readonly #index = new HashIndex()

  get count(): number {
    return this.#index.count
  }

  /** The number of the group with these bytes. */
  intern(resource: Uint8Array, scope: Uint8Array): number {
    const hash = hashBytes(scope, 0, scope.length, hashBytes(resource, 0, resource.length))
    return this.#find(hash, resource, 0, resource.length, scope, 0, scope.length)
  }

  /** The same for a group of another plan. */
  internFrom({ bytes, starts }: Groups, group: number): number {
    const [from, between, to] = [starts[2 * group]!, starts[2 * group + 1]!, starts[2 * group + 2]!]
    const hash = hashBytes(bytes, between, to, hashBytes(bytes, from, between))
    return this.#find(hash, bytes, from, between, bytes, between, to)
  }

  #find(hash: number, a: Uint8Array, aFrom: number, aTo: number, b: Uint8Array, bFrom: number, bTo: number): number {
    const { slots, hashes, mask } = this.#index
    for (let slot = hash & mask; slots[slot] !== 0; slot = (slot + 1) & mask) {
      const group = slots[slot]! - 1
      if (hashes[group] !== hash) continue
      if (this.#is(2 * group, a, aFrom, aTo) && this.#is(2 * group + 1, b, bFrom, bTo)) return group
    }
    if (mayBeNaN(a, aFrom, aTo) || mayBeNaN(b, bFrom, bTo)) this.arena.isPlain = false
    this.arena.add(a, aFrom, aTo)
    this.arena.add(b, bFrom, bTo)
    return this.#index.add(hash)
  }

  #is(string: number, other: Uint8Array, from: number, to: number): boolean {
    const { bytes, starts } = this.arena
    const start = starts[string]!
    if (starts[string + 1]! - start !== to - from) return false
    for (let i = from; i < to; i++) if (bytes[start + i - from] !== other[i]) return false
    return true
  }
}

export function groupCount(groups: Groups): number {
  return groups.count >> 1
}

/** Of text that is shorter than 16 KiB never; what was pushed may have attributes of any bytes. */
function mayBeNaN(bytes: Uint8Array, from: number, to: number): boolean {
  for (let i = from + 1; i < to; i++) if ((bytes[i]! & 0x7f) === 0x7f && bytes[i - 1]! >= 0xf0) return true
  return false
}

function hashBytes(bytes: Uint8Array, from: number, to: number, start = 0x811c9dc5): number {
  let hash = start
  for (let i = from; i < to; i++) hash = Math.imul(hash ^ bytes[i]!, 0x01000193)
  return Math.imul(hash ^ (hash >>> 15), 0x85ebca6b) | 0
}
