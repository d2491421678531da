/** A client of the simulated API on a virtual clock, and somebody who writes down what a watch tells. */
import type { VirtualClock } from '../../../pipeline/clock/virtual-clock.ts'
import type { KubernetesCredentials } from '../../../pipeline/kubernetes/access.ts'
import type { ApiObject } from '../../../pipeline/kubernetes/api-object.ts'
import { createKubernetesClient, type KubernetesClient } from '../../../pipeline/kubernetes/client.ts'
import { watchResource, type ResourceWatch, type WatchedResource } from '../../../pipeline/kubernetes/watch.ts'
import {
  createKubernetesApi,
  type KubernetesApi,
  type KubernetesApiOptions,
} from '../../../pipeline/simulator/kubernetes-api/handler.ts'
import type { GivenObject } from '../../../pipeline/simulator/kubernetes-api/object-identity.ts'
import { createObjectStore, type ObjectStore } from '../../../pipeline/simulator/kubernetes-api/object-store.ts'
import { virtualKubernetesApi } from '../../../pipeline/simulator/kubernetes-api/serve.ts'
import { testHost, type TestHost } from '../../support/test-host.ts'

export type TestCluster = {
  readonly host: TestHost
  readonly clock: VirtualClock
  readonly store: ObjectStore
  readonly api: KubernetesApi
  readonly client: KubernetesClient
  /** Paths and queries of all requests so far, in words: `list`, `list 2` (with continue), `watch 7`, `stream`. */
  requests(): string[]
}

export const SERVER = 'https://api.example'

export type TestClusterOptions = Partial<KubernetesApiOptions> & {
  readonly historyLimit?: number
  readonly credentials?: KubernetesCredentials
}

export function testCluster(objects: readonly GivenObject[], options: TestClusterOptions = {}): TestCluster {
  const { historyLimit, credentials = anybody(), ...apiOptions } = options
  const host = testHost()
  const { clock, network, log, counters } = host
  const store = createObjectStore(historyLimit === undefined ? {} : { historyLimit })
  store.replaceAll(objects)
  const api = createKubernetesApi(store, { clock, builtIn: true, ...apiOptions })
  network.serve(`${SERVER}/`, virtualKubernetesApi(api))
  const client = createKubernetesClient({ credentials, network, clock, log, counters })
  return { host, clock, store, api, client, requests: () => network.requests.map(({ url }) => describe(url)) }
}

export function anybody(): KubernetesCredentials {
  const access = { server: SERVER, headers: {} }
  return { access: async () => access, refused() {}, describe: () => 'anybody' }
}

function describe(url: string): string {
  const { searchParams } = new URL(url)
  if (searchParams.get('sendInitialEvents') === 'true') return 'stream'
  if (searchParams.get('watch') === '1') return `watch ${searchParams.get('resourceVersion')}`
  if (searchParams.get('limit') === '1') return 'look'
  return `list ${searchParams.get('limit')}${searchParams.has('continue') ? ' more' : ''}`
}

export type Kept = { readonly name: string; readonly uid: string; readonly phase: string }

export type Watched = {
  readonly watch: ResourceWatch<Kept>
  /** What was told: `+a`, `~a Pending>Running`, `-a`, `synced`, `missing`. Emptied by reading it. */
  told(): string[]
  /** Names of the objects that are known by what was told. */
  names(): string[]
}

/** Watches pods, unless told otherwise, and forgets all about them but name, uid and phase. */
export function watchPods(client: KubernetesClient, options: Partial<WatchedResource<Kept>> = {}): Watched {
  let told: string[] = []
  const known = new Map<string, Kept>()
  const watch = watchResource<Kept>(
    client,
    { group: '', version: 'v1', resource: 'pods', keep: keepPod, ...options },
    {
      added(pod) {
        if (known.has(pod.uid)) told.push(`added twice: ${pod.name}`)
        known.set(pod.uid, pod)
        told.push(`+${pod.name}`)
      },
      changed(pod, before) {
        if (known.get(pod.uid) !== before) told.push(`changed from what was not known: ${pod.name}`)
        known.set(pod.uid, pod)
        told.push(`~${pod.name} ${before.phase}>${pod.phase}`)
      },
      removed(pod) {
        if (!known.delete(pod.uid)) told.push(`removed twice: ${pod.name}`)
        told.push(`-${pod.name}`)
      },
      synced: () => told.push('synced'),
      unavailable: reason => told.push(reason),
    },
  )
  return {
    watch,
    told() {
      const result = told
      told = []
      return result
    },
    names: () => [...known.values()].map(pod => pod.name).toSorted(),
  }
}

/** Throws if there is a status that is none. */
export function keepPod({ metadata: { name, uid }, status = {} }: ApiObject): Kept {
  return { name, uid, phase: (status as { phase?: string }).phase ?? '' }
}
