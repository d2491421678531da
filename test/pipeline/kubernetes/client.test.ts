import assert from 'node:assert/strict'
import { ApiError } from '../../../pipeline/kubernetes/api-error.ts'
import { createKubernetesClient } from '../../../pipeline/kubernetes/client.ts'
import { createKubernetesCredentials } from '../../../pipeline/kubernetes/credentials.ts'
import type { VirtualClock } from '../../../pipeline/clock/virtual-clock.ts'
import { collectionPath, objectPath } from '../../../pipeline/kubernetes/resource-path.ts'
import { createKubernetesApi } from '../../../pipeline/simulator/kubernetes-api/handler.ts'
import { createObjectStore } from '../../../pipeline/simulator/kubernetes-api/object-store.ts'
import { virtualKubernetesApi } from '../../../pipeline/simulator/kubernetes-api/serve.ts'
import { testHost } from '../../support/test-host.ts'
import { object, pod } from '../simulator/kubernetes-api/test-api.ts'
import { fakeSystem } from './fake-system.ts'
import { SERVER, testCluster, watchPods } from './test-cluster.ts'

const PODS = { group: '', version: 'v1', resource: 'pods' }

/** Lets virtual time run until a promise is settled. */
async function settled<T>(clock: VirtualClock, promise: Promise<T>): Promise<T> {
  let isOver = false
  const over = (): unknown => (isOver = true)
  promise.then(over, over)
  for (let i = 0; i < 1000 && !isOver; i++) await clock.advance(1000)
  return promise
}

describe('the paths of resources', () => {
  for (const [path, expected] of [
    [collectionPath(PODS), '/api/v1/pods'],
    [collectionPath({ ...PODS, namespace: 'x' }), '/api/v1/namespaces/x/pods'],
    [objectPath({ ...PODS, namespace: 'x' }, 'a'), '/api/v1/namespaces/x/pods/a'],
    [collectionPath({ group: 'apps', version: 'v1', resource: 'replicasets' }), '/apis/apps/v1/replicasets'],
    [objectPath({ group: 'run.ai', version: 'v2', resource: 'projects' }, 'a b'), '/apis/run.ai/v2/projects/a%20b'],
  ] as const) {
    it(expected, () => assert.equal(path, expected))
  }
})

