import assert from 'node:assert/strict'
import { pod, smallCluster } from './test-api.ts'

const PODS = '/api/v1/pods'

describe('the Kubernetes API', () => {
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
})
