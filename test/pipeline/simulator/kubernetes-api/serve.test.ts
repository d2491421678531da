import assert from 'node:assert/strict'
import { setImmediate } from 'node:timers/promises'
import { createSystemClock } from '../../../../pipeline/clock/system-clock.ts'
import { createVirtualClock } from '../../../../pipeline/clock/virtual-clock.ts'
import { createNetwork, type SystemNetwork } from '../../../../pipeline/http/network.ts'
import { createVirtualNetwork } from '../../../../pipeline/http/virtual-network.ts'
import { createKubernetesApi } from '../../../../pipeline/simulator/kubernetes-api/handler.ts'
import { createObjectStore, type ObjectStore } from '../../../../pipeline/simulator/kubernetes-api/object-store.ts'
import type { GivenObject } from '../../../../pipeline/simulator/kubernetes-api/object-identity.ts'
import {
  serveKubernetesApi,
  virtualKubernetesApi,
  type ServedKubernetesApi,
} from '../../../../pipeline/simulator/kubernetes-api/serve.ts'
import { object, pod } from './test-api.ts'

/** What of the independent client is used here. Its own types do not compile without those of packages that nobody needs. */
type Client = {
  KubeConfig: new () => KubeConfig
  CoreV1Api: unknown
  VersionApi: unknown
  ApisApi: unknown
  CustomObjectsApi: unknown
  KubernetesObjectApi: { makeApiClient(config: KubeConfig): { read(spec: unknown): Promise<GivenObject> } }
  Watch: new (config: KubeConfig) => {
    watch(
      path: string,
      query: Record<string, string | number | boolean>,
      event: (type: string, object: GivenObject & { code?: number }) => void,
      done: (error: unknown) => void,
    ): Promise<AbortController>
  }
  makeInformer(config: KubeConfig, path: string, list: () => Promise<unknown>): Informer
  setHeaderOptions(name: string, value: string): unknown
}
type KubeConfig = {
  loadFromClusterAndUser(
    cluster: { name: string; server: string; skipTLSVerify: boolean },
    user: { name: string; token?: string },
  ): void
  makeApiClient(api: unknown): Record<string, (parameters: object, options?: unknown) => Promise<List>>
}
type Informer = {
  on(verb: string, listener: (object: GivenObject) => void): void
  start(): Promise<void>
  stop(): Promise<void>
}
type List = {
  kind: string
  gitVersion: string
  groups: { name: string }[]
  items: GivenObject[]
  metadata: { resourceVersion: string; _continue?: string; remainingItemCount?: number }
}

const CLIENT: string = '@kubernetes/client-node'

