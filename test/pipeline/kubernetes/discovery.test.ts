import assert from 'node:assert/strict'
import { ApiError } from '../../../pipeline/kubernetes/api-error.ts'
import { discoverResources, type ApiResources, type ReadDocument } from '../../../pipeline/kubernetes/discovery.ts'
import { object, pod } from '../simulator/kubernetes-api/test-api.ts'
import { testCluster } from './test-cluster.ts'

const VERBS = ['get', 'list', 'watch']

describe('discovery', () => {
  const objects = [
    pod('a'),
    object('apps/v1', 'ReplicaSet', 'r', 'default'),
    object('run.ai/v1', 'Project', 'p'),
    object('run.ai/v2', 'Project', 'q'),
    object('batch/v1', 'Job', 'j', 'default'),
    object('batch.volcano.sh/v1alpha1', 'Job', 'k', 'default'),
  ]

  /** As the API tells it, at once or bit by bit. */
  async function discover(aggregated: boolean): Promise<ApiResources> {
    const { client, clock } = testCluster(objects)
    const read: ReadDocument = async (path, accept) => {
      let text = ''
      await client.transport.send(
        { path, accept: aggregated ? accept : 'application/json', timeoutMs: 1000, quietMs: 1000 },
        { chunk: bytes => (text += Buffer.from(bytes).toString()) },
      )
      return JSON.parse(text) as unknown
    }
    const found = discoverResources(read)
    await clock.advance(0)
    return found
  }

  for (const aggregated of [true, false]) {
    it(`finds kinds, their names and their preferred version, ${aggregated ? 'at once' : 'group by group'}`, async () => {
      const found = await discover(aggregated)
      assert.deepEqual(found.byKind('', 'Pod'), {
        group: '',
        version: 'v1',
        kind: 'Pod',
        resource: 'pods',
        namespaced: true,
        verbs: VERBS,
      })
      assert.deepEqual(found.byKind('run.ai', 'Project'), {
        group: 'run.ai',
        version: 'v2',
        kind: 'Project',
        resource: 'projects',
        namespaced: false,
        verbs: VERBS,
      })
      assert.equal(found.byResource('run.ai', 'projects'), found.byKind('run.ai', 'Project'))
      assert.notEqual(found.byKind('batch', 'Job'), found.byKind('batch.volcano.sh', 'Job'))
      assert.equal(found.byKind('run.ai', 'Department'), undefined)
      assert.deepEqual(found.unknown, [])
    })
  }

  it('finds the same both ways', async () => {
    const [aggregated, plain] = [await discover(true), await discover(false)]
    const names = (found: ApiResources): string[] =>
      found.all.map(({ group, version, resource }) => `${group}/${version}/${resource}`).toSorted()
    assert.deepEqual(names(aggregated), names(plain))
    assert.ok(aggregated.all.length > 10)
  })

  it('goes without an API that is away, and says which', async () => {
    const documents: Record<string, unknown> = {
      '/api': { kind: 'APIVersions', versions: ['v1'] },
      '/api/v1': {
        resources: [
          { name: 'pods', kind: 'Pod', namespaced: true, verbs: VERBS },
          { name: 'pods/log', kind: 'Pod', namespaced: true, verbs: ['get'] },
          { name: 'broken' },
          null,
        ],
      },
      '/apis': {
        groups: [
          { name: 'metrics.k8s.io', versions: [{ version: 'v1beta1' }] },
          { name: 'x', versions: [{ version: 'v1' }, { version: 'v2' }], preferredVersion: { version: 'v2' } },
        ],
      },
      '/apis/x/v1': {
        resources: [
          { name: 'ys', kind: 'Y', namespaced: false, verbs: VERBS },
          { name: 'zs', kind: 'Z' },
        ],
      },
      '/apis/x/v2': { resources: [{ name: 'ys', kind: 'Y', namespaced: false, verbs: VERBS }] },
    }
    const found = await discoverResources(async path => {
      if (!(path in documents)) throw new ApiError(503, 'service unavailable')
      return documents[path]
    })
    assert.deepEqual(found.unknown, ['metrics.k8s.io/v1beta1'])
    assert.deepEqual(
      found.all.map(({ group, version, resource }) => `${group}/${version}/${resource}`),
      ['/v1/pods', 'x/v2/ys', 'x/v1/zs'],
    )
  })

  it('says which of an aggregated answer is only remembered', async () => {
    const version = { version: 'v1beta1', freshness: 'Stale', resources: [] }
    const found = await discoverResources(async path => ({
      kind: 'APIGroupDiscoveryList',
      items: path === '/apis' ? [{ metadata: { name: 'metrics.k8s.io' }, versions: [version] }] : [],
    }))
    assert.deepEqual(found.unknown, ['metrics.k8s.io/v1beta1'])
  })

  it('fails if the API is away', async () => {
    await assert.rejects(
      discoverResources(async () => {
        throw new ApiError(503, 'service unavailable')
      }),
      { status: 503 },
    )
    await assert.rejects(
      discoverResources(async () => 'hello'),
      { message: 'the answer of /api is no description of an API' },
    )
  })

  it('is what the client does', async () => {
    const { client, clock } = testCluster(objects)
    const found = client.discover()
    await clock.advance(0)
    assert.equal((await found).byKind('apps', 'ReplicaSet')?.resource, 'replicasets')
  })
})
