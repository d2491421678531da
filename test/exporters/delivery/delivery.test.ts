import assert from 'node:assert/strict'
import {
  accept,
  answerWith,
  numberParts,
  numbersIn,
  points,
  PUSH_URL,
  pushConfig,
  serveNumbers,
  startPush,
  stopPush,
  type Destination,
} from '../../support/pushing.ts'
import { createPush } from '../../../exporters/delivery/push.ts'
import { testHost, type TestHost } from '../../support/test-host.ts'

/** No chance: each delay is exactly what it is. */
const exact = { initial_interval: '5s', max_interval: '30s', randomization_factor: 0 }

describe('delivery', () => {
  /** The moments, in milliseconds since the start, at which requests came. */
  function arrivals(host: TestHost, destination: Destination, answer: Destination['answer']): number[] {
    const times: number[] = []
    const startMs = host.clock.monotonic()
    destination.answer = (numbers, response) => {
      times.push(host.clock.monotonic() - startMs)
      answer(numbers, response)
    }
    return times
  }

  it('sends again what is not taken now, ever later', async () => {
    const { host, push, destination } = await startPush({ retry_on_failure: exact })
    const times = arrivals(host, destination, (_, response) => answerWith(response, 503))
    push.consume(points(1))
    await host.clock.advance(60_000)
    // 5 s, and one and a half times as long each time.
    assert.deepEqual(times, [200, 5200, 12_700, 23_950, 40_825, 45_825, 53_325])
    await stopPush(host, push)
  })

  it('spreads repetitions by chance', async () => {
    const { host, push, destination } = await startPush({ retry_on_failure: { initial_interval: '10s' } })
    const times = arrivals(host, destination, (_, response) => answerWith(response, 503))
    push.consume(points(1))
    await host.clock.advance(15_200)
    assert.ok(times.length >= 2)
    const delayMs = times[1]! - times[0]!
    assert.ok(delayMs >= 5000 && delayMs <= 15_000 && delayMs !== 10_000, `${delayMs}`)
    await stopPush(host, push)
  })

  const waits = {
    seconds: () => '90',
    'a date': (host: TestHost) => new Date(host.clock.now() + 90_000).toUTCString(),
  }
  for (const [kind, header] of Object.entries(waits)) {
    it(`waits as long as the destination asks for in ${kind}`, async () => {
      const { host, push, destination } = await startPush({ retry_on_failure: exact }, { maxPoints: 1 })
      const times = arrivals(host, destination, (_, response) => {
        if (times.length === 1) answerWith(response, 429, { 'Retry-After': header(host) })
        else accept(response)
      })
      push.consume(points(1))
      await host.clock.advance(1000)
      push.consume(points(1))
      await host.clock.advance(88_000)
      assert.equal(times.length, 1, 'not even something new is sent before')
      await host.clock.advance(3000)
      assert.equal(times.length, 3)
      await stopPush(host, push)
    })
  }

  it('leaves a destination alone for as long as it asked, also when another request gets through', async () => {
    const { host, push, destination } = await startPush({ sending_queue: { num_consumers: 2 } }, { maxPoints: 1 })
    const times = arrivals(host, destination, (_, response) => {
      if (times.length === 1) answerWith(response, 429, { 'Retry-After': '60' })
      else host.clock.after(1000, () => accept(response))
    })
    push.consume(points(5))
    await host.clock.advance(59_000)
    assert.equal(times.length, 2)
    await host.clock.advance(10_000)
    assert.equal(destination.taken.length, 5)
    await stopPush(host, push)
  })

  it('drops what the destination will never take, counts it, and says why once', async () => {
    const { host, push, destination } = await startPush({}, { maxPoints: 2 })
    destination.answer = (_, response) => answerWith(response, 400, {}, 'bad name')
    push.consume(points(6))
    await host.clock.advance(60_000)
    assert.equal(host.network.requests.length, 3)
    assert.equal(host.counted.get('gpucol_exporter_send_failed_metric_points{reason="refused"}'), 6)
    assert.equal(host.counted.get('gpucol_exporter_sent_metric_points'), undefined)
    assert.deepEqual(host.logged, ['error: points are lost: answered 400: bad name points=2'])
    await stopPush(host, push)
  })

  it('is shown as failing when a destination refuses one request after the other', async () => {
    const { host, push, destination } = await startPush({}, { maxPoints: 1 })
    destination.answer = (_, response) => answerWith(response, 401)
    push.consume(points(5))
    await host.clock.advance(0)
    assert.equal(host.logged.at(-1), `failing ${PUSH_URL}: answered 401`)
    destination.answer = (_, response) => accept(response)
    push.consume(points(1))
    await host.clock.advance(0)
    assert.equal(host.logged.at(-1), `ok ${PUSH_URL}`)
    await stopPush(host, push)
  })

  it('counts what a partial success leaves out, and shows what the destination says once', async () => {
    const { host, push, destination } = await startPush({}, { maxPoints: 5 })
    let told = 0
    destination.answer = (_, response) => answerWith(response, 200, {}, `rejected 2: ${++told} out of order`)
    push.consume(points(10))
    await host.clock.advance(0)
    assert.equal(host.counted.get('gpucol_exporter_sent_metric_points'), 6)
    assert.equal(host.counted.get('gpucol_exporter_rejected_metric_points'), 4)
    assert.deepEqual(host.logged, [`warn: ${PUSH_URL} rejected points: 1 out of order points=2`])
    await stopPush(host, push)
  })

  it('gives up after max_elapsed_time', async () => {
    const { host, push, destination } = await startPush({ retry_on_failure: { ...exact, max_elapsed_time: '20s' } })
    const times = arrivals(host, destination, (_, response) => answerWith(response, 503))
    push.consume(points(4))
    await host.clock.advance(600_000)
    assert.deepEqual(times, [200, 5200, 12_700])
    assert.equal(host.counted.get('gpucol_exporter_send_failed_metric_points{reason="gave_up"}'), 4)
    assert.equal(host.observed('gpucol_exporter_queue_size').get(''), 0)
    await stopPush(host, push)
  })

  it('gives up at once where it may not try again', async () => {
    const { host, push, destination } = await startPush({ retry_on_failure: { enabled: false } })
    destination.answer = (_, response) => answerWith(response, 503)
    push.consume(points(4))
    await host.clock.advance(600_000)
    assert.equal(host.network.requests.length, 1)
    assert.equal(host.counted.get('gpucol_exporter_send_failed_metric_points{reason="gave_up"}'), 4)
    await stopPush(host, push)
  })

  it('counts what it sends again although it may have arrived, and nothing else', async () => {
    const { host, push, destination } = await startPush({ retry_on_failure: exact, timeout: '3s' }, { maxPoints: 7 })
    const answers: Destination['answer'][] = [
      (_, response) => answerWith(response, 503),
      (_, response) => response.fail(new Error('connection reset by destination.test:80')),
      // No answer at all.
      () => {},
    ]
    destination.answer = (numbers, response) => (answers.shift() ?? ((_, its) => accept(its)))(numbers, response)
    push.consume(points(7))
    await host.clock.advance(6000)
    assert.equal(host.counted.get('gpucol_exporter_possible_repeat_metric_points'), undefined)
    await host.clock.advance(60_000)
    // Once after the reset, once after the silence.
    assert.equal(host.counted.get('gpucol_exporter_possible_repeat_metric_points'), 14)
    assert.equal(host.counted.get('gpucol_exporter_retries'), 3)
    assert.equal(host.counted.get('gpucol_exporter_sent_metric_points'), 7)
    assert.deepEqual(host.logged, [`failing ${PUSH_URL}: answered 503`, `ok ${PUSH_URL}`])
    await stopPush(host, push)
  })

  it('does not count a repetition where nothing was connected', async () => {
    const { host, push } = await startPush({ retry_on_failure: exact })
    host.network.answer(PUSH_URL, { error: 'refused' })
    push.consume(points(7))
    await host.clock.advance(20_000)
    assert.ok(host.counted.get('gpucol_exporter_retries')! > 2)
    assert.equal(host.counted.get('gpucol_exporter_possible_repeat_metric_points'), undefined)
    await stopPush(host, push)
  })

  it('has as many requests under way as there are consumers', async () => {
    const { host, push, destination } = await startPush({ sending_queue: { num_consumers: 3 } }, { maxPoints: 1 })
    let underWay = 0
    let most = 0
    destination.answer = (_, response) => {
      most = Math.max(most, ++underWay)
      host.clock.after(1000, () => {
        underWay--
        accept(response)
      })
    }
    push.consume(points(9))
    await host.clock.advance(2999)
    assert.equal(host.counted.get('gpucol_exporter_sent_metric_points'), 6)
    await host.clock.advance(1)
    assert.equal(host.counted.get('gpucol_exporter_sent_metric_points'), 9)
    assert.equal(most, 3)
    await stopPush(host, push)
  })

  it('asks a dead destination one request at a time, and goes on at full speed when it is well', async () => {
    const given = { retry_on_failure: exact, timeout: '10s', sending_queue: { num_consumers: 10 } }
    const { host, push, destination } = await startPush(given, { maxPoints: 1 })
    let underWay = 0
    let most = 0
    const times = arrivals(host, destination, (_, response) => {
      most = Math.max(most, ++underWay)
      response.onCancel(() => underWay--)
    })
    push.consume(points(100))
    await host.clock.advance(20_000)
    // The first ten find out; before the fifth of them fails, four others are sent. Then one asks whether it is well.
    assert.equal(times.length, 15)
    assert.deepEqual(host.observed('gpucol_exporter_circuit_open').get(''), 1)
    most = 0
    await host.clock.advance(600_000)
    assert.equal(most, 1)
    assert.ok(times.length < 15 + 20, `${times.length}`)
    destination.answer = (_, response) => accept(response)
    await host.clock.advance(40_000)
    assert.equal(host.counted.get('gpucol_exporter_sent_metric_points'), 100)
    assert.deepEqual(host.observed('gpucol_exporter_circuit_open').get(''), 0)
    await stopPush(host, push)
  })

  it('lets a request that nobody can take hold up no other', async () => {
    const { host, push, destination } = await startPush({ sending_queue: { num_consumers: 2 } }, { maxPoints: 1 })
    const poison = points(1)
    destination.answer = ([number], response) => {
      if (number === poison.values[0]) answerWith(response, 500)
      else accept(response)
    }
    push.consume(poison)
    // The only one there is: the circuit opens.
    await host.clock.advance(600_000)
    const others = points(50)
    for (const value of others.values) {
      push.consume({ ...others, values: Float64Array.of(value) })
      await host.clock.advance(5000)
    }
    await host.clock.advance(60_000)
    assert.deepEqual(
      destination.taken.toSorted((a, b) => a - b),
      [...others.values],
    )
    await stopPush(host, push)
  })

  it('lets a slow destination hold up no other', async () => {
    const host = testHost() as TestHost
    const slowUrl = 'http://slow.test/push'
    serveNumbers(host, slowUrl).answer = () => {}
    const destination = serveNumbers(host)
    const slow = createPush({ ...host, id: 'slow' }, pushConfig(), numberParts({ url: slowUrl, maxPoints: 1 }))
    const quick = createPush({ ...host, id: 'quick' }, pushConfig(), numberParts({ maxPoints: 1 }))
    await slow.start()
    await quick.start()
    const batch = points(100)
    slow.consume(batch)
    quick.consume(batch)
    await host.clock.advance(0)
    assert.deepEqual(destination.taken, [...batch.values])
    await Promise.all([stopPush(host, quick), slow.stop(0)])
  })

  it('drops what is oldest when too many requests wait, and counts it', async () => {
    const { host, push, destination } = await startPush({ sending_queue: { max_requests: 5 } }, { maxPoints: 2 })
    host.network.answer(PUSH_URL, { error: 'refused' })
    const batch = points(40)
    push.consume(batch)
    await host.clock.advance(1000)
    assert.equal(host.observed('gpucol_exporter_queue_size').get(''), 5)
    assert.equal(host.counted.get('gpucol_exporter_enqueue_failed_metric_points'), 30)
    assert.equal(host.logged.filter(line => line.includes('is full')).length, 1)
    host.network.serve(PUSH_URL, ({ body }, response) => {
      destination.taken.push(...numbersIn(Buffer.from(body!).toString()))
      accept(response)
    })
    await stopPush(host, push)
  })

  it('drops what is oldest when too many bytes wait', async () => {
    const { host, push, destination } = await startPush(
      { sending_queue: { max_bytes: '100', num_consumers: 1 } },
      { maxPoints: 1 },
    )
    destination.answer = (_, response) => answerWith(response, 503)
    const batch = points(200)
    push.consume(batch)
    await host.clock.advance(1000)
    assert.ok(host.observed('gpucol_exporter_queue_bytes').get('')! <= 100)
    assert.equal(host.observed('gpucol_exporter_queue_capacity_bytes').get(''), 100)
    destination.answer = (_, response) => accept(response)
    await host.clock.advance(120_000)
    const dropped = host.counted.get('gpucol_exporter_enqueue_failed_metric_points')!
    assert.deepEqual(
      destination.taken.toSorted((a, b) => a - b),
      // The first was under way.
      [batch.values[0], ...batch.values.slice(dropped + 1)],
    )
    await stopPush(host, push)
  })

  it('sends a request that is larger than the queue', async () => {
    const { host, push, destination } = await startPush({ sending_queue: { max_bytes: '3' } })
    const batch = points(20)
    push.consume(batch)
    await host.clock.advance(200)
    assert.deepEqual(destination.taken, [...batch.values])
    await stopPush(host, push)
  })

  it('sends a backlog oldest first, and what is fresh in between', async () => {
    const given = { sending_queue: { num_consumers: 1 }, retry_on_failure: exact }
    const { host, push, destination } = await startPush(given, { maxPoints: 1 })
    destination.answer = (_, response) => answerWith(response, 503)
    const old = points(100)
    push.consume(old)
    await host.clock.advance(60_000)
    destination.answer = (_, response) => void host.clock.after(100, () => accept(response))
    await host.clock.advance(32_000)
    const begun = destination.taken.length
    const fresh = points(1)
    push.consume(fresh)
    await host.clock.advance(1000)
    const since = destination.taken.slice(begun)
    assert.ok(since.slice(0, 3).includes(fresh.values[0]!), 'it does not wait for the backlog')
    await host.clock.advance(60_000)
    assert.equal(new Set(destination.taken).size, 101)
    const early = destination.taken.filter(number => number < old.values[40]!)
    assert.deepEqual(
      early,
      early.toSorted((a, b) => a - b),
      'from the old end they come in order',
    )
    await stopPush(host, push)
  })

  it('gives every shard its turn, where there are fewer consumers than shards', async () => {
    const given = { sending_queue: { num_consumers: 1 } }
    const { host, push, destination } = await startPush(given, { maxPoints: 1, shards: 3 })
    destination.answer = (_, response) => void host.clock.after(1000, () => accept(response))
    push.consume(points(9))
    await host.clock.advance(60_000)
    const shards = destination.taken.map(number => number % 3)
    for (let i = 0; i < 9; i += 3) assert.equal(new Set(shards.slice(i, i + 3)).size, 3, shards.join())
    await stopPush(host, push)
  })

  describe('when it stops', () => {
    it('breaks off at the deadline what is under way', async () => {
      const { host, push, destination } = await startPush({ timeout: '10m' })
      let isCancelled = false
      destination.answer = (_, response) => response.onCancel(() => (isCancelled = true))
      push.consume(points(3))
      const stopped = push.stop(host.clock.monotonic() + 5000)
      await host.clock.advance(4999)
      assert.equal(isCancelled, false)
      await host.clock.advance(1)
      await stopped
      assert.equal(isCancelled, true)
    })

    it('sends what it has, what is still being put together included', async () => {
      const { host, push, destination } = await startPush()
      const batch = points(3)
      push.consume(batch)
      await stopPush(host, push, 1000)
      assert.deepEqual(destination.taken, [...batch.values])
      assert.deepEqual(host.logged, [])
    })

    it('tries again until the deadline, and does not wait longer than it must', async () => {
      const { host, push, destination } = await startPush({ retry_on_failure: { ...exact, initial_interval: '1s' } })
      const batch = points(3)
      push.consume(batch)
      destination.answer = (_, response) => {
        destination.answer = (__, its) => accept(its)
        answerWith(response, 503)
      }
      const startMs = host.clock.monotonic()
      let stoppedMs = 0
      void push.stop(startMs + 10_000).then(() => (stoppedMs = host.clock.monotonic()))
      await host.clock.advance(10_000)
      assert.equal(stoppedMs - startMs, 1000)
      assert.deepEqual(destination.taken, [...batch.values])
    })

    it('says how much is lost, once, when nobody takes the queue over', async () => {
      const { host, push, destination } = await startPush({}, { maxPoints: 2 })
      destination.answer = (_, response) => answerWith(response, 503)
      push.consume(points(9))
      await stopPush(host, push, 5000)
      await host.clock.advance(30_000)
      assert.deepEqual(
        host.logged.filter(line => line.startsWith('error')),
        ['error: points are lost: they were not delivered before the end points=9'],
      )
      assert.equal(host.counted.get('gpucol_exporter_send_failed_metric_points{reason="stopped"}'), 9)
    })

    it('leaves its queue to the next exporter of its id', async () => {
      const { host, push, destination } = await startPush({}, { maxPoints: 2 })
      destination.answer = (_, response) => answerWith(response, 503)
      const before = points(9)
      push.consume(before)
      await host.clock.advance(1000)
      const next = createPush(host, pushConfig(), numberParts())
      const meanwhile = points(2)
      next.consume(meanwhile)
      await stopPush(host, push, 2000)
      destination.answer = (_, response) => accept(response)
      await next.start()
      await host.clock.advance(60_000)
      assert.deepEqual(
        destination.taken.toSorted((a, b) => a - b),
        [...before.values, ...meanwhile.values],
      )
      assert.deepEqual(
        host.logged.filter(line => line.startsWith('error')),
        [],
      )
      await stopPush(host, next)
    })

    it('leaves what it got before it was started', async () => {
      const host = testHost() as TestHost
      const destination = serveNumbers(host)
      const never = createPush(host, pushConfig(), numberParts())
      const batch = points(2)
      never.consume(batch)
      await stopPush(host, never, 1000)
      assert.deepEqual(host.network.requests, [])
      const next = createPush(host, pushConfig(), numberParts())
      await next.start()
      await host.clock.advance(0)
      assert.deepEqual(destination.taken, [...batch.values])
      await stopPush(host, next)
    })

    it('may do so while it still waits for its queue, which is then given back', async () => {
      const plain = testHost() as TestHost
      const asked = Promise.withResolvers<void>()
      let isClosed = false
      const host: TestHost = {
        ...plain,
        storage: {
          ...plain.storage,
          async queue(...its) {
            await asked.promise
            return { ...(await plain.storage.queue(...its)), close: async () => void (isClosed = true) }
          },
        },
      }
      const push = createPush(host, pushConfig(), numberParts())
      const started = push.start()
      await stopPush(host, push, 1000)
      asked.resolve()
      await started
      assert.equal(isClosed, true)
    })

    it('may do so twice, and without having been started', async () => {
      const host = testHost() as TestHost
      const push = createPush(host, pushConfig(), numberParts())
      await push.stop(0)
      await push.stop(0)
    })
  })
})
