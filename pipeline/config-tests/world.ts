/** The world of one test: nothing in it is real but the components. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createCatalogs } from '../catalog/catalogs.ts'
import { createVirtualClock, type VirtualClock } from '../clock/virtual-clock.ts'
import { createCluster } from '../cluster/cluster.ts'
import type { Counters, Memory, Network } from '../component.ts'
import type { LoadedConfig } from '../config/loaded-config.ts'
import type { Surroundings } from '../graph/service.ts'
import { normalizeUrl } from '../http/url.ts'
import { createVirtualNetwork, type VirtualNetwork } from '../http/virtual-network.ts'
import { packageFile } from '../package-files.ts'
import { createKubernetesApi } from '../simulator/kubernetes-api/handler.ts'
import { createObjectStore, type ObjectStore } from '../simulator/kubernetes-api/object-store.ts'
import { virtualKubernetesApi } from '../simulator/kubernetes-api/serve.ts'
import { openStorage } from '../storage/storage.ts'
import { trackStorage } from '../storage/tracked-storage.ts'
import { createLog } from '../telemetry/log.ts'

export type World = {
  readonly surroundings: Surroundings
  readonly clock: VirtualClock
  readonly network: VirtualNetwork
  readonly objects: ObjectStore
  /** Whether anybody asked the Kubernetes API. */
  isApiAsked(): boolean
  /** URLs that somebody wanted to read. What exporters send goes nowhere, and that is all right. */
  readonly read: ReadonlySet<string>
  /** All lines of the log so far. */
  readonly log: readonly string[]
  end(): Promise<void>
}

export type ObjectKind = { readonly apiVersion: string; readonly kind: string }

/** Where pods find the Kubernetes API. */
const KUBERNETES_URL = 'https://kubernetes.default.svc'

/** `kinds` are those that any step of the test has objects of: the API server knows them from the start, as if their definitions were installed. */
export async function createWorld(
  config: LoadedConfig,
  { startMs, version, kinds }: { startMs: number; version: string; kinds: readonly ObjectKind[] },
): Promise<World> {
  const clock = createVirtualClock(startMs)
  const network = createVirtualNetwork(clock)
  const lines: string[] = []
  const { level } = config.service.telemetry.logs
  const log = createLog({ level, encoding: 'console', write: line => lines.push(line.trimEnd()), now: clock.now })
  const objects = createObjectStore()
  const api = virtualKubernetesApi(createKubernetesApi(objects, { clock, kinds }))
  let isApiAsked = false
  network.serve(KUBERNETES_URL, (request, response) => {
    isApiAsked = true
    api(request, response)
  })
  const { network: listened, read } = listenTo(network)
  const directory = config.service.storage === undefined ? undefined : await mkdtemp(join(tmpdir(), 'gpucol-test-'))
  const storage = await openStorage(directory, log, clock)
  return {
    clock,
    network,
    objects,
    isApiAsked: () => isApiAsked,
    read,
    log: lines,
    surroundings: {
      version,
      log,
      clock,
      network: { ...listened, kubernetesUrl: KUBERNETES_URL },
      cluster: createCluster(),
      catalogs: createCatalogs(packageFile('configs', 'catalogs')),
      storage: trackStorage(storage, clock),
      memory: ENOUGH_MEMORY,
      counters: () => NO_COUNTERS,
      reloaded() {},
    },
    async end() {
      await storage.close()
      if (directory !== undefined) await rm(directory, { recursive: true, force: true })
    },
  }
}

function listenTo(network: VirtualNetwork): { network: Network; read: ReadonlySet<string> } {
  const read = new Set<string>()
  return {
    read,
    network: {
      listen: network.listen,
      resolve: network.resolve,
      request(request, handler) {
        if ((request.method ?? 'GET') === 'GET' && URL.canParse(request.url)) read.add(normalizeUrl(request.url))
        return network.request(request, handler)
      },
    },
  }
}

/** What a test finds out does not depend on the machine that it runs on. */
const ENOUGH_MEMORY: Memory = {
  read: () => ({ residentBytes: 0, heapBytes: 0 }),
  limits: { residentBytes: 1, heapBytes: 1 },
}

/** Nobody looks at the own metrics of a pipeline under test. */
const NO_COUNTERS: Counters = {
  add() {},
  record() {},
  counter: () => () => {},
  histogram: () => () => {},
  observe: () => () => {},
}
