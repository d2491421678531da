import assert from 'node:assert/strict'
import { createTestApi, METADATA, METADATA_LIST, object, pod, type TestApi } from './test-api.ts'

const PODS = '/api/v1/pods'
const NO_SUCH_RESOURCE = {
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Failure',
  message: 'the server could not find the requested resource',
  reason: 'NotFound',
  details: {},
  code: 404,
}

function smallCluster(options: Parameters<typeof createTestApi>[1] = {}): TestApi {
  return createTestApi(
    [
      pod('a', { uid: 'u', labels: { app: 'x' } }),
      object('v1', 'Node', 'n'),
      object('v1', 'Namespace', 'default'),
      object('kubeflow.org/v1', 'PyTorchJob', 'p', 'default'),
      object('example.com/v1', 'Policy', 'q'),
    ],
    options,
  )
}

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

  describe('with only the kinds that have objects', () => {
    for (const path of [
      '/apis/apps/v1/deployments',
      '/apis/batch/v1',
      '/api/v1/services',
      '/api/v2',
      '/api/v1/pods/a',
      '/api/v1/namespaces/default/nodes',
      '/api/v1/namespaces/default/pods/a/nope',
    ]) {
      it(`answers 404 in words at ${path}`, () => {
        const { status, body } = smallCluster().get(path)
        assert.equal(status, 404)
        assert.deepEqual(body, NO_SUCH_RESOURCE)
      })
    }
    for (const path of [
      '/apis/ray.io/v1/rayjobs',
      '/apis/kubeflow.org/v1/mpijobs',
      '/apis/kubeflow.org/v2/pytorchjobs',
      '/apis/kubeflow.org/v1/pytorchjobs/p',
      '/apis/nope',
      '/apis/nope/v1',
      '/foo',
      '/',
    ]) {
      it(`answers 404 as nobody's page at ${path}`, () => {
        const { status, text, headers } = smallCluster().get(path)
        assert.deepEqual(
          [status, text, headers['content-type']],
          [404, '404 page not found\n', 'text/plain; charset=utf-8'],
        )
      })
    }

    it('has a kind as soon as it has an object, and keeps it', () => {
      const { get, store } = smallCluster()
      const path = '/apis/ray.io/v1/rayjobs'
      assert.equal(get(path).status, 404)
      store.apply([{ type: 'ADDED', object: object('ray.io/v1', 'RayJob', 'r', 'default') }])
      assert.equal(get(path).status, 200)
      store.apply([{ type: 'DELETED', object: object('ray.io/v1', 'RayJob', 'r', 'default') }])
      assert.deepEqual([get(path).status, get(path).body.items], [200, []])
    })

    it('takes names and scope of a kind from its definition, which is enough for the kind to exist', () => {
      const definition = {
        ...object('apiextensions.k8s.io/v1', 'CustomResourceDefinition', 'mice.example.com'),
        spec: {
          group: 'example.com',
          scope: 'Namespaced',
          names: { kind: 'Mouse', plural: 'mice', singular: 'mouse', shortNames: ['ms'] },
          versions: [
            { name: 'v1beta1', served: true },
            { name: 'v1', served: true },
            { name: 'v1alpha1', served: false },
          ],
        },
      }
      const { get } = createTestApi([definition])
      for (const [path, status] of [
        ['/apis/example.com/v1/mice', 200],
        ['/apis/example.com/v1/namespaces/x/mice', 200],
        ['/apis/example.com/v1beta1/mice', 200],
        ['/apis/example.com/v1alpha1/mice', 404],
        ['/apis/example.com/v1/mouses', 404],
      ] as const) {
        assert.equal(get(path).status, status, path)
      }
    })
  })

  it('can have the kinds of every server, and declared ones, without objects', () => {
    const { get, store } = createTestApi([], { builtIn: true, kinds: [{ apiVersion: 'ray.io/v1', kind: 'RayJob' }] })
    const paths = [PODS, '/apis/batch/v1/jobs', '/apis/ray.io/v1/rayjobs']
    for (const path of paths) assert.deepEqual([get(path).status, get(path).body.items], [200, []])
    assert.equal(get('/apis/ray.io/v1/rayclusters').status, 404)
    // Who watches a kind without objects hears of the first.
    const watch = get('/apis/ray.io/v1/rayjobs?watch=1&resourceVersion=1')
    store.apply([{ type: 'ADDED', object: object('ray.io/v1', 'RayJob', 'r', 'default') }])
    assert.deepEqual(watch.events, ['ADDED default/r@2'])
  })

  describe('asked for one object', () => {
    it('gives it with kind and version', () => {
      const { body, headers } = smallCluster().get('/api/v1/namespaces/default/pods/a')
      assert.deepEqual(body, {
        ...pod('a', { uid: 'u', labels: { app: 'x' }, resourceVersion: '2' }),
      })
      assert.equal(headers['content-type'], 'application/json')
    })

    for (const path of [
      '/api/v1/nodes/n',
      '/api/v1/namespaces/default',
      '/apis/example.com/v1/policies/q',
      '/api/v1/namespaces/default/pods/a/status',
      '/api/v1/namespaces/default/status',
      '/api/v1/namespaces/default/pods/a?watch=1',
      '/api/v1/namespaces/default/pods/a?resourceVersion=0',
    ]) {
      it(`finds it at ${path}`, () => assert.equal(smallCluster().get(path).status, 200))
    }

    const missing: [path: string, message: string, details: object][] = [
      ['/api/v1/namespaces/default/pods/b', 'pods "b" not found', { name: 'b', kind: 'pods' }],
      ['/api/v1/nodes/b', 'nodes "b" not found', { name: 'b', kind: 'nodes' }],
      [
        '/apis/kubeflow.org/v1/namespaces/default/pytorchjobs/b',
        'pytorchjobs.kubeflow.org "b" not found',
        { name: 'b', group: 'kubeflow.org', kind: 'pytorchjobs' },
      ],
    ]
    for (const [path, message, details] of missing) {
      it(`says what is not there at ${path}`, () => {
        const { status, body } = smallCluster().get(path)
        assert.equal(status, 404)
        assert.deepEqual([body.message, body.reason, body.details, body.code], [message, 'NotFound', details, 404])
      })
    }
  })

  describe('asked for metadata only', () => {
    it('gives an object without the rest', () => {
      const { get } = smallCluster()
      const expected = {
        kind: 'PartialObjectMetadata',
        apiVersion: 'meta.k8s.io/v1',
        metadata: { name: 'a', namespace: 'default', uid: 'u', labels: { app: 'x' }, resourceVersion: '2' },
      }
      assert.deepEqual(get('/api/v1/namespaces/default/pods/a', METADATA).body, expected)
      const list = get(PODS, METADATA_LIST).body
      assert.deepEqual(list, {
        kind: 'PartialObjectMetadataList',
        apiVersion: 'meta.k8s.io/v1',
        metadata: { resourceVersion: '6' },
        items: [expected],
      })
      const older = { accept: METADATA.accept.replace('v=v1', 'v=v1beta1') }
      assert.equal(get('/api/v1/namespaces/default/pods/a', older).body.apiVersion, 'meta.k8s.io/v1beta1')
    })

    it('has null where a list is empty, as there', () => {
      const { get } = smallCluster()
      assert.equal(get('/api/v1/namespaces/nowhere/pods', METADATA_LIST).body.items, null)
    })
  })

  const accepts: [accept: string, path: string, outcome: string][] = [
    ['*/*', PODS, 'PodList'],
    ['application/*', PODS, 'PodList'],
    ['application/json, text/plain', PODS, 'PodList'],
    ['application/json;charset=utf-8', PODS, 'PodList'],
    ['application/json;as=Table;v=v1;g=meta.k8s.io,application/json', PODS, 'PodList'],
    [
      'application/json;q=0.1,application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1',
      PODS,
      'PartialObjectMetadataList',
    ],
    ['application/vnd.kubernetes.protobuf,application/json', PODS, 'PodList'],
    ['text/html', PODS, 'only the following media types are accepted: application/json'],
    [
      'application/json;as=Table;v=v1;g=meta.k8s.io',
      PODS,
      'only the following media types are accepted: application/json',
    ],
    [METADATA.accept, PODS, 'you requested PartialObjectMetadata, but the requested object is a list (*core.PodList)'],
    [
      METADATA_LIST.accept,
      '/api/v1/namespaces/default/pods/a',
      'you requested PartialObjectMetadataList, but the requested object is not a list (*core.Pod)',
    ],
    [
      METADATA.accept,
      '/apis/kubeflow.org/v1/pytorchjobs',
      'you requested PartialObjectMetadata, but the requested object is a list (*unstructured.UnstructuredList)',
    ],
  ]
  for (const [accept, path, outcome] of accepts) {
    it(`answers ${outcome} to who accepts ${accept} at ${path}`, () => {
      const { status, body } = smallCluster().get(path, { accept })
      assert.equal(status === 200 ? body.kind : body.message, outcome)
      if (status !== 200) assert.deepEqual([status, body.reason], [406, 'NotAcceptable'])
    })
  }

  for (const [method, path] of [
    ['POST', PODS],
    ['PUT', '/api/v1/namespaces/default/pods/a'],
    ['PATCH', '/api/v1/namespaces/default/pods/a'],
    ['DELETE', PODS],
    ['HEAD', PODS],
    ['POST', '/version'],
    ['DELETE', '/api'],
  ] as const) {
    it(`is for reading only: ${method} ${path} is 405`, () => {
      const { status, body } = smallCluster().ask(method, path)
      assert.equal(status, 405)
      assert.equal(body.message, 'the server does not allow this method on the requested resource')
      assert.equal(body.reason, 'MethodNotAllowed')
    })
  }

  describe('with a bearer token', () => {
    for (const [authorization, status] of [
      [undefined, 401],
      ['Bearer wrong', 401],
      ['secret', 401],
      ['Bearer secret', 200],
    ] as const) {
      it(`is ${status} for ${authorization ?? 'none'}`, () => {
        const { get } = smallCluster({ bearerToken: 'secret' })
        for (const path of [PODS, '/version']) {
          const answer = get(path, authorization === undefined ? {} : { authorization })
          assert.equal(answer.status, status)
          if (status !== 401) continue
          assert.deepEqual(
            [answer.body.message, answer.body.reason, answer.body.code],
            ['Unauthorized', 'Unauthorized', 401],
          )
        }
      })
    }
  })

  describe('with rules of who may read what', () => {
    const allow = [
      { apiGroups: [''], resources: ['nodes'], verbs: ['*'] },
      { apiGroups: ['kubeflow.org'], resources: ['*'], verbs: ['get', 'list'] },
    ]
    const cases: [path: string, message: string | undefined][] = [
      ['/api/v1/nodes', undefined],
      ['/api/v1/nodes/n', undefined],
      ['/apis/kubeflow.org/v1/pytorchjobs', undefined],
      ['/api', undefined],
      [
        PODS,
        'pods is forbidden: User "system:serviceaccount:x:y" cannot list resource "pods" in API group "" at the cluster scope',
      ],
      [
        '/api/v1/namespaces/default/pods/a',
        'pods "a" is forbidden: User "system:serviceaccount:x:y" cannot get resource "pods" in API group "" in the namespace "default"',
      ],
      [
        '/apis/kubeflow.org/v1/pytorchjobs?watch=1',
        'pytorchjobs.kubeflow.org is forbidden: User "system:serviceaccount:x:y" cannot watch resource "pytorchjobs" in API group "kubeflow.org" at the cluster scope',
      ],
      [
        '/api/v1/namespaces/default',
        'namespaces "default" is forbidden: User "system:serviceaccount:x:y" cannot get resource "namespaces" in API group "" in the namespace "default"',
      ],
      [
        '/api/v1/nodes/n/proxy/metrics',
        'nodes "n" is forbidden: User "system:serviceaccount:x:y" cannot get resource "nodes/proxy" in API group "" at the cluster scope',
      ],
      // Who may not ask does not learn whether there is anything.
      [
        '/apis/nope/v1/foos',
        'foos.nope is forbidden: User "system:serviceaccount:x:y" cannot list resource "foos" in API group "nope" at the cluster scope',
      ],
    ]
    for (const [path, message] of cases) {
      it(`${message === undefined ? 'allows' : 'forbids'} ${path}`, () => {
        const { status, body } = smallCluster({ allow, user: 'system:serviceaccount:x:y' }).get(path)
        assert.equal(status, message === undefined ? 200 : 403)
        if (message !== undefined) assert.deepEqual([body.message, body.reason], [message, 'Forbidden'])
      })
    }

    it('says in the details what it is about', () => {
      const { body } = smallCluster({ allow: [] }).get('/apis/apps/v1/namespaces/x/deployments/y')
      assert.deepEqual(body.details, { name: 'y', group: 'apps', kind: 'deployments' })
    })

    it('forbids what is denied, even if it is allowed', () => {
      const { get } = smallCluster({ deny: [{ apiGroups: [''], resources: ['pods'], verbs: ['watch'] }] })
      assert.equal(get(PODS).status, 200)
      assert.equal(get(`${PODS}?watch=true`).status, 403)
      assert.equal(get('/api/v1/nodes?watch=true').status, 200)
    })
  })

  describe('that misbehaves', () => {
    it('slowly: answers begin later', async () => {
      const { get, api, clock } = smallCluster()
      api.setFaults({ delayMs: 5000 })
      const answers = [get(PODS), get(`${PODS}?watch=1`)]
      await clock.advance(4999)
      assert.deepEqual(
        answers.map(({ status }) => status),
        [0, 0],
      )
      await clock.advance(1)
      assert.deepEqual(
        answers.map(({ status }) => status),
        [200, 200],
      )
    })

    it('does not answer who has left before', async () => {
      const { get, api, clock } = smallCluster()
      api.setFaults({ delayMs: 5000 })
      const answer = get(`${PODS}?watch=1`)
      answer.leave()
      await clock.advance(5000)
      assert.deepEqual([answer.status, api.watchCount], [0, 0])
    })

    for (const [status, reason] of [
      [500, 'InternalError'],
      [503, 'ServiceUnavailable'],
      [429, 'TooManyRequests'],
    ] as const) {
      it(`with ${status}, until that is over`, () => {
        const { get, api } = smallCluster()
        api.setFaults({ errorStatus: status })
        for (const path of [PODS, '/version', `${PODS}?watch=1`]) {
          const answer = get(path)
          assert.deepEqual([answer.status, answer.body.code, answer.body.reason], [status, status, reason])
        }
        api.setFaults({})
        assert.equal(get(PODS).status, 200)
      })
    }

    it('with half a JSON document', () => {
      const { get, api } = smallCluster()
      const whole = get(PODS).text
      api.setFaults({ truncate: true })
      const answer = get(PODS)
      assert.deepEqual([answer.status, answer.over, answer.headers['content-length']], [200, 'ended', undefined])
      assert.equal(answer.text, whole.slice(0, whole.length >> 1))
      api.setFaults({})
      assert.equal(get(PODS).text, whole)
    })

    it('with half an event, in watches that there are and in new ones', () => {
      const { get, api, store } = smallCluster()
      const open = get(`${PODS}?watch=1&resourceVersion=6`)
      api.setFaults({ truncate: true })
      const fresh = get(`${PODS}?watch=1`)
      store.apply([{ type: 'ADDED', object: pod('b') }])
      for (const watch of [open, fresh]) {
        assert.equal(watch.over, 'ended')
        assert.match(watch.text, /^\{"type":"ADDED","object":\{/)
        assert.throws(() => JSON.parse(watch.text))
      }
      assert.equal(api.watchCount, 0)
    })

    it('by dropping watches, those that there are and new ones', () => {
      const { get, api } = smallCluster()
      const open = get(`${PODS}?watch=1&resourceVersion=6`)
      api.setFaults({ watches: 'drop' })
      const fresh = get(`${PODS}?watch=1`)
      assert.deepEqual([open.over, fresh.over, api.watchCount], ['failed', 'failed', 0])
      assert.equal(get(PODS).status, 200)
      api.setFaults({})
      assert.equal(get(`${PODS}?watch=1`).over, undefined)
    })

    it('by hanging watches: they stay open and hear nothing, for ever', async () => {
      const { get, api, store, clock } = smallCluster()
      const open = get(`${PODS}?watch=1&resourceVersion=6&timeoutSeconds=5&allowWatchBookmarks=1`)
      api.setFaults({ watches: 'hang' })
      const fresh = get(`${PODS}?watch=1`)
      store.apply([{ type: 'ADDED', object: pod('b') }])
      api.setFaults({})
      store.apply([{ type: 'ADDED', object: pod('c') }])
      await clock.advance(7_200_000)
      for (const watch of [open, fresh]) assert.deepEqual([watch.status, watch.text, watch.over], [200, '', undefined])
      assert.deepEqual(get(`${PODS}?watch=1&resourceVersion=7`).events, ['ADDED default/c@8'])
    })

    it('by telling the next watch, or all, that their version is too old', () => {
      const { get, api } = smallCluster()
      api.expireNextWatch()
      assert.deepEqual(get(`${PODS}?watch=1&resourceVersion=6`).events, ['ERROR 410'])
      assert.deepEqual(get(`${PODS}?watch=1&resourceVersion=6`).events, [])
      api.setFaults({ watches: 'expire' })
      for (let i = 0; i < 2; i++) assert.deepEqual(get(`${PODS}?watch=1&resourceVersion=6`).events, ['ERROR 410'])
    })
  })

  it('gives every answer the date of the clock', () => {
    assert.equal(smallCluster().get(PODS).headers['date'], 'Tue, 14 Nov 2023 22:13:20 GMT')
  })
})
