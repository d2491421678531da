/**
 * Reads the owners of one kind: by a watch of their metadata where they may be listed, one by one where they may not. What a watch
 * does not know is asked for by name, because a pod may be told of before its owner is.
 */
import { sleep } from '../../pipeline/clock/sleep.ts'
import { isSameMetadata, keepMetadata, type ObjectKind } from '../../pipeline/cluster/keep-metadata.ts'
import type { KubernetesMetadata } from '../../pipeline/cluster/objects.ts'
import type { KubernetesClient } from '../../pipeline/kubernetes/client.ts'
import type { ApiResource } from '../../pipeline/kubernetes/discovery.ts'
import { displayName } from '../../pipeline/kubernetes/resource-path.ts'
import { watchResource, type ResourceWatch } from '../../pipeline/kubernetes/watch.ts'
import type { ApiKinds } from './api-kinds.ts'
import type { OwnerReader, Owners, Wanted } from './owners.ts'
import { createSingleReader } from './single-reader.ts'

export type KindReader = OwnerReader & {
  /** How many are wanted. */
  readonly size: number
  stop(): void
}

export type KindReaderOptions = {
  readonly client: KubernetesClient
  readonly kinds: ApiKinds
  /** Where to look; everywhere if this is empty. */
  readonly namespaces: readonly string[]
  readonly found: Owners['found']
  /** A change was heard of. */
  readonly changed: (resource: string) => void
}

/** So long the watch has to tell of an owner that a pod has just named. */
const WATCH_LAG_MS = 1000
/** A kind that is not there is looked for again after this time. */
const UNKNOWN_MS = 60_000

/** Starts at once. */
export function createKindReader(kind: ObjectKind, options: KindReaderOptions): KindReader {
  const { client, kinds, namespaces, found, changed } = options
  const { clock } = client.surroundings
  const wanted = new Map<string, Wanted>()
  const objects = new Map<string, KubernetesMetadata>()
  const watches: ResourceWatch<KubernetesMetadata>[] = []
  const stopping = new AbortController()
  let state: 'starting' | 'unknown' | 'ready' = 'starting'
  let resource: ApiResource | undefined
  const isWatched = (): boolean => watches.length > 0 && watches.every(watch => watch.state() === 'synced')
  const singles = createSingleReader(client, found, () => !isWatched())

  function put(owner: KubernetesMetadata): void {
    objects.set(owner.uid, owner)
    if (!wanted.has(owner.uid)) return
    singles.forget(owner.uid)
    found(owner.uid, owner)
  }

  function look(one: Wanted, lagMs: number): void {
    const { uid } = one.reference
    const known = objects.get(uid)
    if (known !== undefined) found(uid, known)
    else if (state === 'unknown') found(uid, 'unreadable')
    else if (state === 'ready') singles.ask(one, resource!, isWatched() ? lagMs : 0)
  }

  /** Called when a watch has told everything, or that it will not. */
  function heard(): void {
    if (state !== 'starting' || watches.some(watch => watch.state() === 'starting')) return
    state = 'ready'
    for (const one of wanted.values()) look(one, 0)
  }

  async function findResource(): Promise<ApiResource> {
    for (;;) {
      const known = await kinds.find(kind.group, kind.kind)
      if (known !== undefined) return known
      state = 'unknown'
      for (const one of wanted.values()) look(one, 0)
      await sleep(clock, UNKNOWN_MS, stopping.signal)
    }
  }

  function watch(known: ApiResource, namespace: string | undefined): ResourceWatch<KubernetesMetadata> {
    const { group, version, resource: plural } = known
    const place = { group, version, resource: plural, ...(namespace !== undefined && { namespace }) }
    const name = displayName(place)
    return watchResource<KubernetesMetadata>(
      client,
      { ...place, metadataOnly: true, keep: object => keepMetadata(object, kind), isSame: isSameMetadata },
      {
        added(owner) {
          changed(name)
          put(owner)
        },
        changed(owner) {
          changed(name)
          put(owner)
        },
        removed(owner) {
          changed(name)
          objects.delete(owner.uid)
        },
        synced: heard,
        unavailable: heard,
      },
    )
  }

  async function start(): Promise<void> {
    resource = await findResource()
    stopping.signal.throwIfAborted()
    state = 'starting'
    const isListed = resource.verbs.includes('list') && resource.verbs.includes('watch')
    const places = resource.namespaced && namespaces.length > 0 ? namespaces : [undefined]
    if (isListed) for (const namespace of places) watches.push(watch(resource, namespace))
    else heard()
  }

  // It only ends before its time when it is stopped.
  void start().catch(() => {})
  return {
    get size() {
      return wanted.size
    },
    want(one) {
      wanted.set(one.reference.uid, one)
      // In a config test all that has happened has been told.
      look(one, clock.aligned === true ? 0 : WATCH_LAG_MS)
    },
    release({ reference }) {
      wanted.delete(reference.uid)
      singles.forget(reference.uid)
    },
    stop() {
      stopping.abort(new Error('stopped'))
      singles.stop()
      for (const one of watches) one.stop()
    },
  }
}
