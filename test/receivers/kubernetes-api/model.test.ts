import assert from 'node:assert/strict'
import { getLabel } from '../../../pipeline/model/labels.ts'
import type { GivenObject } from '../../../pipeline/simulator/kubernetes-api/object-identity.ts'
import { owned, testReceiver } from './test-receiver.ts'

const namespace: GivenObject = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team', labels: { a: 'b' } } }
const node: GivenObject = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' } }
const replicaSet = ['apps/v1', 'ReplicaSet', 'web-1', 'rs'] as const
const deployment = ['apps/v1', 'Deployment', 'web', 'dep'] as const
const service = ['example.com/v1', 'Inference', 'answers', 'inf'] as const
const pod = (
  name: string,
  uid: string,
  owner?: Parameters<typeof owned>[4],
  parts?: Partial<GivenObject>,
): GivenObject => owned('v1', 'Pod', name, uid, owner, parts)
const web = [
  namespace,
  node,
  pod('web-1-x', 'p', replicaSet),
  owned(...replicaSet, deployment),
  owned(...deployment, service),
  owned(...service),
]

for (const streamingLists of [false, true]) {
  describe(`kubernetes_api with a server ${streamingLists ? 'with' : 'without'} streaming lists`, () => {
    it('reads pods, nodes, namespaces and owners of kinds that nobody knows', async () => {
      const { start, stop, feed, tables, chain, host } = testReceiver(web, {}, { streamingLists })
      await start()
      assert.equal(feed(), 'complete')
      assert.equal(chain('team', 'web-1-x'), 'ReplicaSet/web-1 Deployment/web Inference/answers')
      assert.equal(tables.nodes.entry('n1').value?.name, 'n1')
      assert.equal(getLabel(tables.namespaces.get('team')!.labels, 'a'), 'b')
      assert.equal(host.counted.get('gpucol_receiver_kubernetes_changes{resource="deployments.apps"}'), 1)
      stop()
    })

    it('follows changes of pods and of owners', async () => {
      const { start, stop, clock, store, tables, chain } = testReceiver(web, {}, { streamingLists })
      await start()
      store.apply([
        { type: 'MODIFIED', object: pod('web-1-x', 'p', replicaSet, { status: { phase: 'Running' } }) },
        {
          type: 'MODIFIED',
          object: owned(...deployment, undefined, { metadata: { name: 'web', labels: { x: 'y' } } }),
        },
      ])
      await clock.advance(0)
      assert.equal(tables.pods.entry('p').value?.phase, 'Running')
      assert.equal(chain('team', 'web-1-x'), 'ReplicaSet/web-1 Deployment/web')
      assert.equal(tables.owners.entry('inf').value, undefined, 'nobody refers to it any more')
      stop()
    })
  })
}

