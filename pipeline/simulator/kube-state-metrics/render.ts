/** The text of one kube-state-metrics, or of one shard of several. */
import { hasQuota, type ClusterState } from '../cluster-state.ts'
import { hashText } from '../random.ts'
import { renderHead, type Family } from './family.ts'
import type { AllowList } from './label-names.ts'
import {
  namespaceFamilies,
  namespaceIdentity,
  nodeFamilies,
  nodeIdentity,
  quotaFamilies,
  quotaIdentity,
} from './node-families.ts'
import { CRON_JOBS, DEPLOYMENTS, JOBS, REPLICA_SETS, STATEFUL_SETS, type OwnerKind } from './owner-families.ts'
import { podFamilies, podIdentity } from './pod-families.ts'
import { shardOf } from './sharding.ts'
import { shownBy1 } from './version-1.ts'

export type KubeStateMetricsOptions = {
  /** Default: 2. */
  readonly version?: 1 | 2
  /** How many there are; each has its part of the objects. */
  readonly shards: number
  readonly labels: AllowList
  readonly annotations: AllowList
}

/** One kind of object: what there is of it, and which families show it. */
type Section<T> = {
  readonly families: readonly Family<T>[]
  objects(state: ClusterState): Iterable<T>
  uid(object: T): string
  identity(object: T): string
}

export type ShardRenderer = { render(shard: number): string[] }

/** The text comes in pieces, one per family: a large cluster has more of it than one string can hold. */
export function createShardRenderer(state: ClusterState, options: KubeStateMetricsOptions): ShardRenderer {
  const ordered = createOrder(options.shards)
  const shown = options.version === 1 ? shownBy1() : shownBy2(options)
  const sections: ((shard: number) => string[])[] = [
    owners(shown.cronJobs),
    owners(shown.deployments),
    owners(shown.jobs),
    section({
      families: shown.namespaces,
      objects: ({ namespaces }) => namespaces,
      uid: ({ uid }) => uid,
      identity: namespaceIdentity,
    }),
    section({
      families: shown.nodes,
      objects: ({ nodes }) => nodes,
      uid: ({ uid }) => uid,
      identity: nodeIdentity,
    }),
    section({
      families: shown.pods,
      objects: ({ pods }) => pods,
      uid: ({ uid }) => uid,
      identity: shown.podIdentity,
    }),
    owners(shown.replicaSets),
    section({
      families: shown.quotas,
      objects: ({ projects }) => projects.filter(hasQuota),
      uid: ({ objectUid }) => objectUid,
      identity: quotaIdentity,
    }),
    owners(shown.statefulSets),
  ]

  function owners({ kind, families, identity }: OwnerKind): (shard: number) => string[] {
    return section({
      families,
      objects: state => [...state.owners].filter(owner => owner.kind === kind && isBuiltIn(owner.apiVersion)),
      uid: ({ uid }) => uid,
      identity,
    })
  }

  function section<T extends Versioned>({ families, objects, uid, identity }: Section<T>): (shard: number) => string[] {
    const linesOf = createLineCache(families, identity)
    return shard => {
      const shown = ordered(objects(state), uid, shard).map(linesOf)
      return families.map((family, at) => {
        const parts = [renderHead(family)]
        for (const { text, ends } of shown) parts.push(text.slice(at === 0 ? 0 : ends[at - 1], ends[at]))
        return parts.join('')
      })
    }
  }

  return { render: shard => sections.flatMap(render => render(shard)) }
}

/** What a version shows of each kind of objects. */
type Shown = ReturnType<typeof shownBy1>

function shownBy2({ labels, annotations }: KubeStateMetricsOptions): Shown {
  return {
    cronJobs: CRON_JOBS,
    deployments: DEPLOYMENTS,
    jobs: JOBS,
    namespaces: namespaceFamilies(labels, annotations),
    nodes: nodeFamilies(labels),
    pods: podFamilies(labels, annotations),
    podIdentity,
    quotas: quotaFamilies(),
    replicaSets: REPLICA_SETS,
    statefulSets: STATEFUL_SETS,
  }
}

type Versioned = { readonly version: number }
/** All lines of one object, family after family, and where those of each family end. */
type Lines = { readonly version: number; readonly text: string; readonly ends: Uint32Array }

/** Most objects are the same from one scrape to the next, and so are their lines. */
function createLineCache<T extends Versioned>(families: readonly Family<T>[], identity: (object: T) => string) {
  const cache = new WeakMap<T, Lines>()
  return (object: T): Lines => {
    const known = cache.get(object)
    if (known !== undefined && known.version === object.version) return known
    const labels = identity(object)
    const ends = new Uint32Array(families.length)
    let text = ''
    for (const [at, family] of families.entries()) {
      text += family.lines(family.name, labels, object)
      ends[at] = text.length
    }
    // A string that was put together piece by piece keeps all the pieces; a copy of it does not.
    const lines = { version: object.version, text: Buffer.from(text, 'latin1').toString('latin1'), ends }
    cache.set(object, lines)
    return lines
  }
}

/** Services of Knative are no services of Kubernetes, and kube-state-metrics knows only what Kubernetes itself has. */
function isBuiltIn(apiVersion: string): boolean {
  return apiVersion === 'apps/v1' || apiVersion === 'batch/v1'
}

/**
 * The objects of a shard, in the order of a hash: kube-state-metrics keeps them in a Go map, so the order is arbitrary, but stays.
 */
function createOrder(shards: number) {
  const places = new WeakMap<object, { readonly order: number; readonly shard: number }>()

  function placeOf<T extends object>(object: T, uid: (object: T) => string): { order: number; shard: number } {
    let place = places.get(object)
    if (place === undefined) {
      const text = uid(object)
      places.set(object, (place = { order: hashText(text), shard: shardOf(text, shards) }))
    }
    return place
  }

  return <T extends object>(objects: Iterable<T>, uid: (object: T) => string, shard: number): T[] => {
    const mine: { object: T; order: number }[] = []
    for (const object of objects) {
      const place = placeOf(object, uid)
      if (place.shard === shard) mine.push({ object, order: place.order })
    }
    return mine.toSorted((a, b) => a.order - b.order).map(({ object }) => object)
  }
}
