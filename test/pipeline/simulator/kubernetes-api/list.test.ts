import assert from 'node:assert/strict'
import { createTestApi, names, object, pod, type TestApi } from './test-api.ts'

const PODS = '/api/v1/pods'

function fivePods(options: Parameters<typeof createTestApi>[1] = {}): TestApi {
  const pods = ['a', 'b', 'c', 'd', 'e'].map(name => pod(name, { labels: { odd: String('ace'.includes(name)) } }))
  return createTestApi([...pods, object('kubeflow.org/v1', 'PyTorchJob', 'p', 'default')], options)
}

/** The names on each page, and the metadata of the pages. */
function pages(
  { get }: TestApi,
  query: string,
  between: () => void = () => {},
): { names: string; remaining: unknown[] } {
  const found: string[] = []
  const remaining: unknown[] = []
  for (let token: string | undefined = ''; token !== undefined; between()) {
    const answer = get(`${PODS}?${query}&continue=${token}`)
    assert.equal(answer.status, 200)
    found.push(names(answer).join(''))
    const { metadata } = answer.body
    remaining.push(metadata.remainingItemCount)
    token = metadata.continue
  }
  return { names: found.join(' '), remaining }
}

describe('a list', () => {
  it('has the objects in the order of their keys, and the revision of the whole store', () => {
    const { get } = createTestApi([
      pod('z', { namespace: 'a' }),
      pod('b', { namespace: 'a-b' }),
      pod('a', { namespace: 'a' }),
      object('v1', 'Node', 'n'),
    ])
    const { body, headers, status } = get(PODS)
    assert.equal(status, 200)
    assert.equal(headers['content-type'], 'application/json')
    assert.deepEqual([body.kind, body.apiVersion, body.metadata], ['PodList', 'v1', { resourceVersion: '5' }])
    assert.deepEqual(
      body.items?.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`),
      ['a-b/b', 'a/a', 'a/z'],
    )
  })

  it('of built-in kinds has items without kind; custom resources say what they are', () => {
    const { get } = fivePods()
    const item = get(PODS).body.items?.[0]
    assert.equal(item?.kind, undefined)
    assert.equal(item?.apiVersion, undefined)
    const jobs = get('/apis/kubeflow.org/v1/pytorchjobs').body
    assert.deepEqual(
      [jobs.kind, jobs.apiVersion, jobs.metadata],
      ['PyTorchJobList', 'kubeflow.org/v1', { continue: '', resourceVersion: '7' }],
    )
    assert.deepEqual([jobs.items?.[0]?.kind, jobs.items?.[0]?.apiVersion], ['PyTorchJob', 'kubeflow.org/v1'])
  })

  it('of one namespace has no others, also where one name begins like another', () => {
    const { get } = createTestApi([
      pod('a', { namespace: 'x' }),
      pod('b', { namespace: 'x-y' }),
      pod('c', { namespace: 'x0' }),
    ])
    assert.deepEqual(names(get('/api/v1/namespaces/x/pods')), ['a'])
    assert.deepEqual(get('/api/v1/namespaces/nowhere/pods').body.items, [])
  })

  it('in another version of the kind differs in the version only', () => {
    const { get } = createTestApi([
      object('kueue.x-k8s.io/v1beta1', 'ClusterQueue', 'q'),
      object('kueue.x-k8s.io/v1beta2', 'ClusterQueue', 'r'),
    ])
    const { body } = get('/apis/kueue.x-k8s.io/v1beta2/clusterqueues')
    assert.deepEqual(
      body.items?.map(({ apiVersion, metadata }) => `${apiVersion} ${metadata.name}`),
      ['kueue.x-k8s.io/v1beta2 q', 'kueue.x-k8s.io/v1beta2 r'],
    )
  })

  describe('in pages', () => {
    const cases: [query: string, names: string, remaining: unknown[]][] = [
      ['limit=2', 'ab cd e', [3, 1, undefined]],
      ['limit=5', 'abcde', [undefined]],
      ['limit=9', 'abcde', [undefined]],
      ['limit=0', 'abcde', [undefined]],
      ['limit=-1', 'abcde', [undefined]],
      // Whether the rest has any that match is not known before it is asked for.
      ['limit=2&labelSelector=odd%3Dtrue', 'ac e', [undefined, undefined]],
      ['limit=2&labelSelector=odd%3Dfalse', 'bd ', [undefined, undefined]],
      // From any version everything comes at once.
      ['limit=2&resourceVersion=0', 'abcde', [undefined]],
      ['limit=2&resourceVersion=3&resourceVersionMatch=NotOlderThan', 'ab', [3]],
      // A name can be found again in the next namespace, so there may be more.
      ['limit=1&fieldSelector=metadata.name%3Db', 'b ', [undefined, undefined]],
    ]
    for (const [query, expected, remaining] of cases) {
      it(`has ${expected} for ${query}`, () => {
        // A match must not be repeated with the continue token; the first page is enough there.
        const api = fivePods()
        if (query.includes('Match')) {
          const first = api.get(`${PODS}?${query}`)
          assert.equal(names(first).join(''), expected)
          assert.equal(first.body.metadata.remainingItemCount, remaining[0])
        } else {
          assert.deepEqual(pages(api, query), { names: expected, remaining })
        }
      })
    }

    it('has no more pages than one for one name in one namespace', () => {
      const { get } = createTestApi([pod('a'), pod('b'), object('v1', 'Node', 'a'), object('v1', 'Node', 'b')])
      for (const path of ['/api/v1/namespaces/default/pods', '/api/v1/nodes']) {
        for (const [name, expected] of [
          ['a', ['a']],
          ['aa', []],
          ['c', []],
        ] as const) {
          const answer = get(`${path}?limit=1&fieldSelector=metadata.name%3D${name}`)
          assert.deepEqual(names(answer), expected)
          assert.equal(answer.body.metadata.continue, undefined)
        }
      }
    })

    it('shows one moment, whatever happens between the pages', () => {
      const api = fivePods()
      let step = 0
      const { names: found } = pages(api, 'limit=2', () => {
        if (step++ > 0) return
        api.store.apply([
          { type: 'DELETED', object: pod('c') },
          { type: 'ADDED', object: pod('cc') },
          { type: 'DELETED', object: pod('a') },
        ])
      })
      assert.equal(found, 'ab cd e')
      const first = api.get(`${PODS}?limit=2`).body
      assert.equal(first.metadata.resourceVersion, '10')
      assert.equal(first.metadata.remainingItemCount, 2)
    })

    it('says all the time which moment it shows', () => {
      const { get, store } = fivePods()
      const token = get(`${PODS}?limit=2`).body.metadata.continue!
      store.apply([{ type: 'DELETED', object: pod('c') }])
      assert.equal(get(`${PODS}?limit=2&continue=${token}`).body.metadata.resourceVersion, '7')
    })

    it('has a token like that of the API server', () => {
      const { get } = fivePods()
      const tokens = [PODS, '/api/v1/namespaces/default/pods'].map(path =>
        Buffer.from(get(`${path}?limit=2`).body.metadata.continue!, 'base64url').toString(),
      )
      assert.deepEqual(tokens, [
        '{"v":"meta.k8s.io/v1","rv":7,"start":"/default/b\\u0000"}',
        '{"v":"meta.k8s.io/v1","rv":7,"start":"/b\\u0000"}',
      ])
    })

    it('is 410 when its moment is forgotten, with a token for the rest as it is now', () => {
      const { get, store } = fivePods()
      const token = get(`${PODS}?limit=2`).body.metadata.continue!
      store.apply([
        { type: 'DELETED', object: pod('c') },
        { type: 'DELETED', object: pod('a') },
      ])
      store.compact()
      const { status, body } = get(`${PODS}?limit=2&continue=${token}`)
      assert.deepEqual([status, body.code, body.reason, body.kind], [410, 410, 'Expired', 'Status'])
      assert.match(body.message, /^The provided continue parameter is too old to display a consistent list result\./)
      const rest = get(`${PODS}?limit=2&continue=${body.metadata.continue}`)
      assert.deepEqual(names(rest), ['d', 'e'])
      assert.equal(rest.body.metadata.resourceVersion, '9')
    })

    it('is 410 when there were more changes than are remembered', () => {
      const { get, store } = fivePods({ historyLimit: 8 })
      const token = get(`${PODS}?limit=2`).body.metadata.continue!
      for (let i = 0; i < 5; i++) store.apply([{ type: 'MODIFIED', object: pod('a', { phase: String(i) }) }])
      assert.equal(get(`${PODS}?limit=2&continue=${token}`).status, 200)
      for (let i = 5; i < 20; i++) store.apply([{ type: 'MODIFIED', object: pod('a', { phase: String(i) }) }])
      assert.equal(get(`${PODS}?limit=2&continue=${token}`).status, 410)
    })
  })

  describe('of a version', () => {
    /** Revision 7 is the beginning, 8 the deletion of a, 9 the change of b. */
    function changed(): TestApi {
      const api = fivePods()
      api.store.apply([{ type: 'DELETED', object: pod('a') }])
      api.store.apply([{ type: 'MODIFIED', object: pod('b', { phase: 'Running' }) }])
      return api
    }
    const cases: [query: string, names: string, resourceVersion: string][] = [
      ['', 'bcde', '9'],
      ['resourceVersion=0', 'bcde', '9'],
      ['resourceVersion=7', 'bcde', '9'],
      ['resourceVersion=7&resourceVersionMatch=NotOlderThan', 'bcde', '9'],
      ['resourceVersion=7&resourceVersionMatch=Exact', 'abcde', '7'],
      ['resourceVersion=8&resourceVersionMatch=Exact', 'bcde', '8'],
      ['resourceVersion=3&resourceVersionMatch=Exact', 'ab', '3'],
      ['resourceVersion=7&limit=2', 'ab', '7'],
    ]
    for (const [query, expected, resourceVersion] of cases) {
      it(`is ${expected} at ${resourceVersion} for "${query}"`, () => {
        const answer = changed().get(`${PODS}?${query}`)
        assert.equal(names(answer).join(''), expected)
        assert.equal(answer.body.metadata.resourceVersion, resourceVersion)
      })
    }

    for (const query of ['resourceVersion=7&resourceVersionMatch=Exact', 'resourceVersion=7&limit=2']) {
      it(`that is forgotten is 410 for "${query}"`, () => {
        const { get, store } = changed()
        store.compact()
        const { status, body } = get(`${PODS}?${query}`)
        assert.deepEqual([status, body.reason, body.metadata], [410, 'Expired', {}])
        assert.equal(body.message, 'The resourceVersion for the provided list is too old.')
      })
    }

    for (const path of [
      `${PODS}?resourceVersion=99`,
      `${PODS}?resourceVersion=99&resourceVersionMatch=Exact`,
      '/api/v1/namespaces/default/pods/b?resourceVersion=99',
    ]) {
      it(`that is yet to come is waited for, then 504: ${path}`, async () => {
        const { get, clock } = changed()
        const answer = get(path)
        await clock.advance(2999)
        assert.equal(answer.status, 0)
        await clock.advance(1)
        assert.deepEqual([answer.status, answer.headers['retry-after']], [504, '1'])
        assert.deepEqual(answer.body, {
          kind: 'Status',
          apiVersion: 'v1',
          metadata: {},
          status: 'Failure',
          message: 'Timeout: Too large resource version: 99, current: 9',
          reason: 'Timeout',
          details: {
            causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
            retryAfterSeconds: 1,
          },
          code: 504,
        })
      })
    }

    it('that comes while it is waited for is answered', async () => {
      const { get, clock, store } = changed()
      const answer = get(`${PODS}?resourceVersion=10`)
      store.apply([{ type: 'ADDED', object: pod('f') }])
      await clock.advance(3000)
      assert.equal(names(answer).join(''), 'bcdef')
    })
  })

  const refused: [query: string, status: number, message: string][] = [
    ['limit=abc', 400, 'strconv.ParseInt: parsing "abc": invalid syntax'],
    ['continue=!!!', 400, 'invalid continue token: continue key is not valid: illegal base64 data'],
    ['continue=abc', 400, 'invalid continue token: continue key is not valid: not a JSON document'],
    [
      `continue=${Buffer.from('{"v":"v2","rv":1,"start":"x"}').toString('base64url')}`,
      400,
      'invalid continue token: continue key is not valid: server does not recognize this encoded version v2',
    ],
    [
      `continue=${Buffer.from('{"v":"meta.k8s.io/v1","rv":0,"start":"x"}').toString('base64url')}`,
      400,
      'invalid continue token: continue key is not valid: incorrect encoded start resourceVersion (version meta.k8s.io/v1)',
    ],
    [
      `continue=${Buffer.from('{"v":"meta.k8s.io/v1","rv":3,"start":""}').toString('base64url')}`,
      400,
      'invalid continue token: continue key is not valid: encoded start key empty (version meta.k8s.io/v1)',
    ],
    [
      `continue=${Buffer.from('{"v":"meta.k8s.io/v1","rv":3,"start":"x"}').toString('base64url')}&resourceVersion=3`,
      400,
      'specifying resource version is not allowed when using continue',
    ],
    [
      'resourceVersion=abc',
      400,
      'invalid resource version: resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax',
    ],
    [
      'resourceVersionMatch=Exact',
      422,
      'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided',
    ],
    [
      'resourceVersionMatch=Exact&resourceVersion=0',
      422,
      'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"',
    ],
    [
      'resourceVersionMatch=Foo&resourceVersion=3',
      422,
      'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Unsupported value: "Foo": supported values: "Exact", "NotOlderThan", ""',
    ],
    [
      'resourceVersionMatch=Exact&continue=abc',
      422,
      'ListOptions.meta.k8s.io "" is invalid: [resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided, resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden when continue is provided]',
    ],
    [
      'sendInitialEvents=true',
      422,
      'ListOptions.meta.k8s.io "" is invalid: sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list',
    ],
  ]
  for (const [query, status, message] of refused) {
    it(`with "${query}" is ${status}`, () => {
      const answer = fivePods().get(`${PODS}?${query}`)
      assert.equal(answer.status, status)
      assert.deepEqual([answer.body.code, answer.body.message], [status, message])
    })
  }

  it('names the fields of the options that do not go together', () => {
    assert.deepEqual(fivePods().get(`${PODS}?resourceVersionMatch=Exact`).body.details, {
      group: 'meta.k8s.io',
      kind: 'ListOptions',
      causes: [
        {
          reason: 'FieldValueForbidden',
          message: 'Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided',
          field: 'resourceVersionMatch',
        },
      ],
    })
  })

  it('passes over parameters that it does not know', () => {
    assert.equal(names(fivePods().get(`${PODS}?pretty=true&foo=bar&watch=0`)).join(''), 'abcde')
  })

  it('too long for one piece is the same', () => {
    const pods = Array.from({ length: 3000 }, (_, i) => pod(`pod-${String(i).padStart(4, '0')}`))
    const answer = createTestApi(pods).get(PODS)
    assert.equal(answer.headers['content-length'], undefined)
    assert.deepEqual(
      names(answer),
      pods.map(({ metadata }) => metadata.name),
    )
  })
})
