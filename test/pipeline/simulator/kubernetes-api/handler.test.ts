import assert from 'node:assert/strict'
import { createTestApi, object, pod, smallCluster } from './test-api.ts'

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

describe('the Kubernetes API', () => {
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

  it('gives every answer the date of the clock', () => {
    assert.equal(smallCluster().get(PODS).headers['date'], 'Tue, 14 Nov 2023 22:13:20 GMT')
  })
})
