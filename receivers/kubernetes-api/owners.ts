/**
 * The owners of the model: exactly those that a pod, or an owner of one, refers to.
 *
 * Which kinds own something is not known before: each kind is read when the first reference to it is seen, and given up when there
 * is none left. An owner that is deleted before what it owns keeps its entry, so that a pod that is about to end does not change
 * its workload.
 */
import { isSameMetadata } from '../../pipeline/cluster/keep-metadata.ts'
import type { KubernetesMetadata, OwnerReference } from '../../pipeline/cluster/objects.ts'
import type { ClusterTables } from '../../pipeline/cluster/tables.ts'

/** An owner that somebody refers to, and where it is. */
export type Wanted = {
  readonly reference: OwnerReference
  /** Of whoever refers to it: owners are in the same namespace or in none. */
  readonly namespace: string
}

/** Who reads the owners of a kind. Calls `owners.found`, once or more often, for each that is wanted. */
export type OwnerReader = {
  want(wanted: Wanted): void
  release(wanted: Wanted): void
}

export type Owners = {
  /** These references are there now, in place of those before; a pod of its own or an owner. */
  refer(from: Pick<KubernetesMetadata, 'owners' | 'namespace'>, before?: Pick<KubernetesMetadata, 'owners'>): void
  /** Whoever had these references is gone. */
  unrefer(from: Pick<KubernetesMetadata, 'owners'>): void
  found(uid: string, owner: KubernetesMetadata | 'unreadable'): void
  isWanted(uid: string): boolean
  /** How many are wanted and have neither been read nor found unreadable. */
  readonly open: number
  /** How many cannot be read. */
  readonly unreadable: number
  close(): void
}

type Held = Wanted & { references: number; value: KubernetesMetadata | 'unreadable' | undefined }

/** `settled` is called whenever none is open any more. */
export function createOwners(
  table: ClusterTables['owners'],
  readerOf: (reference: OwnerReference) => OwnerReader,
  settled: () => void,
): Owners {
  const wanted = new Map<string, Held>()
  let open = 0
  let unreadable = 0

  function refer({ owners, namespace }: Parameters<Owners['refer']>[0]): void {
    for (const reference of owners) {
      if (!isFollowed(reference)) continue
      const known = wanted.get(reference.uid)
      if (known !== undefined) {
        known.references++
        continue
      }
      const held: Held = { reference, namespace, references: 1, value: undefined }
      wanted.set(reference.uid, held)
      open++
      readerOf(reference).want(held)
    }
  }

  function unrefer({ owners }: Pick<KubernetesMetadata, 'owners'>): void {
    for (const reference of owners) {
      const held = isFollowed(reference) ? wanted.get(reference.uid) : undefined
      if (held === undefined || --held.references > 0) continue
      const { value } = held
      wanted.delete(reference.uid)
      readerOf(held.reference).release(held)
      note(held, undefined)
      if (value === undefined) open--
      else remove(reference.uid, value)
      if (typeof value === 'object') unrefer(value)
      if (open === 0) settled()
    }
  }

  function note(held: Held, value: Held['value']): void {
    if (held.value === 'unreadable') unreadable--
    if (value === 'unreadable') unreadable++
    held.value = value
  }

  function remove(uid: string, value: KubernetesMetadata | 'unreadable'): void {
    if (table.get(uid) === value) table.delete(uid)
  }

  return {
    refer(from, before) {
      if (from.owners === before?.owners) return
      refer(from)
      if (before !== undefined) unrefer(before)
    },
    unrefer,
    found(uid, owner) {
      const held = wanted.get(uid)
      if (held === undefined) return
      const before = held.value
      // What has been read once stays, also when it cannot be read just now.
      if (owner === 'unreadable' && before !== undefined) return
      if (typeof owner === 'object' && typeof before === 'object' && isSameMetadata(owner, before)) return
      note(held, owner)
      if (typeof owner === 'object') refer(owner)
      if (typeof before === 'object') unrefer(before)
      table.set(uid, owner)
      if (before === undefined && --open === 0) settled()
    },
    isWanted: uid => wanted.has(uid),
    get open() {
      return open
    },
    get unreadable() {
      return unreadable
    },
    close() {
      for (const [uid, { value }] of wanted) if (value !== undefined) remove(uid, value)
      wanted.clear()
      open = 0
      unreadable = 0
    },
  }
}

/** A static pod is owned by its node, which is no workload; a reference without uid cannot be told from another. */
function isFollowed({ group, kind, uid }: OwnerReference): boolean {
  return uid !== '' && !(kind === 'Node' && group === '')
}
