import assert from 'node:assert/strict'
import { watchResource } from '../../../pipeline/kubernetes/watch.ts'
import { collectGarbage } from '../../support/garbage.ts'
import { pod } from '../simulator/kubernetes-api/test-api.ts'
import { keepPod, testCluster, watchPods } from './test-cluster.ts'

for (const streamingLists of [false, true]) {
  describe(`a watch of a server ${streamingLists ? 'with' : 'without'} streaming lists`, () => {
    it('tells what there is, then every change', async () => {
      const { client, clock, store, requests } = testCluster([pod('a', { phase: 'Pending' }), pod('b')], {
        streamingLists,
      })
      const { watch, told } = watchPods(client)
      assert.equal(watch.state(), 'starting')
      await clock.advance(0)
      assert.deepEqual(told(), ['+a', '+b', 'synced'])
      assert.deepEqual([watch.state(), watch.size], ['synced', 2])
      store.apply([
        { type: 'ADDED', object: pod('c') },
        { type: 'MODIFIED', object: pod('a', { phase: 'Running' }) },
        { type: 'DELETED', object: pod('b') },
      ])
      await clock.advance(0)
      assert.deepEqual(told(), ['+c', '~a Pending>Running', '-b'])
      assert.deepEqual(
        Array.from(watch.values(), ({ name }) => name),
        ['a', 'c'],
      )
      assert.deepEqual(requests(), streamingLists ? ['stream'] : ['stream', 'list 500', 'watch 3'])
      watch.stop()
    })

    it('tells an object that is made anew under its name from the one before', async () => {
      const { client, clock, store } = testCluster([pod('a', { uid: 'one' })], { streamingLists })
      const { watch, told } = watchPods(client)
      await clock.advance(0)
      told()
      store.apply([{ type: 'ADDED', object: pod('a', { uid: 'two' }) }])
      await clock.advance(0)
      assert.deepEqual(told(), ['-a', '+a'])
      watch.stop()
    })

    it('goes on from where it was when the connection drops', async () => {
      const { client, clock, store, api, host, requests } = testCluster([pod('a')], { streamingLists })
      const { watch, told } = watchPods(client)
      await clock.advance(0)
      store.apply([{ type: 'ADDED', object: pod('b') }])
      await clock.advance(0)
      told()
      const before = requests().length
      api.setFaults({ watches: 'drop' })
      api.setFaults({})
      store.apply([{ type: 'DELETED', object: pod('a') }])
      await clock.advance(1000)
      assert.deepEqual(told(), ['-a'])
      assert.deepEqual(requests().slice(before), ['watch 3'])
      assert.equal(host.counted.get('gpucol_receiver_kubernetes_watch_restarts{reason="dropped",resource="pods"}'), 1)
      watch.stop()
    })

    it('compares everything when its version is too old, and tells only what is different', async () => {
      const objects = ['a', 'b', 'c'].map(name => pod(name, { phase: 'Running' }))
      const { client, clock, store, api, host } = testCluster(objects, { streamingLists })
      const { watch, told } = watchPods(client)
      await clock.advance(0)
      told()
      api.setFaults({ watches: 'drop' })
      store.apply([
        { type: 'DELETED', object: pod('a') },
        { type: 'ADDED', object: pod('a', { uid: 'another' }) },
        { type: 'MODIFIED', object: pod('b', { phase: 'Failed' }) },
        { type: 'ADDED', object: pod('d') },
      ])
      store.apply([{ type: 'DELETED', object: pod('d') }])
      store.compact()
      api.setFaults({})
      await clock.advance(1000)
      assert.deepEqual(told(), ['-a', '+a', '~b Running>Failed', 'synced'])
      assert.equal(host.counted.get('gpucol_receiver_kubernetes_watch_restarts{reason="expired",resource="pods"}'), 1)
      watch.stop()
    })

    it('does not ask like mad while every version is too old', async () => {
      const { client, clock, api, requests, store } = testCluster([pod('a')], { streamingLists })
      const { watch, told } = watchPods(client)
      await clock.advance(0)
      api.setFaults({ watches: 'expire' })
      api.setFaults({ watches: 'drop' })
      api.setFaults({ watches: 'expire' })
      const before = requests().length
      await clock.advance(60_000)
      assert.ok(requests().length - before < 30, `${requests().length - before} requests`)
      api.setFaults({})
      store.apply([{ type: 'ADDED', object: pod('b') }])
      told()
      await clock.advance(20_000)
      assert.deepEqual(
        told().filter(what => what !== 'synced'),
        ['+b'],
      )
      watch.stop()
    })

    it('begins anew when it hears nothing for too long, and misses nothing', async () => {
      const { client, clock, api, store, host } = testCluster([pod('a')], { streamingLists })
      const { watch, told } = watchPods(client)
      await clock.advance(0)
      told()
      api.setFaults({ watches: 'hang' })
      store.apply([{ type: 'ADDED', object: pod('b') }])
      await clock.advance(90_000)
      assert.deepEqual(told(), [])
      api.setFaults({})
      // From the moment the server is well, everything is right within 30 s.
      await clock.advance(30_000)
      assert.deepEqual(told(), ['+b'])
      const silent = host.counted.get('gpucol_receiver_kubernetes_watch_restarts{reason="silent",resource="pods"}')!
      assert.ok(silent >= 4 && silent <= 6, `${silent} times`)
      watch.stop()
    })

    it('drops half an event at the end of a connection, and hears it again', async () => {
      const { client, clock, api, store, host } = testCluster([pod('a')], { streamingLists })
      const { watch, told } = watchPods(client)
      await clock.advance(0)
      told()
      api.setFaults({ truncate: true })
      store.apply([{ type: 'ADDED', object: pod('b') }])
      await clock.advance(60_000)
      assert.deepEqual(told(), [])
      api.setFaults({})
      await clock.advance(30_000)
      assert.deepEqual(told(), ['+b'])
      assert.equal(host.counted.get('gpucol_receiver_kubernetes_bad_objects'), undefined)
      watch.stop()
    })

    it('begins although the first answers are cut off', async () => {
      const { client, clock, api } = testCluster([pod('a'), pod('b')], { streamingLists })
      api.setFaults({ truncate: true })
      const { watch, told } = watchPods(client)
      await clock.advance(60_000)
      assert.equal(watch.state(), 'starting')
      api.setFaults({})
      await clock.advance(30_000)
      assert.deepEqual(told().slice(-1), ['synced'])
      assert.deepEqual([watch.state(), watch.size], ['synced', 2])
      watch.stop()
    })

    it('begins although the server answers slowly', async () => {
      const { client, clock, api, store } = testCluster([pod('a')], { streamingLists })
      api.setFaults({ delayMs: 35_000 })
      const { watch, told, names } = watchPods(client)
      await clock.advance(300_000)
      assert.ok(told().includes('synced'))
      store.apply([{ type: 'ADDED', object: pod('b') }])
      await clock.advance(120_000)
      assert.deepEqual(names(), ['a', 'b'])
      watch.stop()
    })

    for (const errorStatus of [500, 503, 429]) {
      it(`waits while the server answers ${errorStatus}, and says so once`, async () => {
        const { client, clock, api, host, store, requests } = testCluster([pod('a')], { streamingLists })
        const { watch, told } = watchPods(client)
        await clock.advance(0)
        told()
        api.setFaults({ errorStatus, watches: 'drop' })
        store.apply([{ type: 'ADDED', object: pod('b') }])
        const before = requests().length
        await clock.advance(300_000)
        const asked = requests().length - before
        assert.ok(asked > 10 && asked < 50, `${asked} requests`)
        api.setFaults({})
        await clock.advance(30_000)
        assert.deepEqual(told(), ['+b'])
        assert.deepEqual(
          host.logged.map(line => line.replace(/ \(.*/, '')),
          [
            `failing pods: the Kubernetes API answered ${errorStatus}: the server is currently unable to handle the request`,
            'ok pods',
          ],
        )
        watch.stop()
      })
    }

    it('holds nothing of an object but what is kept', async () => {
      const { client, clock, store } = testCluster([pod('a'), pod('b')], { streamingLists })
      const objects: WeakRef<object>[] = []
      const { watch } = watchPods(client, {
        keep(one) {
          objects.push(new WeakRef(one), new WeakRef(one.metadata))
          return keepPod(one)
        },
      })
      await clock.advance(0)
      store.apply([{ type: 'MODIFIED', object: pod('a', { phase: 'Running' }) }])
      await clock.advance(0)
      await collectGarbage()
      assert.deepEqual(
        objects.map(object => object.deref()),
        Array.from({ length: 6 }),
      )
      assert.equal(watch.size, 2)
      watch.stop()
    })

    it('can be stopped by who listens, in the middle of a list', async () => {
      const { client, clock, api } = testCluster([pod('a'), pod('b'), pod('c')], { streamingLists })
      const told: string[] = []
      const watch = watchResource(
        client,
        { group: '', version: 'v1', resource: 'pods', keep: keepPod },
        {
          added({ name }) {
            told.push(name)
            if (name === 'b') watch.stop()
          },
          changed() {},
          removed() {},
          synced: () => told.push('synced'),
        },
      )
      await clock.advance(60_000)
      assert.deepEqual([told, api.watchCount], [['a', 'b'], 0])
    })

    it('hears nothing after it is stopped', async () => {
      const { client, clock, api, store, host } = testCluster([pod('a')], { streamingLists })
      const { watch, told } = watchPods(client)
      watch.stop()
      await clock.advance(1000)
      const second = watchPods(client)
      await clock.advance(0)
      assert.deepEqual([...host.observed('gpucol_receiver_kubernetes_objects')], [['{resource="pods"}', 1]])
      second.told()
      second.watch.stop()
      second.watch.stop()
      assert.equal(api.watchCount, 0)
      store.apply([{ type: 'ADDED', object: pod('b') }])
      await clock.advance(600_000)
      assert.deepEqual([told(), second.told()], [[], []])
      assert.deepEqual([...host.observed('gpucol_receiver_kubernetes_objects')], [])
    })
  })
}