describe('the Kubernetes client', () => {
  it('gets one object, whole or its metadata', async () => {
    const { client, clock } = testCluster([pod('a', { node: 'n' })])
    const path = objectPath({ ...PODS, namespace: 'default' }, 'a')
    const whole = await settled(clock, client.get(path))
    assert.deepEqual([whole.kind, whole['spec']], ['Pod', { nodeName: 'n' }])
    const part = await settled(clock, client.get(path, { metadataOnly: true }))
    assert.deepEqual(
      [part.kind, part['spec'], part.metadata.uid],
      ['PartialObjectMetadata', undefined, whole.metadata.uid],
    )
  })

  it('says what the API says of what is not there, and of what may not be read', async () => {
    const deny = [{ apiGroups: [''], resources: ['nodes'], verbs: ['*'] }]
    const { client, clock, host } = testCluster([], { deny })
    await assert.rejects(settled(clock, client.get('/api/v1/namespaces/x/pods/a')), (error: ApiError) => {
      assert.deepEqual([error.status, error.reason], [404, 'NotFound'])
      assert.equal(error.message, 'the Kubernetes API answered 404: pods "a" not found')
      return true
    })
    await assert.rejects(settled(clock, client.get('/api/v1/nodes/n')), { status: 403, reason: 'Forbidden' })
    await assert.rejects(settled(clock, client.get('/apis/nope')), {
      status: 404,
      message: 'the Kubernetes API answered 404: 404 page not found',
    })
    assert.deepEqual(host.logged, [])
    assert.equal(host.counted.get('gpucol_receiver_kubernetes_requests{status="404"}'), 2)
    assert.equal(host.counted.get('gpucol_receiver_kubernetes_requests{status="403"}'), 1)
  })

  it('lists page by page', async () => {
    const objects = Array.from({ length: 25 }, (_, i) => pod(`p${String(i).padStart(2, '0')}`, { node: `n${i % 2}` }))
    const { client, clock, requests, store } = testCluster(objects)
    for (const [options, count, pages] of [
      [{}, 25, ['list 500']],
      [{ limit: 10 }, 25, ['list 10', 'list 10 more', 'list 10 more']],
      [{ limit: 10, fieldSelector: 'spec.nodeName=n1', metadataOnly: true }, 12, ['list 10', 'list 10 more']],
    ] as const) {
      const before = requests().length
      const names: string[] = []
      const { resourceVersion } = await settled(
        clock,
        client.list('/api/v1/pods', options, ({ metadata }) => names.push(metadata.name)),
      )
      assert.equal(names.length, count)
      assert.deepEqual(names, names.toSorted())
      assert.equal(resourceVersion, String(store.revision))
      assert.deepEqual(requests().slice(before), pages)
    }
  })

  it('asks for less at once where a page is too large', async () => {
    const host = testHost()
    const limits: (string | null)[] = []
    host.network.serve(`${SERVER}/`, ({ url }, response) => {
      const { searchParams } = new URL(url)
      limits.push(searchParams.get('limit'))
      response.head(200)
      // 130 MB, a megabyte at a time.
      if (searchParams.get('limit') === '500') {
        for (let i = 0; i < 130; i++) response.chunk(MEGABYTE)
      } else response.chunk('{"metadata":{"resourceVersion":"7"},"items":[]}')
      response.end()
    })
    const { credentials } = testAccount(host.clock)
    const client = createKubernetesClient({ ...host, credentials })
    await settled(
      host.clock,
      client.list('/api/v1/pods', {}, () => {}),
    )
    assert.deepEqual(limits, ['500', '50'])
  })

  for (const [what, body] of [
    ['half a document', '{"metadata":{"resourceVersion":"7"},"items":[{"meta'],
    ['no list', '{"kind":"Pod"}'],
    ['null', 'null'],
  ] as const) {
    it(`does not take ${what} for a list`, async () => {
      const { client, clock, host } = testCluster([])
      host.network.answer(`${SERVER}/api/v1/pods?limit=500`, { body })
      await assert.rejects(
        settled(
          clock,
          client.list('/api/v1/pods', {}, () => {}),
        ),
        /^Error: the .* of \/api\/v1\/pods is no /,
      )
    })
  }

  it('gives up what does not answer, and what is aborted', async () => {
    const { client, clock, host } = testCluster([])
    host.network.answer(`${SERVER}/slow`, { error: 'timeout' })
    await assert.rejects(settled(clock, client.get('/slow')), {
      message: 'nothing was heard from the Kubernetes API for 30s',
    })
    const controller = new AbortController()
    const promise = client.get('/slow', { signal: controller.signal })
    await clock.advance(0)
    controller.abort(new Error('enough'))
    await assert.rejects(promise, { message: 'enough' })
    assert.equal(host.counted.get('gpucol_receiver_kubernetes_requests{status="failed"}'), 1)
  })

  it('says once that the API is away, and once that it is back', async () => {
    const host = testHost()
    const { credentials } = testAccount(host.clock)
    const client = createKubernetesClient({ ...host, credentials })
    for (let i = 0; i < 3; i++) await assert.rejects(settled(host.clock, client.get('/version')))
    host.network.answer(`${SERVER}/version`, { body: '{}' })
    for (let i = 0; i < 3; i++) await settled(host.clock, client.get('/version'))
    assert.deepEqual(host.logged, [
      'failing the Kubernetes API: connection refused by api.example:443',
      'ok the Kubernetes API',
    ])
  })

  it('asks the API of the network, if that has one, and looks at no credentials', async () => {
    const host = testHost()
    const store = createObjectStore()
    store.replaceAll([pod('a')])
    const api = createKubernetesApi(store, { clock: host.clock })
    host.network.serve('http://test.example/', virtualKubernetesApi(api))
    const network = { ...host.network, kubernetesUrl: 'http://test.example/' }
    const credentials = createKubernetesCredentials({ kubeconfig: '/nope', clock: host.clock, system: fakeSystem() })
    const client = createKubernetesClient({ ...host, network, credentials })
    const { watch, told } = watchPods(client)
    await host.clock.advance(0)
    assert.deepEqual(told(), ['+a', 'synced'])
    assert.deepEqual(await client.access(), { server: 'http://test.example', headers: {} })
    watch.stop()
  })
})

