/** The client with a real API server that is killed, compacted and cut off. */
import assert from 'node:assert/strict'
import { createSystemClock } from '../../../pipeline/clock/system-clock.ts'
import { createNetwork, type SystemNetwork } from '../../../pipeline/http/network.ts'
import { createKubernetesClient, type KubernetesClient } from '../../../pipeline/kubernetes/client.ts'
import { keepPod, watchPods, type Watched } from '../../pipeline/kubernetes/test-cluster.ts'
import { eventually } from '../../support/gpucol-process.ts'
import { testHost, type TestHost } from '../../support/test-host.ts'
import { ADMIN, kubeServersOrSkip, VIEWER, type KubeServers } from './kube-servers.ts'
import { openTcpGate, type TcpGate } from './tcp-gate.ts'

const PODS = '/api/v1/namespaces/test/pods'
const LIST = { group: '', version: 'v1', resource: 'pods' }

describe('the Kubernetes client and a real kube-apiserver', function () {
  this.timeout(180_000)
  const clock = createSystemClock()
  let servers: KubeServers
  let gate: TcpGate
  let network: SystemNetwork
  let host: Omit<TestHost, 'clock'>
  let client: KubernetesClient
  const open: Watched[] = []

  before(async function () {
    servers = await kubeServersOrSkip(this)
    gate = await openTcpGate(servers.port)
    network = createNetwork(clock)
    await servers.write('POST', '/api/v1/namespaces', { metadata: { name: 'test' } })
  })
  beforeEach(() => {
    host = testHost()
    client = clientOf(ADMIN)
  })
  afterEach(() => {
    for (const { watch } of open.splice(0)) watch.stop()
  })
  after(async () => {
    await network?.close()
    await gate?.stop()
    await servers?.stop()
  })

  /** Through the gate. */
  function clientOf(token: string): KubernetesClient {
    const access = {
      server: `https://127.0.0.1:${gate.port}`,
      headers: { authorization: `Bearer ${token}` },
      tls: { ca: servers.ca },
    }
    const credentials = { access: async () => access, refused() {}, describe: () => token }
    return createKubernetesClient({ ...host, network, clock, credentials })
  }

  async function watch(options: Parameters<typeof watchPods>[1] = {}, its = client): Promise<Watched> {
    const watched = watchPods(its, options)
    open.push(watched)
    await until(() => watched.watch.state() !== 'starting')
    return watched
  }

  async function makePod(name: string): Promise<void> {
    const spec = { containers: [{ name: 'main', image: 'none' }] }
    await servers.write('POST', PODS, { apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec })
  }
  const removePod = (name: string): Promise<unknown> => servers.write('DELETE', `${PODS}/${name}?gracePeriodSeconds=0`)

  async function restart(): Promise<void> {
    await servers.killApiServer()
    await servers.startApiServer()
  }

  it('tells what there is, every change, and one pod from another of its name', async () => {
    for (const name of ['a', 'b', 'c']) await makePod(name)
    const { told } = await watch()
    assert.deepEqual(told(), ['+a', '+b', '+c', 'synced'])
    await servers.write('PATCH', `${PODS}/a/status`, { status: { phase: 'Running' } })
    await removePod('b')
    await makePod('b')
    await servers.write('PATCH', `${PODS}/c/status`, { status: { phase: 'Failed' } })
    const heard: string[] = []
    await until(() => heard.push(...told()) > 0 && heard.some(what => what.startsWith('~c')))
    assert.deepEqual(
      heard.filter(what => !what.startsWith('~b')),
      ['~a Pending>Running', '-b', '+b', '~c Pending>Failed'],
    )
  })

  it('reads metadata, pages, and what kinds there are', async () => {
    const found = await client.discover()
    assert.deepEqual(found.unknown, [])
    const { version, resource, namespaced, verbs } = found.byKind('apps', 'ReplicaSet')!
    assert.deepEqual([version, resource, namespaced, verbs.includes('watch')], ['v1', 'replicasets', true, true])
    assert.equal(found.byKind('', 'Pod')?.resource, 'pods')
    const names: string[] = []
    await client.list('/api/v1/pods', { limit: 2, metadataOnly: true }, one =>
      names.push(`${one.kind} ${one.metadata.name}`),
    )
    assert.deepEqual(
      names,
      ['a', 'b', 'c'].map(name => `PartialObjectMetadata ${name}`),
    )
    const one = await client.get(`${PODS}/a`, { metadataOnly: true })
    assert.deepEqual([one.kind, one['spec']], ['PartialObjectMetadata', undefined])
    const kinds = new Set<unknown>()
    const { names: watched } = await watch({
      metadataOnly: true,
      keep(object) {
        kinds.add(object.kind)
        return keepPod(object)
      },
    })
    assert.deepEqual([watched(), [...kinds]], [['a', 'b', 'c'], ['PartialObjectMetadata']])
  })

  it('goes on when the server is killed and starts again', async () => {
    const { told } = await watch()
    told()
    await restart()
    await makePod('d')
    const heard = await heardUntil(told, '+d')
    assert.deepEqual(heard, ['+d'])
  })

  it('hears the difference when its version is too old', async () => {
    const { told, names } = await watch()
    told()
    gate.close('break')
    await removePod('a')
    await makePod('a')
    await removePod('d')
    await makePod('e')
    await servers.compact()
    // Only a server that was not there does not remember.
    await restart()
    gate.open()
    const heard = await heardUntil(told, 'synced')
    assert.deepEqual(heard.toSorted(), ['+a', '+e', '-a', '-d', 'synced'])
    assert.deepEqual(names(), ['a', 'b', 'c', 'e'])
    assert.equal(host.counted.get('gpucol_receiver_kubernetes_watch_restarts{reason="expired",resource="pods"}'), 1)
  })

  it('notices that its connection is mute', async () => {
    const { told } = await watch()
    told()
    gate.close('mute')
    await removePod('e')
    gate.open()
    const heard = await heardUntil(told, '-e')
    // Before it goes, it is marked.
    assert.deepEqual(heard, ['~e Pending>Pending', '-e'])
    assert.equal(host.counted.get('gpucol_receiver_kubernetes_watch_restarts{reason="silent",resource="pods"}'), 1)
  })

  it('finds a kind that is defined later, and notices when it is gone', async () => {
    const { told, watch: things } = await watch({ group: 'example.com', resource: 'things' })
    assert.deepEqual(told(), ['missing'])
    const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
    const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }
    await servers.write('POST', definitions, {
      metadata: { name: 'things.example.com' },
      spec: {
        group: 'example.com',
        scope: 'Cluster',
        names: { plural: 'things', singular: 'thing', kind: 'Thing' },
        versions: [{ name: 'v1', served: true, storage: true, schema }],
      },
    })
    await heardUntil(told, 'synced')
    const thing = { apiVersion: 'example.com/v1', kind: 'Thing', metadata: { name: 't' } }
    await servers.write('POST', '/apis/example.com/v1/things', thing)
    assert.deepEqual(await heardUntil(told, '+t'), ['+t'])
    await servers.write('DELETE', `${definitions}/things.example.com`)
    assert.ok((await heardUntil(told, '-t')).includes('-t'))
    await until(() => things.state() === 'missing')
    assert.deepEqual(host.logged, [])
  })

  it('says which rule is missing, and begins when it is there', async () => {
    const { told } = await watch({}, clientOf(VIEWER))
    assert.deepEqual(told(), ['forbidden'])
    assert.deepEqual(host.logged, [
      'failing pods: "viewer" may not watch pods: its ClusterRole needs the rule { apiGroups: [""], resources: ["pods"], verbs: ["list", "watch"] }',
    ])
    const api = '/apis/rbac.authorization.k8s.io/v1'
    const rules = [{ apiGroups: [LIST.group], resources: [LIST.resource], verbs: ['list', 'watch'] }]
    await servers.write('POST', `${api}/clusterroles`, { metadata: { name: 'view-pods' }, rules })
    await servers.write('POST', `${api}/clusterrolebindings`, {
      metadata: { name: 'view-pods' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view-pods' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'viewer' }],
    })
    const heard = await heardUntil(told, 'synced')
    assert.deepEqual(heard, ['+a', '+b', '+c', 'synced'])
  })
})

/** What was told until something was. */
async function heardUntil(told: () => string[], what: string): Promise<string[]> {
  const heard: string[] = []
  await until(() => {
    heard.push(...told())
    return heard.includes(what)
  })
  return heard
}

async function until(isSo: () => boolean): Promise<void> {
  await eventually(async () => isSo(), Boolean, 60_000)
}
