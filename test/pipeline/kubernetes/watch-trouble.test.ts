import assert from 'node:assert/strict'
import type { VirtualServer, ResponseWriter } from '../../../pipeline/http/virtual-network.ts'
import type { PolicyRule } from '../../../pipeline/simulator/kubernetes-api/access.ts'
import { object, pod } from '../simulator/kubernetes-api/test-api.ts'
import { keepPod, SERVER, testCluster, watchPods, type TestCluster } from './test-cluster.ts'

/** A server that answers as the test says: the first request by the first answer, the last answer again and again. */
function script(cluster: TestCluster, answers: readonly ((response: ResponseWriter, url: URL) => void)[]): void {
  let next = 0
  const server: VirtualServer = (request, response) => {
    const answer = answers[Math.min(next++, answers.length - 1)]!
    answer(response, new URL(request.url))
  }
  cluster.host.network.serve(`${SERVER}/api/v1/pods`, server)
}

const item = (name: string, version: number, rest: object = {}): object => ({
  metadata: { name, namespace: 'default', uid: `uid of ${name}`, resourceVersion: String(version) },
  ...rest,
})
const event = (type: string, what: object): string => `${JSON.stringify({ type, object: what })}\n`

const list =
  (version: number, ...items: unknown[]) =>
  (response: ResponseWriter): void => {
    response.head(200)
    response.chunk(JSON.stringify({ metadata: { resourceVersion: String(version) }, items }))
    response.end()
  }
/** A watch that stays open. */
const events =
  (...lines: string[]) =>
  (response: ResponseWriter): void => {
    response.head(200)
    for (const line of lines) response.chunk(line)
  }
const status =
  (code: number, headers: Record<string, string> = {}, body: object = { kind: 'Status', code }) =>
  (response: ResponseWriter): void => {
    response.head(code, headers)
    response.chunk(JSON.stringify(body))
    response.end()
  }
/** No streaming lists here. */
const refusal = status(422)