const MEGABYTE = ' '.repeat(1 << 20)

/** A service account whose token can be replaced. */
function testAccount(clock: VirtualClock) {
  const folder = '/var/run/secrets/kubernetes.io/serviceaccount'
  const system = fakeSystem(
    { [`${folder}/token`]: 'first', [`${folder}/ca.crt`]: 'CA' },
    { KUBERNETES_SERVICE_HOST: 'api.example', KUBERNETES_SERVICE_PORT: '443' },
  )
  return {
    credentials: createKubernetesCredentials({ kubeconfig: '', clock, system }),
    replaceToken: (token: string): unknown => system.files.set(`${folder}/token`, token),
  }
}

describe('the Kubernetes client, whose token is replaced,', () => {
  function rotating() {
    const host = testHost()
    const { clock } = host
    const account = testAccount(clock)
    const store = createObjectStore()
    store.replaceAll([pod('a'), object('v1', 'Node', 'n')])
    const options: { clock: VirtualClock; bearerToken: string } = { clock, bearerToken: 'first' }
    const api = createKubernetesApi(store, options)
    host.network.serve(`${SERVER}/`, virtualKubernetesApi(api))
    return { ...account, host, clock, store, options, api, client: createKubernetesClient({ ...host, ...account }) }
  }

  it('goes on without a word when the new token is there', async () => {
    const { client, clock, store, options, api, host, replaceToken } = rotating()
    const { watch, told } = watchPods(client)
    await clock.advance(0)
    replaceToken('second')
    options.bearerToken = 'second'
    await settled(clock, client.get('/api/v1/nodes/n'))
    api.setFaults({ watches: 'drop' })
    api.setFaults({})
    store.apply([{ type: 'ADDED', object: pod('b') }])
    await clock.advance(1000)
    assert.deepEqual(told(), ['+a', 'synced', '+b'])
    assert.equal(host.counted.get('gpucol_receiver_kubernetes_requests{status="401"}'), 1)
    assert.deepEqual(host.logged, [])
    watch.stop()
  })

  it('gives others the new token when they were refused', async () => {
    const { client, replaceToken } = rotating()
    const first = await client.access()
    replaceToken('second')
    assert.equal(await client.access(), first)
    client.refused(first)
    assert.deepEqual((await client.access()).headers, { authorization: 'Bearer second' })
  })

  it('says so while no token is good, and goes on when there is one', async () => {
    const { client, clock, store, options, api, host, replaceToken } = rotating()
    const { watch, told } = watchPods(client)
    await clock.advance(0)
    options.bearerToken = 'second'
    api.setFaults({ watches: 'drop' })
    api.setFaults({})
    store.apply([{ type: 'ADDED', object: pod('b') }])
    await clock.advance(120_000)
    assert.deepEqual(host.logged, ['failing the Kubernetes API: the Kubernetes API answered 401: Unauthorized'])
    replaceToken('second')
    await clock.advance(30_000)
    assert.deepEqual(told(), ['+a', 'synced', '+b'])
    assert.deepEqual(host.logged.slice(1), ['ok the Kubernetes API'])
    watch.stop()
  })

  it('says what is wrong with its credentials, and begins when that is mended', async () => {
    const host = testHost()
    const { clock } = host
    const system = fakeSystem()
    const credentials = createKubernetesCredentials({ kubeconfig: '/k/config', clock, system })
    const client = createKubernetesClient({ ...host, credentials })
    const { watch, told } = watchPods(client)
    await clock.advance(60_000)
    assert.deepEqual(host.logged, [
      'failing the Kubernetes API: cannot read the kubeconfig "/k/config": there is no such file',
    ])
    const api = createKubernetesApi(createObjectStore(), { clock, builtIn: true })
    host.network.serve(`${SERVER}/`, virtualKubernetesApi(api))
    const context = { 'current-context': 'x', contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }] }
    const clusters = [{ name: 'c', cluster: { server: SERVER } }]
    system.files.set('/k/config', JSON.stringify({ ...context, clusters, users: [{ name: 'u', user: {} }] }))
    await clock.advance(20_000)
    assert.deepEqual(told(), ['synced'])
    watch.stop()
  })
})