describe('the Kubernetes API over HTTP, asked by @kubernetes/client-node', function () {
  // Loading the client takes seconds on a busy machine: it has thousands of generated files.
  this.timeout(60_000)
  const clock = createSystemClock()
  let client: Client
  let network: SystemNetwork
  let store: ObjectStore
  let served: ServedKubernetesApi
  let config: KubeConfig

  before(async () => {
    client = (await import(CLIENT)) as Client
  })
  beforeEach(async () => {
    network = createNetwork(clock)
    store = createObjectStore()
    const pods = Array.from({ length: 25 }, (_, i) => pod(`pod-${String(i).padStart(2, '0')}`, { node: `n${i % 2}` }))
    store.replaceAll([...pods, object('v1', 'Node', 'n0'), object('kubeflow.org/v1', 'PyTorchJob', 'p', 'default')])
    served = await serveKubernetesApi(store, network, '127.0.0.1:0', { clock, builtIn: true, bearerToken: 'secret' })
    config = configOf('secret')
  })
  afterEach(async () => {
    await served.close(clock.monotonic() + 1000)
    await network.close()
  })

  function configOf(token: string): KubeConfig {
    const made = new client.KubeConfig()
    // Without TLS the client speaks only to who says that there is nothing to verify.
    const cluster = { name: 'simulated', server: `http://${served.address}`, skipTLSVerify: true }
    made.loadFromClusterAndUser(cluster, { name: 'test', token })
    return made
  }

  it('lists', async () => {
    const core = config.makeApiClient(client.CoreV1Api)
    const list = await core['listPodForAllNamespaces']!({})
    assert.equal(list.items.length, 25)
    assert.equal(list.metadata.resourceVersion, String(store.revision))
    const some = await core['listNamespacedPod']!({ namespace: 'default', fieldSelector: 'spec.nodeName=n1' })
    assert.equal(some.items.length, 12)
  })

  it('pages', async () => {
    const core = config.makeApiClient(client.CoreV1Api)
    const found: string[] = []
    const remaining: unknown[] = []
    for (let token: string | undefined = ''; token !== undefined;) {
      const page: List = await core['listPodForAllNamespaces']!({
        limit: 10,
        ...(token !== '' && { _continue: token }),
      })
      found.push(...page.items.map(({ metadata }) => metadata.name))
      remaining.push(page.metadata.remainingItemCount)
      token = page.metadata._continue
      store.apply([{ type: 'DELETED', object: pod(`pod-${found.length + 1}`) }])
    }
    assert.deepEqual(
      found,
      Array.from({ length: 25 }, (_, i) => `pod-${String(i).padStart(2, '0')}`),
    )
    assert.deepEqual(remaining, [15, 5, undefined])
  })

  it('discovers', async () => {
    const version = await config.makeApiClient(client.VersionApi)['getCode']!({})
    assert.equal(version.gitVersion, 'v1.33.5')
    const { groups } = await config.makeApiClient(client.ApisApi)['getAPIVersions']!({})
    assert.ok(groups.some(({ name }) => name === 'kubeflow.org'))
    // Reads a kind that the client does not know by asking for the resources of its group.
    const objects = client.KubernetesObjectApi.makeApiClient(config)
    const job = await objects.read({
      apiVersion: 'kubeflow.org/v1',
      kind: 'PyTorchJob',
      metadata: { name: 'p', namespace: 'default' },
    })
    assert.equal(job.metadata.name, 'p')
  })

  it('reads metadata only', async () => {
    const custom = config.makeApiClient(client.CustomObjectsApi)
    const accept = client.setHeaderOptions('Accept', 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1')
    const kind = { group: 'kubeflow.org', version: 'v1', plural: 'pytorchjobs' }
    const list = await custom['listClusterCustomObject']!(kind, accept)
    assert.equal(list.kind, 'PartialObjectMetadataList')
    assert.deepEqual(
      list.items.map(({ kind: itemKind, metadata }) => `${itemKind} ${metadata.name}`),
      ['PartialObjectMetadata p'],
    )
  })

  it('is told why it may not', async () => {
    const core = configOf('wrong').makeApiClient(client.CoreV1Api)
    await assert.rejects(core['listPodForAllNamespaces']!({}), (error: { code: number }) => error.code === 401)
  })

  it('is told what is not there', async () => {
    const core = config.makeApiClient(client.CoreV1Api)
    await assert.rejects(
      core['readNamespacedPod']!({ name: 'nope', namespace: 'default' }),
      (error: { code: number; body: string }) =>
        error.code === 404 && (JSON.parse(error.body) as { message: string }).message === 'pods "nope" not found',
    )
  })

  it('watches, until the watch ends', async () => {
    const events: string[] = []
    const start = store.revision
    const ended = new Promise(done => {
      void new client.Watch(config).watch(
        '/api/v1/pods',
        { resourceVersion: start, allowWatchBookmarks: true },
        (type, { metadata }) => {
          events.push(`${type} ${metadata.name}@${metadata.resourceVersion}`)
          if (type === 'ADDED') store.apply([{ type: 'MODIFIED', object: pod('new', { phase: 'Running' }) }])
          if (type === 'MODIFIED') store.apply([{ type: 'DELETED', object: pod('new') }])
          if (type === 'DELETED') served.api.close()
        },
        done,
      )
    })
    await untilWatched(served, 1)
    store.apply([{ type: 'ADDED', object: pod('new') }])
    assert.equal(await ended, null)
    assert.deepEqual(events, [`ADDED new@${start + 1}`, `MODIFIED new@${start + 2}`, `DELETED new@${start + 3}`])
  })

  it('hears in an event that its version is too old', async () => {
    store.compact()
    const events: unknown[] = []
    await new Promise(done => {
      const heard = (type: string, { code }: { code?: number }): unknown => events.push([type, code])
      void new client.Watch(config).watch('/api/v1/pods', { resourceVersion: 1 }, heard, done)
    })
    assert.deepEqual(events, [['ERROR', 410]])
  })

  it('keeps its cache, and starts anew where it must', async () => {
    const core = config.makeApiClient(client.CoreV1Api)
    let lists = 0
    const informer = client.makeInformer(config, '/api/v1/namespaces/default/pods', () => {
      lists++
      return core['listNamespacedPod']!({ namespace: 'default' })
    })
    const heard = new Heard()
    for (const verb of ['add', 'update', 'delete'])
      informer.on(verb, ({ metadata }) => heard.add(`${verb} ${metadata.name}`))
    await informer.start()
    await untilWatched(served, 1)
    store.apply([{ type: 'ADDED', object: pod('new') }])
    await heard.until('add new')
    // The watch ends as after a timeout; its successor is told that its version is too old, so that everything is listed again.
    store.compact()
    served.api.expireNextWatch()
    served.api.setFaults({ watches: 'drop' })
    served.api.setFaults({})
    store.apply([{ type: 'DELETED', object: pod('new') }])
    await informer.start()
    await heard.until('delete new')
    assert.ok(lists >= 2)
    await informer.stop()
  })
})

describe('the Kubernetes API over HTTP', () => {
  it('says that a watch has begun before anything happens, and forgets clients that leave', async () => {
    const clock = createSystemClock()
    const network = createNetwork(clock)
    const store = createObjectStore()
    const served = await serveKubernetesApi(store, network, '127.0.0.1:0', { clock, builtIn: true })
    const leave = new AbortController()
    const response = await fetch(`http://${served.address}/api/v1/pods?watch=1`, { signal: leave.signal })
    assert.equal(response.status, 200)
    assert.equal(served.api.watchCount, 1)
    leave.abort()
    await untilWatched(served, 0)
    await served.close(clock.monotonic() + 1000)
    await network.close()
  })

  it('names the address that it cannot have', async () => {
    const clock = createSystemClock()
    const network = createNetwork(clock)
    const served = await serveKubernetesApi(createObjectStore(), network, '127.0.0.1:0', { clock })
    await assert.rejects(serveKubernetesApi(createObjectStore(), network, served.address, { clock }), (error: Error) =>
      error.message.includes(served.address),
    )
    await served.close(clock.monotonic() + 1000)
    await network.close()
  })
})

describe('the Kubernetes API on the virtual network', () => {
  it('answers lists and watches in virtual time, and forgets clients that cancel', async () => {
    const clock = createVirtualClock(0)
    const network = createVirtualNetwork(clock)
    const store = createObjectStore()
    store.replaceAll([pod('a')])
    const api = createKubernetesApi(store, { clock })
    network.serve('https://kubernetes.default.svc/', virtualKubernetesApi(api))

    const heard: string[] = []
    const handler = {
      head: (status: number, headers: ReadonlyMap<string, string>): unknown =>
        heard.push(`${status} ${headers.get('content-type')}`),
      chunk: (bytes: Uint8Array): unknown => heard.push(Buffer.from(bytes).toString()),
      end: (): unknown => heard.push('end'),
      failed: (error: Error): unknown => heard.push(error.message),
    }
    const ask = (path: string): (() => void) =>
      network.request(
        {
          url: `https://kubernetes.default.svc:443${path}`,
          timeoutMs: Infinity,
          headers: { Accept: 'application/json' },
        },
        handler,
      )
    ask('/api/v1/pods?limit=1')
    await clock.advance(0)
    assert.deepEqual([heard[0], heard[2]], ['200 application/json', 'end'])
    assert.equal((JSON.parse(heard[1]!) as List).items[0]?.metadata.name, 'a')

    heard.length = 0
    const cancel = ask('/api/v1/pods?watch=1&resourceVersion=2')
    await clock.advance(0)
    store.apply([{ type: 'DELETED', object: pod('a') }])
    await clock.advance(0)
    assert.equal(heard.length, 2)
    assert.match(heard[1]!, /^\{"type":"DELETED",.*\}\n$/)
    assert.equal(api.watchCount, 1)
    cancel()
    assert.equal(api.watchCount, 0)
  })
})

/** Resolves when so many watches are open, and rejects rather than wait for ever. */
async function untilWatched({ api }: ServedKubernetesApi, count: number): Promise<void> {
  const signal = AbortSignal.timeout(20_000)
  while (api.watchCount !== count) await setImmediate(undefined, { signal })
}

/** Remembers what was heard, and wakes who waits for it. */
class Heard {
  #all = new Set<string>()
  #waiting = new Map<string, () => void>()

  add(what: string): void {
    this.#all.add(what)
    this.#waiting.get(what)?.()
  }

  until(what: string): Promise<void> {
    return this.#all.has(what) ? Promise.resolve() : new Promise(resolve => this.#waiting.set(what, resolve))
  }
}