describe('a watch of a troublesome server', () => {
  const BAD: readonly (readonly [what: string, line: string, reason: string])[] = [
    ['no metadata', event('ADDED', {}), 'it has no metadata'],
    ['no name', event('ADDED', { metadata: { uid: 'x' } }), 'its metadata has no name'],
    ['a name that is no text', event('ADDED', { metadata: { name: 7 } }), 'its metadata has no name'],
    ['a uid that is no text', event('ADDED', { metadata: { name: 'x', uid: {} } }), 'its uid is no text'],
    [
      'a version that is no text',
      event('ADDED', { metadata: { name: 'x', resourceVersion: 7 } }),
      'its resourceVersion is no text',
    ],
    ['null as object', event('ADDED', null as unknown as object), 'it has no metadata'],
    ['wrong types', event('ADDED', item('x', 8, { status: null })), 'Cannot read properties of null'],
    ['a type that nobody knows', event('PATCHED', item('x', 8)), 'an event has no type that is known'],
    ['no event at all', '42\n', 'an event has no type that is known'],
    ['no JSON', '{"type":"ADDED","object":{"metadata":{"name":"x"\n', 'an event is no JSON document'],
    ['a bookmark of nothing', event('BOOKMARK', {}), 'a bookmark has no resourceVersion'],
    ['5 MB', event('MODIFIED', item('a', 9, { blob: 'x'.repeat(5 << 20) })), 'an event is larger than 4194304 bytes'],
  ]
  const PREFIX = 'warn: pods: an object was skipped reason='
  for (const [what, line, reason] of BAD) {
    it(`skips and counts an event with ${what}`, async () => {
      const cluster = testCluster([])
      script(cluster, [refusal, list(7, item('a', 7)), events(line, event('ADDED', item('b', 9)))])
      const { watch, told } = watchPods(cluster.client)
      await cluster.clock.advance(0)
      assert.deepEqual(told(), ['+a', 'synced', '+b'])
      assert.equal(cluster.host.counted.get('gpucol_receiver_kubernetes_bad_objects{resource="pods"}'), 1)
      const logged = cluster.host.logged.map(line => line.slice(0, `${PREFIX}${reason}`.length))
      assert.deepEqual(logged, [`${PREFIX}${reason}`])
      watch.stop()
    })
  }

  it('skips a bad item of a list, and keeps what it knows of an object that has become bad', async () => {
    const cluster = testCluster([])
    const keep: typeof keepPod = one => {
      if (one['spec'] === 'bad') throw new Error('bad')
      return keepPod(one)
    }
    script(cluster, [
      refusal,
      list(7, item('a', 7), {}, null, item('b', 5, { spec: 'bad' })),
      status(410),
      list(9, item('a', 8, { spec: 'bad' }), item('b', 9)),
      events(),
    ])
    const { watch, told, names } = watchPods(cluster.client, { keep })
    await cluster.clock.advance(0)
    assert.deepEqual(told(), ['+a', 'synced', '+b', 'synced'])
    assert.deepEqual(names(), ['a', 'b'])
    assert.equal(cluster.host.counted.get('gpucol_receiver_kubernetes_bad_objects'), 4)
    watch.stop()
  })

  it('compares everything after an event that could not be read, once in a while', async () => {
    const cluster = testCluster([])
    const tooLarge = event('DELETED', item('b', 9, { blob: 'x'.repeat(5 << 20) }))
    script(cluster, [
      refusal,
      list(7, item('a', 7), item('b', 7)),
      events(tooLarge),
      list(9, item('a', 7)),
      (response, url) => (url.searchParams.has('watch') ? events(tooLarge) : list(9, item('a', 7)))(response),
    ])
    const { watch, told } = watchPods(cluster.client, { quietMs: 60_000 })
    await cluster.clock.advance(4000)
    assert.deepEqual(told(), ['+a', '+b', 'synced'])
    await cluster.clock.advance(2000)
    assert.deepEqual(told(), ['-b', 'synced'])
    const lists = (): number => cluster.requests().filter(request => request.startsWith('list')).length
    assert.equal(lists(), 2)
    await cluster.clock.advance(280_000)
    assert.equal(lists(), 2)
    await cluster.clock.advance(60_000)
    assert.equal(lists(), 3)
    watch.stop()
  })

  it('reads in pages what it cannot read in a stream', async () => {
    const cluster = testCluster([])
    const large = item('large', 6, { blob: 'x'.repeat(5 << 20) })
    script(cluster, [
      events(event('ADDED', item('a', 5)), event('ADDED', large)),
      list(7, item('a', 5), large),
      events(),
    ])
    const { watch, told } = watchPods(cluster.client)
    await cluster.clock.advance(1000)
    assert.deepEqual(told(), ['+a', '+large', 'synced'])
    assert.deepEqual(cluster.requests(), ['stream', 'list 500', 'watch 7'])
    watch.stop()
  })

  it('ignores events that are out of order', async () => {
    const cluster = testCluster([])
    const phase = (one: string): object => ({ status: { phase: one } })
    script(cluster, [
      refusal,
      list(7, item('a', 7, phase('new'))),
      events(
        event('MODIFIED', item('a', 6, phase('old'))),
        event('MODIFIED', item('a', 9, phase('newest'))),
        event('DELETED', item('a', 8)),
        event('MODIFIED', item('a', 9, phase('the same'))),
        event('ADDED', item('b', 10)),
        event('DELETED', item('b', 12)),
        event('MODIFIED', item('b', 11)),
        event('ADDED', { metadata: { ...(item('a', 5) as { metadata: object }).metadata, uid: 'of an earlier a' } }),
      ),
      events(),
    ])
    const { watch, told } = watchPods(cluster.client)
    await cluster.clock.advance(0)
    assert.deepEqual(told(), ['+a', 'synced', '~a new>newest', '+b', '-b'])
    // It goes on from the newest version that it has heard of.
    await cluster.clock.advance(30_000)
    assert.deepEqual(cluster.requests().slice(2), ['watch 7', 'watch 12'])
    watch.stop()
  })

  it('notices a successor although it never heard of the end of the one before', async () => {
    const cluster = testCluster([])
    const successor = { metadata: { name: 'a', namespace: 'default', uid: 'another', resourceVersion: '9' } }
    script(cluster, [
      refusal,
      list(7, item('a', 7)),
      events(event('MODIFIED', successor), event('DELETED', item('a', 10))),
    ])
    const { watch, told } = watchPods(cluster.client)
    await cluster.clock.advance(0)
    assert.deepEqual(told(), ['+a', 'synced', '-a', '+a'])
    watch.stop()
  })

  it('takes an object back that belongs to it again', async () => {
    const { client, clock, store } = testCluster([pod('a', { labels: { app: 'x' } })])
    const { watch, told } = watchPods(client, { labelSelector: 'app=x' })
    await clock.advance(0)
    for (const labels of [{ app: 'y' }, { app: 'x' }]) {
      store.apply([{ type: 'MODIFIED', object: pod('a', { labels }) }])
      await clock.advance(0)
    }
    assert.deepEqual(told(), ['+a', 'synced', '-a', '+a'])
    watch.stop()
  })

  for (const [what, answer] of [
    ['an HTTP status', status(410)],
    ['an event', events(event('ERROR', { kind: 'Status', code: 410, reason: 'Expired' }))],
    ['an event without code', events(event('ERROR', { kind: 'Status', reason: 'Gone' }))],
  ] as const) {
    it(`lists again when ${what} says that its version is too old`, async () => {
      const cluster = testCluster([])
      script(cluster, [refusal, list(7, item('a', 7)), answer, list(9, item('b', 9)), events()])
      const { watch, told } = watchPods(cluster.client)
      await cluster.clock.advance(0)
      assert.deepEqual(told(), ['+a', 'synced', '+b', '-a', 'synced'])
      watch.stop()
    })
  }

  it('goes on from where it was after an error of another kind', async () => {
    const cluster = testCluster([])
    const error = events(event('ADDED', item('b', 8)), event('ERROR', { code: 500, message: 'etcd: no leader' }))
    script(cluster, [refusal, list(7, item('a', 7)), error, list(8), events()])
    const { watch, told } = watchPods(cluster.client)
    await cluster.clock.advance(1000)
    assert.deepEqual(told(), ['+a', 'synced', '+b'])
    assert.deepEqual(cluster.requests(), ['stream', 'list 500', 'watch 7', 'look', 'watch 8'])
    watch.stop()
  })

  it('lists anew when the server has another past than before', async () => {
    const cluster = testCluster([])
    const refused = (response: ResponseWriter): void => response.fail(new Error('connection refused'))
    script(cluster, [
      refusal,
      list(1000, item('a', 900), item('b', 900)),
      refused,
      list(20),
      list(20, item('a', 15, { status: { phase: 'Restored' } })),
      events(event('ADDED', item('b', 21))),
    ])
    const { watch, told } = watchPods(cluster.client)
    await cluster.clock.advance(5000)
    assert.deepEqual(told(), ['+a', '+b', 'synced', '~a >Restored', '-b', 'synced', '+b'])
    assert.deepEqual(cluster.requests().slice(-3), ['look', 'list 500', 'watch 20'])
    watch.stop()
  })

  it('reads a list again in larger pages when it took too long', async () => {
    const objects = Array.from({ length: 1200 }, (_, i) => pod(`p${i}`))
    const cluster = testCluster(objects)
    let pages = 0
    const { watch, told } = watchPods(cluster.client, {
      keep(one) {
        // While the second page is read, the history of the server is cut off.
        if (++pages === 600) cluster.store.compact()
        if (pages === 599) cluster.store.apply([{ type: 'DELETED', object: pod('p1') }])
        return keepPod(one)
      },
    })
    await cluster.clock.advance(0)
    assert.deepEqual(cluster.requests(), [
      'stream',
      'list 500',
      'list 500 more',
      'list 500 more',
      'list 2000',
      'watch 1202',
    ])
    const heard = told()
    assert.deepEqual([heard.length, heard.at(-2), heard.at(-1)], [1202, '-p1', 'synced'])
    watch.stop()
  })

  for (const [what, headers, body] of [
    ['in seconds', { 'retry-after': '40' }, {}],
    ['as a date', { 'retry-after': 'Tue, 14 Nov 2023 22:14:00 GMT' }, {}],
    ['in its body', {}, { details: { retryAfterSeconds: 40 } }],
  ] as const) {
    it(`leaves a server alone for as long as it says ${what}`, async () => {
      const cluster = testCluster([])
      script(cluster, [status(429, headers, body), refusal, list(7), events()])
      const { watch, told } = watchPods(cluster.client)
      await cluster.clock.advance(39_999)
      assert.equal(cluster.requests().length, 1)
      await cluster.clock.advance(2)
      assert.deepEqual(told(), ['synced'])
      watch.stop()
    })
  }

  it('gives a server that ends every watch at once time to recover', async () => {
    const cluster = testCluster([])
    script(cluster, [
      refusal,
      list(7),
      response => {
        response.head(200)
        response.end()
      },
    ])
    const { watch } = watchPods(cluster.client)
    await cluster.clock.advance(60_000)
    assert.ok(cluster.requests().length < 15, `${cluster.requests().length} requests`)
    watch.stop()
  })

  it('lists where a stream does not say when all objects were told', async () => {
    const cluster = testCluster([])
    script(cluster, [events(event('ADDED', item('a', 5))), list(7, item('a', 5)), events()])
    const { watch, told } = watchPods(cluster.client)
    await cluster.clock.advance(30_000)
    assert.deepEqual(told(), ['+a', 'synced'])
    watch.stop()
  })

  it('asks for watches of 5 to 10 minutes, and does the same each time on the virtual clock', async () => {
    async function run(): Promise<string[]> {
      const cluster = testCluster([pod('a')])
      const { watch } = watchPods(cluster.client)
      await cluster.clock.advance(0)
      cluster.api.setFaults({ watches: 'drop' })
      await cluster.clock.advance(120_000)
      watch.stop()
      return cluster.host.network.requests.map(({ url }) => url)
    }
    const urls = await run()
    const timeouts = urls.flatMap(url => /watch=1.*timeoutSeconds=(\d+)/.exec(url)?.[1] ?? []).map(Number)
    assert.ok(timeouts.length > 5 && timeouts.every(seconds => seconds >= 300 && seconds <= 600))
    assert.ok(new Set(timeouts).size > 3)
    assert.deepEqual(await run(), urls)
  })
})

