/** Keeps the tables of the cluster model as the Kubernetes API has it: pods, nodes, namespaces, whatever owns pods, and quotas. */
import { isSameMetadata, keepMetadata } from '../../pipeline/cluster/keep-metadata.ts'
import { isSameNode, keepNode, type KeptNode } from '../../pipeline/cluster/keep-node.ts'
import { isSamePod, keepPod, type KeptPod } from '../../pipeline/cluster/keep-pod.ts'
import type { KubernetesMetadata } from '../../pipeline/cluster/objects.ts'
import { clusterTables } from '../../pipeline/cluster/tables.ts'
import type { Host } from '../../pipeline/component.ts'
import type { Tracked } from '../../pipeline/model/tracked.ts'
import type { KubernetesClient } from '../../pipeline/kubernetes/client.ts'
import { displayName } from '../../pipeline/kubernetes/resource-path.ts'
import { watchResource, type ResourceWatch, type WatchedResource } from '../../pipeline/kubernetes/watch.ts'
import { createApiKinds } from './api-kinds.ts'
import { followOptionalKinds } from './optional-kinds.ts'
import { createOwnerReaders } from './owner-readers.ts'
import { createOwners } from './owners.ts'
import { createPodReader } from './pod-reader.ts'
import { createPodTables } from './pods.ts'
import { schedulerKinds, type SchedulerChange } from './scheduler-kinds.ts'

export type FollowOptions = {
  readonly client: KubernetesClient
  /** Whose pods are read; all if this is empty. */
  readonly namespaces: readonly string[]
  readonly graceMs: number
  /** Told of pods, nodes, quotas and claims, after the tables have them. `before` is missing for what is new, `now` for what is gone. */
  readonly pod: (now: KeptPod | undefined, before: KeptPod | undefined) => void
  readonly node: (now: KeptNode | undefined, before: KeptNode | undefined) => void
  readonly scheduler: SchedulerChange
  /** Everything has been read once, or cannot be. */
  readonly complete: () => void
}

export type FollowedCluster = {
  readonly isComplete: boolean
  /** Also takes out of the tables what this has put in. */
  stop(): void
}

type Change<T> = (now: T | undefined, before: T | undefined) => void

const NAMESPACE = { group: '', kind: 'Namespace' }
/** Who fills the tables now: of two with one name, as at a reload, the later one. */
const feeders = new WeakMap<Tracked<unknown>, Map<string, object>>()

/** Starts at once. */
export function followCluster(host: Host, options: FollowOptions): FollowedCluster {
  const { id, clock, counters, cluster } = host
  const { client, namespaces, graceMs } = options
  const tables = clusterTables(cluster)
  const watches: ResourceWatch<unknown>[] = []
  let isComplete = false

  const changed = (resource: string): void => counters.add('gpucol_receiver_kubernetes_changes', 1, { resource })
  const owners = createOwners(tables.owners, reference => readers.of(reference), checkComplete)
  const podReader = createPodReader(clock, uid => tables.pods.get(uid), owners.found)
  const podTables = createPodTables(tables, clock, graceMs, owners.unrefer)
  const stopping = new AbortController()
  const kinds = createApiKinds(client, stopping.signal)
  const readers = createOwnerReaders({
    client,
    clock,
    kinds,
    namespaces,
    found: owners.found,
    changed,
    pods: podReader,
  })
  const feed = {}
  const feeds = feeders.get(tables.feeds) ?? new Map<string, object>()
  feeders.set(tables.feeds, feeds.set(id, feed))
  tables.feeds.set(id, 'reading')

  function checkComplete(): void {
    if (isComplete || owners.open > 0 || watches.some(watch => watch.state() === 'starting')) return
    if (watches.length === 0 || !optional.isSettled) return
    isComplete = true
    tables.feeds.set(id, 'complete')
    options.complete()
  }

  function changePod(now: KeptPod | undefined, before: KeptPod | undefined): void {
    if (now === undefined) {
      // Its owners stay as long as it is remembered.
      podTables.remove(before!)
    } else {
      owners.refer(now, before)
      podTables.put(now)
      podReader.put(now)
    }
    options.pod(now, before)
  }

  function follow<T>(resource: WatchedResource<T>, change: Change<T>, synced: () => void): ResourceWatch<T> {
    const told: Change<T> = (now, before) => {
      changed(displayName(resource))
      change(now, before)
    }
    const watch = watchResource<T>(client, resource, {
      added: now => told(now, undefined),
      changed: told,
      removed: before => told(undefined, before),
      synced,
      unavailable: synced,
    })
    watches.push(watch)
    return watch
  }

  function podsSynced(): void {
    if (podWatches.every(watch => watch.state() !== 'starting')) podReader.synced()
    checkComplete()
  }

  const nodes = createNamedTable<KeptNode>(tables.nodes)
  const namespaceTable = createNamedTable<KubernetesMetadata>(tables.namespaces)
  const places = namespaces.length === 0 ? [{}] : namespaces.map(namespace => ({ namespace }))
  const podWatches = places.map(place => {
    const pods = { group: '', version: 'v1', resource: 'pods', ...place, keep: keepPod, isSame: isSamePod }
    return follow<KeptPod>(pods, changePod, podsSynced)
  })
  const nodeWatch = follow<KeptNode>(
    { group: '', version: 'v1', resource: 'nodes', keep: keepNode, isSame: isSameNode },
    (now, before) => {
      nodes.change(now, before)
      options.node(now, before)
    },
    checkComplete,
  )
  const keepNamespace = (object: Parameters<typeof keepMetadata>[0]): KubernetesMetadata | undefined =>
    namespaces.length === 0 || namespaces.includes(object.metadata.name) ? keepMetadata(object, NAMESPACE) : undefined
  const namespaceWatch = follow<KubernetesMetadata>(
    {
      group: '',
      version: 'v1',
      resource: 'namespaces',
      metadataOnly: true,
      keep: keepNamespace,
      isSame: isSameMetadata,
    },
    namespaceTable.change,
    checkComplete,
  )

  const optional = followOptionalKinds(schedulerKinds(tables, options.scheduler), {
    client,
    kinds,
    namespaces,
    changed,
    settled: checkComplete,
  })

  const unobserve = [
    counters.observe('gpucol_receiver_kubernetes_unreadable_owners', () => [{ value: owners.unreadable }]),
    counters.observe('gpucol_receiver_kubernetes_unknown_owners', () => [{ value: owners.open }]),
  ]
  return {
    get isComplete() {
      return isComplete
    },
    stop() {
      stopping.abort(new Error('stopped'))
      for (const watch of watches) watch.stop()
      optional.stop()
      for (const end of unobserve) end()
      readers.stop()
      podReader.stop()
      podTables.close(podWatches.flatMap(watch => [...watch.values()]))
      owners.close()
      nodes.close(nodeWatch.values())
      namespaceTable.close(namespaceWatch.values())
      if (feeds.get(id) !== feed) return
      feeds.delete(id)
      tables.feeds.delete(id)
    },
  }
}

/** A table by name. */
function createNamedTable<T extends KubernetesMetadata>(
  table: Tracked<KubernetesMetadata> | Tracked<KeptNode>,
): { change: Change<T>; close(present: Iterable<T>): void } {
  const tracked = table as Tracked<T>
  /** Not what somebody else has put in since. */
  function remove(value: T): void {
    if (tracked.get(value.name) === value) tracked.delete(value.name)
  }
  return {
    change(now, before) {
      if (now === undefined) remove(before!)
      else tracked.set(now.name, now)
    },
    close(present) {
      for (const value of present) remove(value)
    },
  }
}
