/** The receiver with a simulated API on a virtual clock. */
import { clusterTables, podNameKey, type ClusterTables } from '../../../pipeline/cluster/tables.ts'
import type { Batch, Source } from '../../../pipeline/model/batch.ts'
import { createVirtualClock, type VirtualClock } from '../../../pipeline/clock/virtual-clock.ts'
import { createVirtualNetwork, type VirtualNetwork } from '../../../pipeline/http/virtual-network.ts'
import {
  createKubernetesApi,
  type KubernetesApi,
  type KubernetesApiOptions,
} from '../../../pipeline/simulator/kubernetes-api/handler.ts'
import type { GivenObject } from '../../../pipeline/simulator/kubernetes-api/object-identity.ts'
import { createObjectStore, type ObjectStore } from '../../../pipeline/simulator/kubernetes-api/object-store.ts'
import { virtualKubernetesApi } from '../../../pipeline/simulator/kubernetes-api/serve.ts'
import { kubernetesApi } from '../../../receivers/kubernetes-api.ts'
import { configOf } from '../../support/config-of.ts'
import { TEST_START_MS, testHost, type TestHost } from '../../support/test-host.ts'
import { textFromBatch } from '../../support/text-from-batch.ts'

export type TestReceiver = {
  readonly host: TestHost
  readonly clock: VirtualClock
  readonly store: ObjectStore
  readonly api: KubernetesApi
  readonly tables: ClusterTables
  readonly network: VirtualNetwork
  readonly batches: Batch[]
  start(): Promise<void>
  stop(): void
  /** `complete`, `reading`, or undefined when nobody reads. */
  feed(): string | undefined
  /** The chain of owners of a pod by name: `RS/web-1 Deployment/web`, `?` for what is not known, `!` for what cannot be read. */
  chain(namespace: string, name: string): string
  /** The latest samples of all sources, sorted, without those whose names do not begin so. */
  text(prefix: string): string[]
}

const SERVER = 'https://api.example'

export function testReceiver(
  objects: readonly GivenObject[],
  config: Record<string, unknown> = {},
  apiOptions: Partial<KubernetesApiOptions> = {},
  next: (batch: Batch) => void = () => {},
): TestReceiver {
  // As a real one: what a watch tells may come late.
  const clock: VirtualClock = { ...createVirtualClock(TEST_START_MS), aligned: false }
  const network = createVirtualNetwork(clock)
  const host = testHost({ id: 'kubernetes_api', clock, network: { ...network, kubernetesUrl: SERVER } })
  const store = createObjectStore()
  store.replaceAll(objects)
  const api = createKubernetesApi(store, { clock, builtIn: true, ...apiOptions })
  network.serve(`${SERVER}/`, virtualKubernetesApi(api))
  const batches: Batch[] = []
  const receiver = kubernetesApi.create(configOf(kubernetesApi, config), host, batch => {
    next(batch)
    batches.push(batch)
  })
  const tables = clusterTables(host.cluster)

  function steps(owners: readonly { uid: string; kind: string; name: string }[]): string[] {
    const [first] = owners
    if (first === undefined) return []
    const owner = tables.owners.entry(first.uid).value
    const name = `${first.kind}/${first.name}`
    if (owner === undefined) return [`${name}?`]
    return owner === 'unreadable' ? [`${name}!`] : [name, ...steps(owner.owners)]
  }

  return {
    host: host as unknown as TestHost,
    clock,
    store,
    api,
    tables,
    network,
    batches,
    start: async () => {
      await receiver.start?.()
      await clock.advance(0)
    },
    stop: () => void receiver.stop?.(0),
    feed: () => tables.feeds.entry('kubernetes_api').value,
    chain(namespace, name) {
      const uid = tables.podNames.entry(podNameKey(namespace, name)).value ?? ''
      const pod = tables.pods.entry(uid).value ?? tables.gonePods.entry(uid).value
      return pod === undefined ? 'no pod' : steps(pod.owners).join(' ')
    },
    text(prefix) {
      const latest = new Map<Source, Batch>()
      for (const batch of batches) latest.set(batch.source, batch)
      return [...latest.values()]
        .flatMap(batch => textFromBatch(batch).split('\n'))
        .filter(line => line.startsWith(prefix))
        .toSorted()
    },
  }
}

type Owner = readonly [apiVersion: string, kind: string, name: string, uid: string]

/** An object with an owner that controls it. */
export function owned(
  apiVersion: string,
  kind: string,
  name: string,
  uid: string,
  owner?: Owner,
  parts: Partial<GivenObject> = {},
): GivenObject {
  const references = owner && [
    { apiVersion: owner[0], kind: owner[1], name: owner[2], uid: owner[3], controller: true },
  ]
  const { metadata, ...rest } = parts
  return {
    apiVersion,
    kind,
    ...rest,
    metadata: { name, namespace: 'team', uid, ...(references && { ownerReferences: references }), ...metadata },
  } as GivenObject
}
