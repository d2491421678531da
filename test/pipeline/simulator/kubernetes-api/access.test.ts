import assert from 'node:assert/strict'
import { smallCluster } from './test-api.ts'

const PODS = '/api/v1/pods'

describe('the Kubernetes API', () => {
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

  describe('with several tokens', () => {
    const tokens = [
      { token: 'all', user: 'admin' },
      { token: 'few', user: 'reader', rules: [{ apiGroups: [''], resources: ['nodes'], verbs: ['list'] }] },
    ]
    for (const [token, path, status] of [
      ['all', PODS, 200],
      ['few', PODS, 403],
      ['few', '/api/v1/nodes', 200],
      ['few', '/api/v1/nodes?watch=1', 403],
      ['few', '/apis', 200],
      ['none', '/api/v1/nodes', 401],
    ] as const) {
      it(`answers ${status} to who has "${token}" and asks for ${path}`, () => {
        const answer = smallCluster({ tokens }).get(path, { authorization: `Bearer ${token}` })
        assert.equal(answer.status, status)
        if (status === 403) assert.match(answer.body.message!, /User "reader" cannot/)
      })
    }

    it('answers 401 to who has none', () => {
      assert.equal(smallCluster({ tokens }).get(PODS).status, 401)
    })
  })

  it('takes a right away, and gives it back', () => {
    const { api, get } = smallCluster()
    api.setFaults({ deny: [{ apiGroups: [''], resources: ['pods'], verbs: ['*'] }] })
    assert.equal(get(PODS).status, 403)
    assert.equal(get('/api/v1/nodes').status, 200)
    api.setFaults({})
    assert.equal(get(PODS).status, 200)
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
})
