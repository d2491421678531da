/**
 * Follows kinds that a cluster may have or not: those of schedulers and of dynamic resource allocation. Definitions come and go while
 * we run, so what is not there is looked for again now and then, and what is gone is looked for anew.
 */
import { sleep } from '../../pipeline/clock/sleep.ts'
import type { ApiObject } from '../../pipeline/kubernetes/api-object.ts'
import type { KubernetesClient } from '../../pipeline/kubernetes/client.ts'
import type { ApiResource } from '../../pipeline/kubernetes/discovery.ts'
import { displayName } from '../../pipeline/kubernetes/resource-path.ts'
import { watchResource, type ResourceWatch } from '../../pipeline/kubernetes/watch.ts'
import type { ApiKinds } from './api-kinds.ts'

/** A kind and what is done with its objects. */
export type OptionalKind<T> = {
  readonly group: string
  readonly kind: string
  keep(object: ApiObject): T | undefined
  isSame(kept: T, before: T): boolean
  /** `before` is missing for what is new, `now` for what is gone. */
  change(now: T | undefined, before: T | undefined): void
  /** Whether the API has the kind. */
  isThere(there: boolean): void
}

export type OptionalKindsOptions = {
  readonly client: KubernetesClient
  readonly kinds: ApiKinds
  /** Where to look, of kinds that have namespaces; everywhere if this is empty. */
  readonly namespaces: readonly string[]
  /** A change was heard of. */
  readonly changed: (resource: string) => void
  /** All that there are have been read, or cannot be, or it takes too long to wait for them. */
  readonly settled: () => void
}

export type OptionalKinds = {
  readonly isSettled: boolean
  /** Also takes back what has been told. */
  stop(): void
}

const LOOK_AGAIN_MS = 120_000
/** A cluster is complete without kinds of which nothing is heard for so long. */
const LONGEST_WAIT_MS = 30_000

/** Starts at once. */
export function followOptionalKinds(
  rows: readonly OptionalKind<unknown>[],
  { client, kinds, namespaces, changed, settled }: OptionalKindsOptions,
): OptionalKinds {
  const { clock } = client.surroundings
  const watches = new Map<OptionalKind<unknown>, ResourceWatch<unknown>[]>()
  const stopping = new AbortController()
  let hasLooked = false
  let isSettled = false
  const cancelWait = clock.after(LONGEST_WAIT_MS, settle)

  function settle(): void {
    if (isSettled) return
    isSettled = true
    cancelWait()
    settled()
  }

  function heard(): void {
    const isStarting = [...watches.values()].flat().some(watch => watch.state() === 'starting')
    if (hasLooked && !isStarting) settle()
  }

  function watch(
    row: OptionalKind<unknown>,
    { group, version, resource }: ApiResource,
    namespace: string | undefined,
  ): ResourceWatch<unknown> {
    const place = { group, version, resource, ...(namespace !== undefined && { namespace }) }
    const name = displayName(place)
    const told: OptionalKind<unknown>['change'] = (now, before) => {
      changed(name)
      row.change(now, before)
    }
    return watchResource<unknown>(
      client,
      { ...place, keep: object => row.keep(object), isSame: (kept, before) => row.isSame(kept, before) },
      {
        added: now => told(now, undefined),
        changed: told,
        removed: before => told(undefined, before),
        synced: heard,
        unavailable(reason) {
          // It may come back as another version.
          if (reason === 'missing') leave(row)
          heard()
        },
      },
    )
  }

  function enter(row: OptionalKind<unknown>, resource: ApiResource): void {
    if (!resource.verbs.includes('list') || !resource.verbs.includes('watch')) return
    const places = resource.namespaced && namespaces.length > 0 ? namespaces : [undefined]
    watches.set(
      row,
      places.map(namespace => watch(row, resource, namespace)),
    )
    row.isThere(true)
  }

  function leave(row: OptionalKind<unknown>): void {
    for (const one of watches.get(row) ?? []) {
      one.stop()
      for (const before of one.values()) row.change(undefined, before)
    }
    if (watches.delete(row)) row.isThere(false)
    kinds.forget(row.group, row.kind)
  }

  async function look(): Promise<void> {
    for (;;) {
      const missing = rows.filter(row => !watches.has(row))
      const found = await Promise.all(missing.map(row => kinds.find(row.group, row.kind)))
      stopping.signal.throwIfAborted()
      missing.forEach((row, i) => {
        const resource = found[i]
        if (resource !== undefined) enter(row, resource)
      })
      hasLooked = true
      heard()
      await sleep(clock, LOOK_AGAIN_MS, stopping.signal)
    }
  }

  // It only ends before its time when it is stopped.
  void look().catch(() => {})
  return {
    get isSettled() {
      return isSettled
    },
    stop() {
      stopping.abort(new Error('stopped'))
      cancelWait()
      for (const row of watches.keys()) leave(row)
    },
  }
}
