/** Everything that was accepted arrives, whatever a destination does for an hour, and shards keep their order. */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { ResponseWriter } from '../../../pipeline/http/virtual-network.ts'
import { accept, answerWith, points, startPush, stopPush } from '../../support/pushing.ts'
import type { TestHost } from '../../support/test-host.ts'

/** All ways to fail that a destination has. Some of them take the points before they fail. */
const failures: Readonly<Record<string, (response: ResponseWriter, host: TestHost) => void>> = {
  'refuses the connection': response => response.fail(new Error('connection refused by destination.test:80')),
  'resets the connection': response => response.fail(new Error('connection reset by destination.test:80')),
  'does not answer': () => {},
  'begins an answer and never ends it': response => {
    response.head(200)
    response.chunk('half of')
  },
  'breaks an answer off': response => {
    response.head(200)
    response.chunk('half of')
    response.fail(new Error('destination.test:80 closed the connection before its answer was complete'))
  },
  'answers after the timeout': (response, host) => void host.clock.after(60_000, () => accept(response)),
  'is slow': (response, host) => void host.clock.after(4000, () => accept(response)),
  'answers 429': response => answerWith(response, 429),
  'answers 429 with Retry-After': response => answerWith(response, 429, { 'Retry-After': '20' }),
  'answers 503': response => answerWith(response, 503),
  'answers 503 with a date': (response, host) =>
    answerWith(response, 503, { 'Retry-After': new Date(host.clock.now() + 15_000).toUTCString() }),
  'answers 503 with nonsense': response => answerWith(response, 503, { 'Retry-After': 'soon' }),
  'answers 500': response => answerWith(response, 500),
  'answers 502': response => answerWith(response, 502, {}, '<html>bad gateway</html>'),
  'answers 504': response => answerWith(response, 504),
}

const given = { timeout: '5s', retry_on_failure: { initial_interval: '1s', max_interval: '10s' } }

describe('an hour of failures', () => {
  for (const [failure, fail] of Object.entries(failures)) {
    it(`loses nothing: a destination that ${failure}`, async () => {
      await survive((response, host) => fail(response, host))
    })
  }

  it('loses nothing: a destination that fails in all of these ways by turns, and works in between', async () => {
    const ways = [...Object.values(failures), accept]
    let turn = 0
    await survive((response, host) => ways[(turn = (turn * 7 + 3) % ways.length)]!(response, host))
  })

  async function survive(fail: (response: ResponseWriter, host: TestHost) => void): Promise<void> {
    const { host, push, destination } = await startPush(given, { maxPoints: 10 })
    destination.answer = (_, response) => fail(response, host)
    const accepted: number[] = []
    for (let minute = 0; minute < 60; minute++) {
      const batch = points(25)
      accepted.push(...batch.values)
      push.consume(batch)
      await host.clock.advance(60_000)
    }
    destination.answer = (_, response) => accept(response)
    await host.clock.advance(600_000)
    const arrived = new Set(destination.taken)
    assert.deepEqual(
      accepted.filter(number => !arrived.has(number)),
      [],
    )
    assert.equal(host.counted.get('gpucol_exporter_sent_metric_points'), accepted.length)
    assert.equal(host.counted.get('gpucol_exporter_send_failed_metric_points'), undefined)
    assert.equal(host.counted.get('gpucol_exporter_enqueue_failed_metric_points'), undefined)
    const repeats = destination.taken.length - arrived.size
    assert.ok(
      repeats <= (host.counted.get('gpucol_exporter_possible_repeat_metric_points') ?? 0),
      'repeats are counted',
    )
    assert.equal(host.observed('gpucol_exporter_queue_size').get(''), 0)
    await stopPush(host, push)
  }
})

describe('shards', () => {
  it('are sent oldest first, one request at a time, whatever the destination does', async () => {
    const outcomes = [...Object.values(failures), accept, accept, accept]
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.nat(outcomes.length - 1), { minLength: 5, maxLength: 60 }),
        fc.integer({ min: 1, max: 5 }),
        fc.integer({ min: 1, max: 12 }),
        fc.array(fc.tuple(fc.integer({ min: 1, max: 30 }), fc.nat(20_000)), { minLength: 1, maxLength: 12 }),
        async (script, shards, consumers, batches) => {
          const { host, push, destination } = await startPush(
            { ...given, sending_queue: { num_consumers: consumers } },
            { maxPoints: 3, shards },
          )
          const underWay = new Map<number, number>()
          /** The first number of each request, repeated ones included. */
          const asked: number[] = []
          destination.answer = ([number], response) => {
            const shard = number! % shards
            // Of what the client gave up nothing counts any more.
            underWay.set(shard, (underWay.get(shard) ?? 0) + 1)
            assert.equal(underWay.get(shard), 1)
            const done = (): void => void underWay.set(shard, 0)
            response.onCancel(done)
            const watched: ResponseWriter = {
              ...response,
              end() {
                done()
                response.end()
              },
            }
            asked.push(number!)
            const outcome = outcomes[script[asked.length - 1] ?? outcomes.length - 1]!
            outcome(watched, host)
          }
          const accepted: number[] = []
          for (const [count, pauseMs] of batches) {
            const batch = points(count)
            accepted.push(...batch.values)
            push.consume(batch)
            await host.clock.advance(pauseMs)
          }
          await host.clock.advance(3_600_000)
          for (let shard = 0; shard < shards; shard++) {
            const its = asked.filter(number => number % shards === shard)
            assert.deepEqual(
              its,
              its.toSorted((a, b) => a - b),
              'nothing is sent before what is older was taken',
            )
            assert.deepEqual(
              [...new Set(destination.taken.filter(number => number % shards === shard))].sort((a, b) => a - b),
              accepted.filter(number => number % shards === shard),
            )
          }
          await stopPush(host, push)
        },
      ),
      { numRuns: 60 },
    )
  }).timeout(60_000)
})
