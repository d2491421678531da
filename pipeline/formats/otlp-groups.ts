/** The resources and scopes of a plan, each pair once. */
import { HashIndex } from './hash-index.ts'
import { SLACK } from './otlp-dialect.ts'
import { StringPacker, type PackedStrings } from './packed-strings.ts'

/** By number of the group. */
export type Groups = {
  readonly resources: PackedStrings
  /** Mostly one, which other plans have, too. */
  readonly scopes: PackedStrings
  /** No eight bytes are a NaN, so that they can be copied as doubles. */
  readonly isPlain: boolean
}

const MORE = 1.0625
const NO_SCOPE = new Uint8Array(0)

export class GroupTable {
  readonly #resources: StringPacker
  readonly #scopes = new StringPacker()
  readonly #index = new HashIndex()
  #isPlain = true
  /** The scope that groups of another plan have, which is mostly one. */
  #readScopes: PackedStrings | undefined
  #readScope: Uint8Array = NO_SCOPE

  /** `before` are those of the plan before, which mostly has nearly the same. */
  constructor(before?: Groups) {
    // A little more each time while a cluster is learnt.
    this.#resources = new StringPacker(before === undefined ? 0 : Math.ceil(before.resources.view.byteLength * MORE))
  }

  get count(): number {
    return this.#index.count
  }

  /** The number of the group with these bytes. */
  intern(resource: Uint8Array, scope: Uint8Array): number {
    const hash = hashBytes(scope, hashBytes(resource))
    const { slots, hashes, mask } = this.#index
    for (let slot = hash & mask; slots[slot] !== 0; slot = (slot + 1) & mask) {
      const group = slots[slot]! - 1
      if (hashes[group] === hash && this.#resources.is(group, resource) && this.#scopes.is(group, scope)) return group
    }
    if (mayBeNaN(resource) || mayBeNaN(scope)) this.#isPlain = false
    this.#resources.add(resource)
    this.#scopes.add(scope)
    return this.#index.add(hash)
  }

  /** The same for a group of another plan. */
  internFrom({ resources, scopes }: Groups, group: number): number {
    const resource = resources.read(group)
    // What was read is there until the next is, but for a string that is the only one.
    if (!scopes.isOne) return this.intern(resource.slice(), scopes.read(group))
    if (this.#readScopes !== scopes) {
      this.#readScopes = scopes
      this.#readScope = scopes.read(group)
    }
    return this.intern(resource, this.#readScope)
  }

  /** All that there are; nothing comes after it. */
  finish(): Groups {
    const resources = this.#resources.finish(SLACK)
    const scopes = shared(this.#scopes.finish(SLACK))
    return { resources, scopes, isPlain: this.#isPlain }
  }
}

/** Most plans have one scope, and all the same one. */
const known = new Map<string, PackedStrings>()
const MAX_KNOWN = 256

function shared(scopes: PackedStrings): PackedStrings {
  if (!scopes.isOne) return scopes
  const text = scopes.read(0).toHex()
  const before = known.get(text)
  if (before !== undefined) return before
  if (known.size === MAX_KNOWN) known.clear()
  known.set(text, scopes)
  return scopes
}

export function groupCount({ resources }: Groups): number {
  return resources.count
}

/** The bytes of its resource and scope. */
export function groupLength({ resources, scopes }: Groups, group: number): number {
  return resources.lengthOf(group) + scopes.lengthOf(group)
}

/** Of text that is shorter than 16 KiB never; what was pushed may have attributes of any bytes. */
function mayBeNaN(bytes: Uint8Array): boolean {
  for (let i = 1; i < bytes.length; i++) if ((bytes[i]! & 0x7f) === 0x7f && bytes[i - 1]! >= 0xf0) return true
  return false
}

function hashBytes(bytes: Uint8Array, start = 0x811c9dc5): number {
  let hash = start
  for (let i = 0; i < bytes.length; i++) hash = Math.imul(hash ^ bytes[i]!, 0x01000193)
  return Math.imul(hash ^ (hash >>> 15), 0x85ebca6b) | 0
}
