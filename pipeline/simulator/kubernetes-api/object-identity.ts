/** What makes an object the one it is: group, kind, namespace and name for as long as it lives, and its uid. */
import { createHash } from 'node:crypto'
import type { OwnerReference } from '../kubernetes-object.ts'
import { parseApiVersion, wellKnownResource } from './resources.ts'

/** An object as somebody writes it down: what a server adds may be missing. */
export type GivenObject = {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: {
    readonly name: string
    readonly namespace?: string
    readonly uid?: string
    readonly resourceVersion?: string
    readonly labels?: Readonly<Record<string, string>>
    readonly annotations?: Readonly<Record<string, string>>
    readonly ownerReferences?: readonly (Omit<OwnerReference, 'uid'> & { readonly uid?: string })[]
    readonly [field: string]: unknown
  }
  readonly [field: string]: unknown
}

const DEFAULT_NAMESPACE = 'default'

/** `namespace/name`, or the name alone where there is no namespace: the key in etcd. */
export function keyOf(object: GivenObject): string {
  const { namespace, name } = object.metadata
  return namespace === undefined ? name : `${namespace}/${name}`
}

/** Objects of kinds that are known to be namespaced are in the default namespace unless they say otherwise, as kubectl has it. */
export function withScope(object: GivenObject): GivenObject {
  const known = wellKnownResource(parseApiVersion(object.apiVersion).group, object.kind)
  const { namespace } = object.metadata
  if (known === undefined || known.namespaced === (namespace !== undefined)) return object
  if (known.namespaced) return { ...object, metadata: { ...object.metadata, namespace: DEFAULT_NAMESPACE } }
  const { namespace: _, ...metadata } = object.metadata
  return { ...object, metadata }
}

export function identityOf(object: GivenObject): string {
  return identity(parseApiVersion(object.apiVersion).group, object.kind, keyOf(object))
}

export function identity(group: string, kind: string, key: string): string {
  return `${group}/${kind}/${key}`
}

/** Always the same for the same identity and incarnation, in the form of a UUID. */
export function derivedUid(identityText: string, incarnation: number): string {
  const hash = createHash('sha1').update(`${identityText}\n${incarnation}`).digest('hex')
  const variant = ((Number.parseInt(hash[16]!, 16) & 0x3) | 0x8).toString(16)
  const parts = [
    hash.slice(0, 8),
    hash.slice(8, 12),
    `5${hash.slice(13, 16)}`,
    variant + hash.slice(17, 20),
    hash.slice(20, 32),
  ]
  return parts.join('-')
}

/**
 * Gives references to owners that lack the uid that of the owner: what it is given, or else what `uidOf` says it has or will get.
 * An owner is looked for in the namespace of the object, then among those without namespace.
 */
export function withOwnerUids(
  objects: readonly GivenObject[],
  uidOf: (identityText: string) => string,
): readonly GivenObject[] {
  if (!objects.some(hasIncompleteOwner)) return objects
  const given = new Map(objects.map(object => [identityOf(object), object]))

  return objects.map(object => {
    if (!hasIncompleteOwner(object)) return object
    const ownerReferences = object.metadata.ownerReferences!.map(owner => {
      const { group } = parseApiVersion(owner.apiVersion)
      const { namespace } = object.metadata
      const candidates = (namespace === undefined ? [owner.name] : [`${namespace}/${owner.name}`, owner.name]).map(
        key => identity(group, owner.kind, key),
      )
      const found = candidates.find(candidate => given.has(candidate)) ?? candidates[0]!
      return { ...owner, uid: owner.uid ?? given.get(found)?.metadata.uid ?? uidOf(found) }
    })
    return { ...object, metadata: { ...object.metadata, ownerReferences } }
  })
}

function hasIncompleteOwner(object: GivenObject): boolean {
  return object.metadata.ownerReferences?.some(owner => owner.uid === undefined) ?? false
}
