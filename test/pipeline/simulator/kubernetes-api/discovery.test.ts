import assert from 'node:assert/strict'
import { smallCluster } from './test-api.ts'

describe('the Kubernetes API', () => {
  describe('about itself', () => {
    it('tells its version, which fits what it can do', () => {
      const version = (streamingLists: boolean): unknown =>
        (smallCluster({ streamingLists }).get('/version').body as unknown as Record<string, unknown>)['gitVersion']
      assert.equal(version(false), 'v1.33.5')
      assert.equal(version(true), 'v1.34.1')
    })

    for (const path of ['/healthz', '/livez', '/readyz']) {
      it(`is well at ${path}`, () => assert.equal(smallCluster().get(path).text, 'ok'))
    }

    it('tells the version of the core group', () => {
      const { get } = smallCluster()
      assert.deepEqual(get('/api', { host: 'api:6443' }).body, {
        kind: 'APIVersions',
        versions: ['v1'],
        serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress: 'api:6443' }],
      })
    })

    it('lists groups, one group, and the resources of a version', () => {
      const { get } = smallCluster()
      const versions = [{ groupVersion: 'kubeflow.org/v1', version: 'v1' }]
      const group = { name: 'kubeflow.org', versions, preferredVersion: versions[0] }
      const groups = get('/apis').body as unknown as { groups: { name: string }[] }
      assert.deepEqual(
        groups.groups.map(({ name }) => name),
        ['example.com', 'kubeflow.org'],
      )
      assert.deepEqual(groups.groups[1], group)
      assert.deepEqual(get('/apis/kubeflow.org').body, { kind: 'APIGroup', apiVersion: 'v1', ...group })
      assert.deepEqual(get('/apis/example.com/v1').body, {
        kind: 'APIResourceList',
        apiVersion: 'v1',
        groupVersion: 'example.com/v1',
        resources: [
          {
            name: 'policies',
            singularName: 'policy',
            namespaced: false,
            kind: 'Policy',
            verbs: ['get', 'list', 'watch'],
          },
        ],
      })
    })

    it('lists the resources of the core group without an apiVersion, as there', () => {
      const { body } = smallCluster().get('/api/v1')
      const { resources, ...rest } = body as unknown as { resources: { name: string; shortNames: string[] }[] }
      assert.deepEqual(rest, { kind: 'APIResourceList', groupVersion: 'v1' })
      assert.deepEqual(
        resources.map(({ name, shortNames }) => `${name} ${shortNames.join(' ')}`),
        ['namespaces ns', 'nodes no', 'pods po'],
      )
    })

    it('tells everything at once to who asks for it', () => {
      const { get } = smallCluster()
      const type = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
      const core = get('/api', { accept: `${type},application/json` })
      const others = get('/apis', { accept: type })
      assert.equal(core.headers['content-type'], type)
      const body = (answer: typeof core) =>
        answer.body as unknown as {
          kind: string
          apiVersion: string
          items: { metadata: unknown; versions: { resources: unknown[] }[] }[]
        }
      assert.deepEqual([body(core).kind, body(core).apiVersion], ['APIGroupDiscoveryList', 'apidiscovery.k8s.io/v2'])
      assert.deepEqual(
        body(core).items.map(({ metadata }) => metadata),
        [{}],
      )
      // Built-in kinds do not repeat their group and version, custom ones do.
      assert.deepEqual(body(core).items[0]?.versions[0]?.resources[2], {
        resource: 'pods',
        responseKind: { group: '', version: '', kind: 'Pod' },
        scope: 'Namespaced',
        singularResource: 'pod',
        verbs: ['get', 'list', 'watch'],
        shortNames: ['po'],
      })
      assert.deepEqual(body(others).items, [
        {
          metadata: { name: 'example.com' },
          versions: [
            {
              version: 'v1',
              resources: [
                {
                  resource: 'policies',
                  responseKind: { group: 'example.com', version: 'v1', kind: 'Policy' },
                  scope: 'Cluster',
                  singularResource: 'policy',
                  verbs: ['get', 'list', 'watch'],
                },
              ],
              freshness: 'Current',
            },
          ],
        },
        {
          metadata: { name: 'kubeflow.org' },
          versions: [
            {
              version: 'v1',
              resources: [
                {
                  resource: 'pytorchjobs',
                  responseKind: { group: 'kubeflow.org', version: 'v1', kind: 'PyTorchJob' },
                  scope: 'Namespaced',
                  singularResource: 'pytorchjob',
                  verbs: ['get', 'list', 'watch'],
                },
              ],
              freshness: 'Current',
            },
          ],
        },
      ])
      assert.equal(get('/api', { accept: type.replace('v2', 'v9') }).status, 406)
      assert.equal(
        get('/api', { accept: `${type.replace('v2', 'v9')},application/json` }).headers['content-type'],
        'application/json',
      )
    })
  })
})
