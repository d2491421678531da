import assert from 'node:assert/strict'
import { createTestApi, METADATA, object, pod, type TestApi } from './test-api.ts'

const PODS = '/api/v1/pods'

function twoPods(options: Parameters<typeof createTestApi>[1] = {}): TestApi {
  return createTestApi([pod('a'), pod('b', { namespace: 'other' })], options)
}

describe('a watch', () => {
  it('says at once that it has begun, and then every change, one document a line', () => {
    const { get, store } = twoPods()
    const watch = get(`${PODS}?watch=1&resourceVersion=3`)
    assert.equal(watch.status, 200)
    assert.equal(watch.headers['content-type'], 'application/json')
    assert.equal(watch.headers['content-length'], undefined)
    assert.equal(watch.text, '')
    store.replaceAll([pod('a', { phase: 'Running' }), pod('c')])
    assert.deepEqual(watch.events, ['DELETED other/b@4', 'MODIFIED default/a@5', 'ADDED default/c@6'])
    const line = JSON.parse(watch.text.split('\n')[1]!) as { object: unknown }
    assert.deepEqual(line.object, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { ...store.collection('', 'Pod').get('default/a')!.metadata },
      spec: {},
      status: { phase: 'Running' },
    })
    assert.equal(watch.over, undefined)
  })

  const beginnings: [query: string, events: string[]][] = [
    ['', ['ADDED default/a@2', 'ADDED other/b@5']],
    ['&resourceVersion=0', ['ADDED default/a@2', 'ADDED other/b@5']],
    ['&resourceVersion=1', ['ADDED default/a@2', 'ADDED other/b@3', 'DELETED other/b@4', 'ADDED other/b@5']],
    ['&resourceVersion=3', ['DELETED other/b@4', 'ADDED other/b@5']],
    ['&resourceVersion=5', []],
    ['&resourceVersion=99', []],
    ['&resourceVersion=99&continue=abc&limit=1', []],
  ]
  for (const [query, events] of beginnings) {
    it(`from "${query}" begins with ${events.join(', ') || 'nothing'}`, () => {
      const { get, store } = twoPods()
      store.apply([{ type: 'ADDED', object: pod('b', { namespace: 'other', uid: 'new' }) }])
      assert.deepEqual(get(`${PODS}?watch=1${query}`).events, events)
    })
  }

  it('from a version that is yet to come is silent until then', () => {
    const { get, store } = twoPods()
    const watch = get(`${PODS}?watch=1&resourceVersion=4`)
    store.apply([{ type: 'ADDED', object: pod('c') }])
    store.apply([{ type: 'ADDED', object: pod('d') }])
    assert.deepEqual(watch.events, ['ADDED default/d@5'])
  })

  it('from a version that is forgotten says 410 in an event, and ends', () => {
    const { get, store } = twoPods()
    store.compact()
    const watch = get(`${PODS}?watch=1&resourceVersion=2`)
    assert.deepEqual([watch.status, watch.over], [200, 'ended'])
    assert.deepEqual(watch.body, {
      type: 'ERROR',
      object: {
        kind: 'Status',
        apiVersion: 'v1',
        metadata: {},
        status: 'Failure',
        message: 'too old resource version: 2 (3)',
        reason: 'Expired',
        code: 410,
      },
    })
    assert.equal(get(`${PODS}?watch=1&resourceVersion=3`).over, undefined)
  })

  it('resumes where another one ended, without loss or repetition', () => {
    const { get, store } = twoPods()
    const all = get(`${PODS}?watch=1&resourceVersion=3`)
    const heard: string[] = []
    let version = '3'
    for (let i = 0; i < 5; i++) {
      const watch = get(`${PODS}?watch=1&resourceVersion=${version}`)
      store.apply([{ type: 'MODIFIED', object: pod('a', { phase: `${i}` }) }])
      watch.leave()
      store.apply([{ type: i % 2 === 0 ? 'ADDED' : 'DELETED', object: pod('c') }])
      heard.push(...watch.events)
      version = /@(\d+)$/.exec(heard.at(-1)!)![1]!
    }
    heard.push(...get(`${PODS}?watch=1&resourceVersion=${version}`).events)
    assert.deepEqual(heard, all.events)
    assert.equal(heard.length, 10)
  })

  const transitions: [what: string, query: string, events: string[]][] = [
    ['all', '', ['MODIFIED default/a@4', 'MODIFIED default/a@5', 'MODIFIED default/a@6', 'DELETED default/a@7']],
    [
      'by label',
      '&labelSelector=team%3Dred',
      ['ADDED default/a@4', 'DELETED default/a@5', 'ADDED default/a@6', 'DELETED default/a@7'],
    ],
    ['by missing label', '&labelSelector=!team', ['DELETED default/a@4']],
    ['by node', '&fieldSelector=spec.nodeName%3Dn1', ['ADDED default/a@5', 'DELETED default/a@6']],
    [
      'by no node',
      '&fieldSelector=spec.nodeName%3D',
      ['MODIFIED default/a@4', 'DELETED default/a@5', 'ADDED default/a@6', 'DELETED default/a@7'],
    ],
    ['by name', '&fieldSelector=metadata.name%3Db', []],
  ]
  for (const [what, query, events] of transitions) {
    for (const late of [false, true]) {
      it(`that selects ${what} hears that objects come into its sight and leave it${late ? ', also afterwards' : ''}`, () => {
        const { get, store } = twoPods()
        const early = late ? undefined : get(`${PODS}?watch=1&resourceVersion=3${query}`)
        for (const change of [
          { labels: { team: 'red' } },
          { labels: { team: 'blue' }, node: 'n1' },
          { labels: { team: 'red' } },
        ]) {
          store.apply([{ type: 'MODIFIED', object: pod('a', change) }])
        }
        store.apply([{ type: 'DELETED', object: pod('a') }])
        assert.deepEqual((early ?? get(`${PODS}?watch=1&resourceVersion=3${query}`)).events, events)
      })
    }
  }

  it('shows an object that left its sight as it last was in it, with the revision at which it left', () => {
    const { get, store } = twoPods()
    const watch = get(`${PODS}?watch=1&resourceVersion=3&labelSelector=!team`)
    store.apply([{ type: 'MODIFIED', object: pod('a', { labels: { team: 'red' }, phase: 'Running' }) }])
    const { type, object: last } = watch.body as unknown as { type: string; object: Record<string, unknown> }
    assert.equal(type, 'DELETED')
    assert.deepEqual(last['status'], {})
    assert.equal((last['metadata'] as Record<string, unknown>)['resourceVersion'], '4')
    assert.equal((last['metadata'] as Record<string, unknown>)['labels'], undefined)
  })

  it('of a namespace hears of no other', () => {
    const { get, store } = twoPods()
    const watch = get('/api/v1/namespaces/other/pods?watch=1')
    store.apply([
      { type: 'ADDED', object: pod('c') },
      { type: 'ADDED', object: pod('d', { namespace: 'other' }) },
    ])
    assert.deepEqual(watch.events, ['ADDED other/b@3', 'ADDED other/d@5'])
  })

  it('of another kind hears nothing', () => {
    const { get, store } = createTestApi([pod('a'), object('v1', 'Node', 'n')])
    const watch = get('/api/v1/nodes?watch=1&resourceVersion=3')
    store.apply([{ type: 'ADDED', object: pod('c') }])
    assert.deepEqual(watch.events, [])
  })

  it('can be asked for in the older way', () => {
    const { get } = createTestApi([pod('a'), pod('b'), object('v1', 'Namespace', 'default')])
    assert.deepEqual(get('/api/v1/watch/pods').events, ['ADDED default/a@2', 'ADDED default/b@3'])
    assert.deepEqual(get('/api/v1/watch/namespaces/default/pods/a').events, ['ADDED default/a@2'])
    assert.deepEqual(get('/api/v1/watch/namespaces/default').events, ['ADDED default@4'])
  })

  it('for metadata only gets that, in bookmarks too', async () => {
    const { get, store, clock } = twoPods()
    const watch = get(`${PODS}?watch=1&resourceVersion=3&allowWatchBookmarks=1`, METADATA)
    store.apply([{ type: 'ADDED', object: pod('c', { uid: 'u' }) }])
    await clock.advance(60_000)
    assert.deepEqual(
      watch.text
        .split('\n')
        .filter(Boolean)
        .map(line => JSON.parse(line) as unknown),
      [
        {
          type: 'ADDED',
          object: {
            kind: 'PartialObjectMetadata',
            apiVersion: 'meta.k8s.io/v1',
            metadata: { name: 'c', namespace: 'default', uid: 'u', resourceVersion: '4' },
          },
        },
        {
          type: 'BOOKMARK',
          object: { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: { resourceVersion: '4' } },
        },
      ],
    )
  })

  it('hears what a change is to it, whatever it is to others', () => {
    const { get, store } = twoPods()
    const watches = ['', '&labelSelector=team', '&labelSelector=!team'].map(query =>
      get(`${PODS}?watch=1&resourceVersion=3${query}`),
    )
    store.apply([{ type: 'MODIFIED', object: pod('a', { labels: { team: 'red' } }) }])
    assert.deepEqual(
      watches.map(({ events }) => events),
      [['MODIFIED default/a@4'], ['ADDED default/a@4'], ['DELETED default/a@4']],
    )
  })

  it('for others gets the same bytes as if alone', () => {
    const { get, store } = twoPods()
    const queries = ['', '&labelSelector=!team', '&fieldSelector=spec.nodeName%3D']
    const watches = [...queries, ...queries].map(query => get(`${PODS}?watch=1&resourceVersion=3${query}`))
    const partial = get(`${PODS}?watch=1&resourceVersion=3`, METADATA)
    store.apply([
      { type: 'MODIFIED', object: pod('a', { phase: 'Running' }) },
      { type: 'DELETED', object: pod('a') },
    ])
    for (const watch of watches) assert.equal(watch.text, watches[0]!.text)
    assert.deepEqual(partial.events, watches[0]!.events)
    assert.notEqual(partial.text, watches[0]!.text)
  })

  it('ends at the time that was asked for, with a bookmark shortly before', async () => {
    const { get, store, clock, api } = twoPods()
    const watch = get(`${PODS}?watch=1&resourceVersion=3&timeoutSeconds=10&allowWatchBookmarks=true`)
    const short = get(`${PODS}?watch=1&resourceVersion=3&timeoutSeconds=2&allowWatchBookmarks=true`)
    const plain = get(`${PODS}?watch=1&resourceVersion=3&timeoutSeconds=10`)
    store.apply([{ type: 'ADDED', object: object('v1', 'Node', 'n') }])
    await clock.advance(7999)
    assert.deepEqual([watch.events, short.events, short.over], [[], [], 'ended'])
    await clock.advance(1)
    assert.deepEqual([watch.events, watch.over], [['BOOKMARK @4'], undefined])
    await clock.advance(2000)
    assert.deepEqual([watch.over, plain.over, plain.events], ['ended', 'ended', []])
    assert.equal(api.watchCount, 0)
  })

  it('ends by itself after half an hour to an hour, not all at the same time', async () => {
    const { get, clock } = twoPods()
    const watches = Array.from({ length: 20 }, () => get(`${PODS}?watch=1&resourceVersion=3`))
    const open = (): number => watches.filter(({ over }) => over === undefined).length
    await clock.advance(1_799_999)
    assert.equal(open(), 20)
    await clock.advance(900_001)
    assert.ok(open() > 5 && open() < 15)
    await clock.advance(900_000)
    assert.equal(open(), 0)
  })

  it('gets a bookmark every minute if it wants them', async () => {
    const { get, store, clock } = twoPods()
    const [wants, not] = ['&allowWatchBookmarks=true', '&allowWatchBookmarks=false'].map(query =>
      get(`${PODS}?watch=1&resourceVersion=3${query}`),
    )
    await clock.advance(60_000)
    store.apply([{ type: 'ADDED', object: object('v1', 'Node', 'n') }])
    await clock.advance(60_000)
    assert.deepEqual(wants!.events, ['BOOKMARK @3', 'BOOKMARK @4'])
    assert.deepEqual(not!.events, [])
    assert.deepEqual(JSON.parse(wants!.text.split('\n')[0]!), {
      type: 'BOOKMARK',
      object: { kind: 'Pod', apiVersion: 'v1', metadata: { resourceVersion: '3' } },
    })
  })

  it('gets no bookmark that would lead it back', async () => {
    const { get, clock } = twoPods()
    const watch = get(`${PODS}?watch=1&resourceVersion=99&allowWatchBookmarks=true`)
    await clock.advance(60_000)
    assert.deepEqual(watch.events, [])
  })

  it('that the client left is forgotten', () => {
    const { get, store, api } = twoPods()
    const watch = get(`${PODS}?watch=1&resourceVersion=3`)
    assert.equal(api.watchCount, 1)
    watch.leave()
    store.apply([{ type: 'ADDED', object: pod('c') }])
    assert.deepEqual([api.watchCount, watch.text], [0, ''])
  })

  it('of a client that does not read is broken off at the next change', () => {
    const { api, store } = twoPods()
    const heard: string[] = []
    api.handle(
      { method: 'GET', url: `${PODS}?watch=1&resourceVersion=3`, headers: {} },
      {
        head: () => {},
        chunk: text => heard.push(text),
        end: () => heard.push('end'),
        fail: error => heard.push(error.message),
        isClogged: () => true,
      },
    )
    store.apply([{ type: 'ADDED', object: pod('c') }])
    assert.deepEqual([heard, api.watchCount], [['the connection was reset'], 0])
  })

  it('hears of a change of everything in as many parts as it takes', () => {
    const { get, store } = createTestApi([pod('a')])
    const watch = get(`${PODS}?watch=1&resourceVersion=2`)
    store.replaceAll(Array.from({ length: 1234 }, (_, i) => pod(`pod-${i}`)))
    assert.equal(watch.events.length, 1235)
    assert.equal(new Set(watch.events).size, 1235)
  })

  it('ends when the API closes', () => {
    const { get, api } = twoPods()
    const watch = get(`${PODS}?watch=1&resourceVersion=3`)
    api.close()
    assert.equal(watch.over, 'ended')
    assert.equal(get(PODS).status, 503)
  })

  describe('that asks for the present state first', () => {
    const query = 'watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan'

    const cases: [query: string, events: string[]][] = [
      [`${query}&allowWatchBookmarks=1`, ['ADDED default/a@2', 'ADDED other/b@3', 'BOOKMARK @3 initial events end']],
      [
        `${query}&allowWatchBookmarks=1&resourceVersion=2`,
        ['ADDED default/a@2', 'ADDED other/b@3', 'BOOKMARK @3 initial events end'],
      ],
      [query, ['ADDED default/a@2', 'ADDED other/b@3']],
      [query.replace('true', 'false'), []],
      // What clients asked for before there were streaming lists is the same now.
      [
        'watch=1&allowWatchBookmarks=1&resourceVersion=0',
        ['ADDED default/a@2', 'ADDED other/b@3', 'BOOKMARK @3 initial events end'],
      ],
      ['watch=1&allowWatchBookmarks=1&resourceVersion=2', ['ADDED other/b@3']],
    ]
    for (const [asked, events] of cases) {
      it(`gets ${events.join(', ') || 'nothing'} for ${asked}`, () => {
        const { get } = twoPods({ streamingLists: true })
        assert.deepEqual(get(`${PODS}?${asked}`).events, events)
      })
    }

    it('is told in an event that its version is yet to come', async () => {
      const { get, clock } = twoPods({ streamingLists: true })
      const watch = get(`${PODS}?${query}&resourceVersion=99`)
      await clock.advance(3000)
      assert.deepEqual([watch.status, watch.events, watch.over], [200, ['ERROR 504'], 'ended'])
    })

    const refused: [query: string, streamingLists: boolean, message: string][] = [
      [
        query,
        false,
        'sendInitialEvents: Forbidden: sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled',
      ],
      [
        'watch=1&sendInitialEvents=true',
        true,
        'resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan',
      ],
      [
        'watch=1&resourceVersionMatch=NotOlderThan',
        true,
        'resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided',
      ],
    ]
    for (const [asked, streamingLists, message] of refused) {
      it(`is refused ${streamingLists ? 'with' : 'without'} streaming lists for ${asked}`, () => {
        const { status, body } = twoPods({ streamingLists }).get(`${PODS}?${asked}`)
        assert.deepEqual([status, body.message], [422, `ListOptions.meta.k8s.io "" is invalid: ${message}`])
      })
    }
  })

  it('from what is no version is an error of the server, as there', () => {
    const { status, body } = twoPods().get(`${PODS}?watch=1&resourceVersion=abc`)
    assert.deepEqual([status, body.reason], [500, undefined])
    assert.equal(
      body.message,
      'resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax',
    )
  })
})