describe('kubernetes_api', () => {
  it('remembers a pod that is gone for a grace time, with its owners, then forgets all of them', async () => {
    const { start, stop, clock, store, tables, chain } = testReceiver(web, { grace: '2m' })
    await start()
    store.apply([{ type: 'DELETED', object: pod('web-1-x', 'p') }])
    store.apply([{ type: 'DELETED', object: owned(...replicaSet) }])
    await clock.advance(119_000)
    assert.equal(tables.pods.size, 0)
    assert.equal(tables.gonePods.entry('p').value?.name, 'web-1-x')
    assert.equal(chain('team', 'web-1-x'), 'ReplicaSet/web-1 Deployment/web Inference/answers')
    await clock.advance(1000)
    assert.deepEqual([tables.gonePods.size, tables.podNames.size, tables.owners.size], [0, 0, 0])
    stop()
  })

  it('tells a pod that is made anew under its name from the one before', async () => {
    const { start, stop, clock, store, tables } = testReceiver(web, { grace: '1m' })
    await start()
    const podNames = tables.podNames.entry('team/web-1-x')
    store.apply([{ type: 'ADDED', object: pod('web-1-x', 'p2') }])
    await clock.advance(0)
    assert.equal(podNames.value, 'p2')
    assert.deepEqual([tables.pods.entry('p').value, tables.gonePods.entry('p').value?.uid], [undefined, 'p'])
    await clock.advance(60_000)
    assert.equal(podNames.value, 'p2', 'the name is not freed with the pod before')
    assert.equal(tables.gonePods.size, 0)
    stop()
  })

  it('keeps an owner that is deleted before what it owns', async () => {
    const { start, stop, clock, store, chain } = testReceiver(web)
    await start()
    store.apply([{ type: 'DELETED', object: owned(...replicaSet) }])
    store.apply([{ type: 'DELETED', object: owned(...deployment) }])
    await clock.advance(600_000)
    assert.equal(chain('team', 'web-1-x'), 'ReplicaSet/web-1 Deployment/web Inference/answers')
    stop()
  })

  it('waits for an owner that comes after its pod', async () => {
    const { start, stop, clock, store, chain } = testReceiver(web)
    await start()
    const job = ['kubeflow.org/v1', 'PyTorchJob', 'train', 'job'] as const
    store.apply([{ type: 'ADDED', object: owned(...job) }])
    store.apply([{ type: 'ADDED', object: pod('first', 'f', job) }])
    await clock.advance(0)
    assert.equal(chain('team', 'first'), 'PyTorchJob/train')
    const late = ['kubeflow.org/v1', 'PyTorchJob', 'later', 'late'] as const
    store.apply([{ type: 'ADDED', object: pod('second', 's', late) }])
    await clock.advance(500)
    assert.equal(chain('team', 'second'), 'PyTorchJob/later?')
    store.apply([{ type: 'ADDED', object: owned(...late) }])
    await clock.advance(0)
    assert.equal(chain('team', 'second'), 'PyTorchJob/later')
    stop()
  })

  it('gives up an owner that is not there, and takes it when it comes after all', async () => {
    const gone = ['apps/v1', 'StatefulSet', 'gone', 'gone'] as const
    const unknown = ['example.org/v1', 'Thing', 'thing', 'thing'] as const
    const { start, stop, clock, store, chain, feed, host } = testReceiver([
      namespace,
      pod('a', 'a', gone),
      pod('b', 'b', unknown),
      // Another object of the same name.
      owned('apps/v1', 'StatefulSet', 'gone', 'another'),
    ])
    await start()
    assert.equal(feed(), 'complete')
    assert.deepEqual([chain('team', 'a'), chain('team', 'b')], ['StatefulSet/gone!', 'Thing/thing!'])
    assert.deepEqual([...host.observed('gpucol_receiver_kubernetes_unreadable_owners').values()], [2])
    store.apply([{ type: 'ADDED', object: owned(...unknown) }])
    store.apply([{ type: 'ADDED', object: owned(...gone) }])
    await clock.advance(90_000)
    assert.deepEqual([chain('team', 'a'), chain('team', 'b')], ['StatefulSet/gone', 'Thing/thing'])
    stop()
  })

  it('takes a pod for the owner of others, and a node for nobody', async () => {
    const set = ['leaderworkerset.x-k8s.io/v1', 'LeaderWorkerSet', 'lws', 'lws'] as const
    const { start, stop, chain, feed, tables } = testReceiver([
      pod('a-worker', 'w', ['v1', 'Pod', 'leader', 'l']),
      pod('leader', 'l', set),
      pod('orphan', 'o', ['v1', 'Pod', 'no-more', 'x']),
      pod('static', 's', ['v1', 'Node', 'n1', 'node-uid']),
      owned(...set),
    ])
    await start()
    assert.equal(feed(), 'complete')
    assert.equal(chain('team', 'a-worker'), 'Pod/leader LeaderWorkerSet/lws')
    assert.equal(chain('team', 'orphan'), 'Pod/no-more!')
    assert.equal(tables.owners.entry('node-uid').value, undefined)
    stop()
  })

  const rule = (verbs: string[], resources: string[], apiGroups = ['apps']) => ({ apiGroups, resources, verbs })

  it('reads owners one by one where they may not be listed', async () => {
    const { start, stop, chain, feed, host, clock, store } = testReceiver(
      web,
      {},
      { deny: [rule(['list', 'watch'], ['replicasets'])] },
    )
    await start()
    await clock.advance(0)
    assert.equal(feed(), 'complete')
    assert.equal(chain('team', 'web-1-x'), 'ReplicaSet/web-1 Deployment/web Inference/answers')
    const complaints = host.logged.filter(line => line.includes('replicasets'))
    assert.equal(complaints.length, 1)
    assert.match(complaints[0]!, /needs the rule \{ apiGroups: \["apps"\], resources: \["replicasets"\]/)
    store.apply([{ type: 'MODIFIED', object: owned(...replicaSet) }])
    await clock.advance(301_000)
    assert.equal(chain('team', 'web-1-x'), 'ReplicaSet/web-1', 'it is read again from time to time')
    stop()
  })

  it('ends at an owner that may not be read at all, and reads the rest', async () => {
    const { start, stop, chain, feed, tables } = testReceiver(
      [...web, pod('other', 'o', service)],
      {},
      { deny: [rule(['get', 'list', 'watch'], ['replicasets'])] },
    )
    await start()
    assert.equal(feed(), 'complete')
    assert.equal(chain('team', 'web-1-x'), 'ReplicaSet/web-1!')
    assert.equal(chain('team', 'other'), 'Inference/answers')
    assert.equal(tables.owners.entry('dep').value, undefined)
    stop()
  })

  it('is complete without nodes and namespaces that may not be read', async () => {
    const { start, stop, feed, tables, chain } = testReceiver(
      web,
      { namespaces: ['team'] },
      { deny: [rule(['list', 'watch'], ['nodes', 'namespaces'], [''])] },
    )
    await start()
    assert.equal(feed(), 'complete')
    assert.deepEqual([tables.nodes.size, tables.pods.size], [0, 1])
    assert.match(chain('team', 'web-1-x'), /Deployment/)
    stop()
  })

  it('reads only the namespaces that it is told', async () => {
    const other = owned('v1', 'Pod', 'x', 'x', undefined, { metadata: { name: 'x', namespace: 'other', uid: 'x' } })
    const { start, stop, tables, network } = testReceiver([...web, other], { namespaces: ['team', 'empty'] })
    await start()
    assert.deepEqual(
      Array.from(tables.pods.values(), ({ name }) => name),
      ['web-1-x'],
    )
    const paths = new Set(network.requests.map(({ url }) => new URL(url).pathname))
    assert.ok(paths.has('/apis/apps/v1/namespaces/empty/replicasets'), [...paths].join(' '))
    assert.ok(!paths.has('/api/v1/pods'))
    stop()
  })

  it('starts while the API is away, and is complete when it has come', async () => {
    const { start, stop, api, clock, feed, text, host, chain } = testReceiver(web)
    api.setFaults({ errorStatus: 503 })
    await start()
    await clock.advance(120_000)
    assert.equal(feed(), 'reading')
    assert.deepEqual(text('up'), ['up{job="kubernetes_api"} 0'])
    assert.equal(host.logged.filter(line => /^failing (pods|the Kubernetes API)/.test(line)).length, 1)
    api.setFaults({})
    await clock.advance(61_000)
    assert.equal(feed(), 'complete')
    assert.match(chain('team', 'web-1-x'), /Inference/)
    assert.deepEqual(text('up'), ['up{job="kubernetes_api"} 1'])
    stop()
  })

  const troubles = {
    'watches that drop': { watches: 'drop' },
    'watches that hang': { watches: 'hang' },
    'watches that are too old': { watches: 'expire' },
    'answers that end in the middle': { truncate: true },
    'a server that fails': { errorStatus: 500 },
  } as const
  for (const [name, faults] of Object.entries(troubles)) {
    it(`is right again within 30 s of the end of ${name}`, async () => {
      const { start, stop, api, clock, store, tables, chain } = testReceiver(web)
      await start()
      api.setFaults(faults)
      if (faults !== troubles['watches that hang']) api.setFaults({ ...faults, watches: 'drop' })
      api.setFaults(faults)
      const job = ['kubeflow.org/v1', 'PyTorchJob', 'train', 'job'] as const
      store.apply([
        { type: 'ADDED', object: owned(...job) },
        { type: 'ADDED', object: pod('train-0', 't', job) },
        { type: 'DELETED', object: pod('web-1-x', 'p') },
        { type: 'ADDED', object: pod('web-1-x', 'p2') },
      ])
      store.compact()
      await clock.advance(60_000)
      api.setFaults({})
      await clock.advance(30_000)
      assert.deepEqual(Array.from(tables.pods.values(), ({ uid }) => uid).toSorted(), ['p2', 't'])
      assert.equal(tables.podNames.entry('team/web-1-x').value, 'p2')
      assert.equal(chain('team', 'train-0'), 'PyTorchJob/train')
      stop()
    })
  }

  it('survives owners that own each other', async () => {
    const one = ['example.com/v1', 'Ring', 'one', 'one'] as const
    const two = ['example.com/v1', 'Ring', 'two', 'two'] as const
    const { start, stop, feed, tables } = testReceiver([pod('a', 'a', one), owned(...one, two), owned(...two, one)])
    await start()
    assert.equal(feed(), 'complete')
    assert.equal(tables.owners.size, 2)
    stop()
  })

  it('takes out what it has put in when it is stopped, and nothing of its successor', async () => {
    const { start, stop, tables, host } = testReceiver(web)
    await start()
    const newer = { ...tables.nodes.entry('n1').value! }
    tables.nodes.set('n1', newer)
    stop()
    stop()
    const { pods, podNames, owners, namespaces, feeds, nodes } = tables
    assert.deepEqual(
      [pods, podNames, owners, namespaces, feeds].map(({ size }) => size),
      [0, 0, 0, 0, 0],
    )
    assert.equal(nodes.entry('n1').value, newer)
    assert.deepEqual([...host.observed('gpucol_receiver_kubernetes_objects')], [])
  })
})