describe('a watch of a kind', () => {
  const READ_NODES: PolicyRule = { apiGroups: [''], resources: ['nodes'], verbs: ['list', 'watch'] }

  for (const streamingLists of [false, true]) {
    it(`that may not be read says once which rule is missing, ${streamingLists ? 'with' : 'without'} streaming lists`, async () => {
      const allow = [READ_NODES]
      const cluster = testCluster([pod('a'), object('v1', 'Node', 'n')], { allow, streamingLists })
      const pods = watchPods(cluster.client)
      const nodes = watchPods(cluster.client, { resource: 'nodes' })
      await cluster.clock.advance(0)
      assert.deepEqual([pods.told(), pods.watch.state()], [['forbidden'], 'forbidden'])
      assert.deepEqual(nodes.told(), ['+n', 'synced'])
      const before = cluster.requests().length
      await cluster.clock.advance(1_800_000)
      const message =
        'failing pods: "gpucol" may not watch pods: its ClusterRole needs the rule { apiGroups: [""], resources: ["pods"], verbs: ["list", "watch"] }'
      assert.deepEqual(cluster.host.logged, [message])
      const asked = cluster.host.network.requests.slice(before).filter(({ url }) => url.includes('/pods')).length
      assert.ok(asked >= 5 && asked <= 15, `${asked} requests`)
      // When it is allowed, it is noticed.
      allow.push({ apiGroups: [''], resources: ['pods'], verbs: ['*'] })
      await cluster.clock.advance(400_000)
      assert.deepEqual(pods.told(), ['+a', 'synced'])
      assert.deepEqual(cluster.host.logged.slice(1), ['ok pods'])
      pods.watch.stop()
      nodes.watch.stop()
    })
  }

  it('that is no longer allowed keeps what is known', async () => {
    const deny: PolicyRule[] = []
    const { client, clock, api, store } = testCluster([pod('a')], { deny })
    const { watch, told } = watchPods(client, { namespace: 'default' })
    await clock.advance(0)
    deny.push({ apiGroups: [''], resources: ['pods'], verbs: ['watch'] })
    api.setFaults({ watches: 'drop' })
    api.setFaults({})
    store.apply([{ type: 'ADDED', object: pod('b') }])
    await clock.advance(60_000)
    assert.deepEqual(told(), ['+a', 'synced', 'forbidden'])
    assert.equal(watch.size, 1)
    deny.pop()
    await clock.advance(100_000)
    assert.deepEqual([told(), watch.state()], [['+b'], 'synced'])
    watch.stop()
  })

  it('that a server refuses while it reads its own roles is not taken for forbidden', async () => {
    const deny: PolicyRule[] = []
    const { client, clock, api, store, host } = testCluster([pod('a')], { deny })
    const { watch, told } = watchPods(client)
    await clock.advance(0)
    deny.push({ apiGroups: ['*'], resources: ['*'], verbs: ['*'] })
    api.setFaults({ watches: 'drop' })
    api.setFaults({})
    store.apply([{ type: 'ADDED', object: pod('b') }])
    await clock.advance(3000)
    deny.pop()
    await clock.advance(5000)
    assert.deepEqual([told(), watch.state()], [['+a', 'synced', '+b'], 'synced'])
    assert.deepEqual(host.logged, [])
    watch.stop()
  })

  it('in a group and a namespace names both in the rule that is missing', async () => {
    const allow: PolicyRule[] = []
    const { client, clock, host } = testCluster([object('run.ai/v1', 'Project', 'p', 'x')], { allow })
    const { watch } = watchPods(client, { group: 'run.ai', resource: 'projects', namespace: 'x' })
    await clock.advance(0)
    assert.deepEqual(host.logged, [
      'failing projects.run.ai in namespace "x": "gpucol" may not watch projects.run.ai in namespace "x": its Role needs the rule { apiGroups: ["run.ai"], resources: ["projects"], verbs: ["list", "watch"] }',
    ])
    watch.stop()
  })

  it('that is not there is looked for at intervals, without a word', async () => {
    const { client, clock, host, store, requests } = testCluster([])
    const { watch, told } = watchPods(client, { group: 'run.ai', resource: 'projects', version: 'v1' })
    await clock.advance(0)
    assert.deepEqual([told(), watch.state()], [['missing'], 'missing'])
    await clock.advance(1_800_000)
    assert.ok(requests().length > 20 && requests().length < 50, `${requests().length} requests`)
    store.apply([{ type: 'ADDED', object: object('run.ai/v1', 'Project', 'p', 'x') }])
    await clock.advance(75_000)
    assert.deepEqual(told(), ['+p', 'synced'])
    assert.deepEqual(host.logged, [])
    watch.stop()
  })

  it('that is gone for good loses its objects, and only then', async () => {
    const cluster = testCluster([])
    const answers = [refusal, list(7, item('a', 7)), status(404), refusal, list(8, item('a', 7)), status(404)]
    script(cluster, answers)
    const { watch, told } = watchPods(cluster.client)
    await cluster.clock.advance(0)
    assert.deepEqual(told(), ['+a', 'synced'])
    // The server was only starting.
    await cluster.clock.advance(12_000)
    assert.deepEqual(told(), ['synced'])
    await cluster.clock.advance(30_000)
    assert.deepEqual(told(), ['-a', 'missing'])
    watch.stop()
  })

  it('can be watched by its metadata only, in one namespace, by selectors', async () => {
    const objects = [
      pod('a', { labels: { app: 'x' }, node: 'n', phase: 'Running' }),
      pod('b', { labels: { app: 'y' }, node: 'n' }),
      pod('c', { labels: { app: 'x' }, node: 'm' }),
      pod('d', { labels: { app: 'x' }, node: 'n', namespace: 'other' }),
    ]
    for (const streamingLists of [false, true]) {
      const { client, clock, store } = testCluster(objects, { streamingLists })
      const kinds = new Set<unknown>()
      const { watch, told } = watchPods(client, {
        namespace: 'default',
        labelSelector: 'app=x',
        fieldSelector: 'spec.nodeName=n',
        metadataOnly: true,
        keep(one) {
          kinds.add(one.kind)
          return keepPod(one)
        },
      })
      await clock.advance(0)
      store.apply([{ type: 'MODIFIED', object: pod('a', { labels: { app: 'x' }, node: 'n', phase: 'Failed' }) }])
      await clock.advance(0)
      assert.deepEqual(told(), ['+a', 'synced', '~a >'])
      assert.deepEqual([...kinds], ['PartialObjectMetadata'])
      watch.stop()
    }
  })

  it('does not report what makes no difference, nor what is of no interest', async () => {
    const { client, clock, store } = testCluster([pod('a', { phase: 'Running' }), pod('b', { phase: 'Failed' })])
    const { watch, told } = watchPods(client, {
      keep: one => (keepPod(one).phase === 'Failed' ? undefined : keepPod(one)),
      isSame: (kept, before) => kept.phase === before.phase,
    })
    await clock.advance(0)
    for (const [phase, labels] of [
      ['Running', { heartbeat: '1' }],
      ['Succeeded', {}],
      ['Failed', {}],
      ['Failed', { heartbeat: '2' }],
      ['Running', {}],
    ] as const) {
      store.apply([{ type: 'MODIFIED', object: pod('a', { phase, labels }) }])
      await clock.advance(0)
    }
    assert.deepEqual(told(), ['+a', 'synced', '~a Running>Succeeded', '-a', '+a'])
    watch.stop()
  })

  it('goes on when who listens makes a mistake', async () => {
    const { client, clock, store, host } = testCluster([pod('a')])
    const { watch, names } = watchPods(client, {
      keep: one => (one.metadata.name === 'a' ? (null as never) : keepPod(one)),
    })
    await clock.advance(0)
    store.apply([{ type: 'ADDED', object: pod('b') }])
    await clock.advance(0)
    assert.deepEqual(names(), ['b'])
    assert.deepEqual(
      host.logged.map(line => line.split(' error=')[0]),
      ['error: pods: a change was not taken in'],
    )
    watch.stop()
  })
})
