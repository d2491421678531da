/** A simulated Kubernetes API for what finds targets in it, on a virtual clock. */
import { createKubernetesApi, type KubernetesApi } from '../../../../pipeline/simulator/kubernetes-api/handler.ts'
import type { GivenObject } from '../../../../pipeline/simulator/kubernetes-api/object-identity.ts'
import { createObjectStore, type ObjectStore } from '../../../../pipeline/simulator/kubernetes-api/object-store.ts'
import { virtualKubernetesApi } from '../../../../pipeline/simulator/kubernetes-api/serve.ts'
import { createVirtualClock } from '../../../../pipeline/clock/virtual-clock.ts'
import type { Host } from '../../../../pipeline/component.ts'
import { createVirtualNetwork, type VirtualNetwork } from '../../../../pipeline/http/virtual-network.ts'
import type { DiscoveredTarget, Discovery } from '../../../../receivers/scraping/discovery/discovery.ts'
import { TEST_START_MS, testHost, type TestHost } from '../../../support/test-host.ts'

export const SERVER = 'https://api.example'

export type KubernetesWorld = {
  readonly host: TestHost
  readonly network: VirtualNetwork
  readonly store: ObjectStore
  readonly api: KubernetesApi
}

export function kubernetesWorld(objects: readonly GivenObject[]): KubernetesWorld {
  const clock = createVirtualClock(TEST_START_MS)
  const network = createVirtualNetwork(clock)
  const host = testHost({ id: 'dcgm', clock, network: { ...network, kubernetesUrl: SERVER } })
  const store = createObjectStore()
  store.replaceAll(objects)
  const api = createKubernetesApi(store, { clock, builtIn: true })
  network.serve(`${SERVER}/`, virtualKubernetesApi(api))
  return { host: host as unknown as TestHost, network, store, api }
}

export type Discovering = KubernetesWorld & {
  readonly discovery: Discovery
  readonly updates: (readonly DiscoveredTarget[])[]
  start(): Promise<void>
  /** The values of a label, of all updates since the last call, in the order of targets. */
  found(label: string): (string | undefined)[][]
}

export function discovering(objects: readonly GivenObject[], create: (host: Host) => Discovery): Discovering {
  const world = kubernetesWorld(objects)
  const discovery = create(world.host)
  const updates: (readonly DiscoveredTarget[])[] = []
  return {
    ...world,
    discovery,
    updates,
    async start() {
      discovery.start(targets => updates.push(targets))
      await world.host.clock.advance(0)
    },
    found: label => updates.splice(0).map(targets => targets.map(({ labels }) => labels.get(label))),
  }
}
