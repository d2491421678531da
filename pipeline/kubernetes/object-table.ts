/**
 * What is kept of the objects of a kind, and what a list or an event changes in it.
 *
 * Objects have one place per name, so that a new object under an old name takes the place of its predecessor, whether or not its
 * deletion was heard of. Nothing but what `keep` returns is held of an object, besides its name, uid and version.
 */
import { identify, isOlder, type ApiObject, type Identity } from './api-object.ts'

export type TableHandler<T> = {
  added(kept: T): void
  changed(kept: T, before: T): void
  removed(kept: T): void
}

export type ObjectTable<T> = {
  readonly size: number
  values(): IterableIterator<T>
  /** Takes in an object, as it is in a list or an event. Throws if it is none, or if `keep` throws; then what was known of it stays. */
  put(object: ApiObject): void
  /** Throws if it is no object. */
  remove(object: ApiObject): void
  /**
   * What is put from now on is all that there is: who is not put before the list ends is gone. `isNewHistory` says that versions
   * began anew, so that a smaller one is not an older one.
   */
  beginList(isNewHistory: boolean): void
  endList(version: string): void
  clear(): void
}

type Entry<T> = { uid: string; version: KeptVersion; list: number; kept: T }

/** There are as many as objects, and a number takes less memory than a text, mostly none of its own. */
type KeptVersion = string | number

/** Of so many deleted objects it is known that they are, so that an event that comes too late does not bring them back. */
const REMEMBERED_DELETIONS = 1000

export function createObjectTable<T>(
  keep: (object: ApiObject) => T | undefined,
  isSame: ((kept: T, before: T) => boolean) | undefined,
  handler: TableHandler<T>,
): ObjectTable<T> {
  const entries = new Map<string, Entry<T>>()
  const deletions = new Map<string, string>()
  let list = 0
  let isNewHistory = false

  function forget(key: string, { uid, kept }: Entry<T>, version: string): void {
    entries.delete(key)
    rememberDeletion(uid, version)
    handler.removed(kept)
  }

  function rememberDeletion(uid: string, version: string): void {
    // What has no uid of its own cannot be told from what comes after it.
    if (uid === '') return
    deletions.delete(uid)
    deletions.set(uid, version)
    if (deletions.size > REMEMBERED_DELETIONS) deletions.delete(deletions.keys().next().value!)
  }

  /** Whether something newer is known of the object, or of its successor. */
  function isLate({ key, uid, version }: Identity): boolean {
    if (isNewHistory) return false
    return isOlder(version, `${entries.get(key)?.version ?? ''}`) || isOlder(version, deletions.get(uid) ?? '')
  }

  function change(identity: Identity, known: Entry<T>, object: ApiObject): void {
    if (`${known.version}` === identity.version && identity.version !== '' && !isNewHistory) return
    const kept = keep(object)
    if (kept === undefined) return forget(identity.key, known, identity.version)
    known.version = keptVersion(identity.version)
    const before = known.kept
    if (isSame?.(kept, before) === true) return
    known.kept = kept
    handler.changed(kept, before)
  }

  return {
    get size() {
      return entries.size
    },
    *values() {
      for (const { kept } of entries.values()) yield kept
    },

    put(object) {
      const identity = identify(object)
      const { key, uid, version } = identity
      const known = entries.get(key)
      // It is there, however late or bad the rest may be.
      if (known?.uid === uid) known.list = list
      if (isLate(identity)) return
      if (known?.uid === uid) return change(identity, known, object)
      if (known !== undefined) forget(key, known, version)
      const kept = keep(object)
      if (kept === undefined) return
      deletions.delete(uid)
      entries.set(key, { uid, version: keptVersion(version), list, kept })
      handler.added(kept)
    },

    remove(object) {
      const identity = identify(object)
      if (isLate(identity)) return
      const known = entries.get(identity.key)
      if (known?.uid === identity.uid) forget(identity.key, known, identity.version)
      else rememberDeletion(identity.uid, identity.version)
    },

    beginList(itsHistoryIsNew) {
      list++
      isNewHistory = itsHistoryIsNew
      if (isNewHistory) deletions.clear()
    },
    endList(version) {
      for (const [key, entry] of entries) if (entry.list !== list) forget(key, entry, version)
      isNewHistory = false
    },
    clear() {
      const all = [...entries.values()]
      entries.clear()
      deletions.clear()
      for (const { kept } of all) handler.removed(kept)
    },
  }
}

/** As a number where that says the same. */
function keptVersion(version: string): KeptVersion {
  const number = Number(version)
  return `${number}` === version ? number : version
}
