import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createPush, type Push, type PushParts } from '../../../exporters/delivery/push.ts'
import type { QueueStore, Storage } from '../../../pipeline/component.ts'
import { openDatabase } from '../../../pipeline/storage/sqlite.ts'
import { openStorage, type OpenStorage } from '../../../pipeline/storage/storage.ts'
import { trackStorage } from '../../../pipeline/storage/tracked-storage.ts'
import {
  accept,
  answerWith,
  numberParts,
  points,
  PUSH_URL,
  pushConfig,
  serveNumbers,
  stopPush,
  type Destination,
  type NumberOptions,
} from '../../support/pushing.ts'
import { testHost, type TestHost } from '../../support/test-host.ts'

const retry_on_failure = { initial_interval: '1s', max_interval: '10s' }

describe('delivery from disk', () => {
  let directory: string
  const opened: OpenStorage[] = []

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'gpucol-delivery-'))
  })
  afterEach(async () => {
    await Promise.all(opened.splice(0).map(storage => storage.close()))
    await rm(directory, { recursive: true })
  })

  type Process = { host: TestHost; destination: Destination; push: Push }

  /** A process of its own, as far as the store is concerned: it starts and ends, the directory stays. */
  async function begin(
    given: object = {},
    options: NumberOptions = {},
    changed: (queue: QueueStore) => QueueStore = queue => queue,
    parts: Partial<PushParts> = {},
  ): Promise<Process> {
    const plain = testHost() as TestHost
    const storage = await openStorage(directory, plain.log, plain.clock)
    opened.push(storage)
    const tracked = trackStorage(storage, plain.clock)
    const own: Storage = { ...tracked, queue: async (...its) => changed(await tracked.queue(...its)) }
    const host: TestHost = { ...plain, storage: own }
    const destination = serveNumbers(host)
    const push = createPush(host, pushConfig({ retry_on_failure, ...given }), {
      ...numberParts(options),
      ...parts,
    })
    await push.start()
    return { host, destination, push }
  }

  async function end({ host, push }: Process, withinMs = 1000): Promise<void> {
    await stopPush(host, push, withinMs)
    await opened.pop()!.close()
  }

  const queued = ({ host }: Process): Record<string, number> =>
    Object.fromEntries(host.observed('gpucol_exporter_queued_metric_points'))
  const down: Destination['answer'] = (_, response) => answerWith(response, 503)
  const up: Destination['answer'] = (_, response) => accept(response)

  it('has what was accepted on disk within a second, however long points are collected', async () => {
    const process = await begin({ sending_queue: { batch: { flush_timeout: '1m' } } })
    process.destination.answer = down
    process.push.consume(points(5))
    assert.deepEqual(queued(process), { '{storage="disk"}': 0, '{storage="memory"}': 5 })
    await process.host.clock.advance(1000)
    assert.deepEqual(queued(process), { '{storage="disk"}': 5, '{storage="memory"}': 0 })
    process.destination.answer = up
    await process.host.clock.advance(60_000)
    assert.deepEqual(queued(process), { '{storage="disk"}': 0, '{storage="memory"}': 0 })
    await end(process)
  })

  it('sends after a restart what was not sent before, oldest first', async () => {
    const first = await begin({}, { maxPoints: 2, shards: 1 })
    first.destination.answer = down
    const batch = points(20)
    first.push.consume(batch)
    await first.host.clock.advance(60_000)
    await end(first)
    assert.deepEqual(
      first.host.logged.filter(line => line.startsWith('error')),
      [],
    )
    const second = await begin({}, { maxPoints: 2, shards: 1 })
    assert.deepEqual(second.destination.taken, [])
    const fresh = points(2)
    second.push.consume(fresh)
    await second.host.clock.advance(1000)
    assert.deepEqual(second.destination.taken, [...batch.values, ...fresh.values])
    assert.equal(second.host.counted.get('gpucol_exporter_sent_metric_points'), 22)
    await end(second)
    const third = await begin()
    await third.host.clock.advance(1000)
    assert.deepEqual(third.destination.taken, [])
    await end(third)
  })

  it('gives the next exporter of the id its queue at a reload, whatever else has changed', async () => {
    const process = await begin({}, { maxPoints: 2 })
    const { host, destination, push } = process
    destination.answer = down
    const batch = points(10)
    push.consume(batch)
    await host.clock.advance(60_000)
    const next = createPush(host, pushConfig({ timeout: '1s' }), numberParts({ maxPoints: 100 }))
    const meanwhile = points(3)
    next.consume(meanwhile)
    await stopPush(host, push, 2000)
    destination.answer = up
    await next.start()
    await host.clock.advance(10_000)
    assert.deepEqual(
      destination.taken.toSorted((a, b) => a - b),
      [...batch.values, ...meanwhile.values],
    )
    await end({ ...process, push: next })
  })

  it('does not wait for a dead destination when it stops: everything is safe', async () => {
    const process = await begin({}, { maxPoints: 1 })
    process.host.network.answer(PUSH_URL, { error: 'refused' })
    process.push.consume(points(20))
    await process.host.clock.advance(1000)
    assert.equal(process.host.observed('gpucol_exporter_circuit_open').get(''), 1)
    let isStopped = false
    void process.push.stop(process.host.clock.monotonic() + 30_000).then(() => (isStopped = true))
    await process.host.clock.advance(1)
    assert.equal(isStopped, true)
    await end(process)
  })

  it('counts what it sends again because it was being sent when the process ended', async () => {
    const first = await begin({ timeout: '10m' }, { maxPoints: 3 })
    const silent = new Set<number>()
    first.destination.answer = numbers => {
      for (const number of numbers) silent.add(number)
    }
    first.push.consume(points(3))
    await first.host.clock.advance(1000)
    assert.equal(silent.size, 3)
    // Nobody stops the exporter: the process is gone, and so is its lock.
    await opened.pop()!.close()
    const second = await begin()
    await second.host.clock.advance(1000)
    assert.deepEqual(second.destination.taken, [...silent])
    assert.equal(second.host.counted.get('gpucol_exporter_possible_repeat_metric_points'), 3)
    await end(second)
  })

  it('does not count what never arrived, although it was tried before the process ended', async () => {
    const first = await begin({}, { maxPoints: 3 })
    first.host.network.answer(PUSH_URL, { error: 'refused' })
    first.push.consume(points(3))
    await first.host.clock.advance(60_000)
    await end(first)
    const second = await begin()
    await second.host.clock.advance(1000)
    assert.equal(second.destination.taken.length, 3)
    assert.equal(second.host.counted.get('gpucol_exporter_possible_repeat_metric_points'), undefined)
    await end(second)
  })

  it('keeps few bodies in memory, and reads them again when it sends them', async () => {
    let reads = 0
    const padding = Buffer.alloc(2 ** 20, ' ')
    const process = await begin(
      {},
      { maxPoints: 1 },
      queue => ({
        ...queue,
        read: id => {
          reads++
          return queue.read(id)
        },
      }),
      { compress: body => Buffer.concat([body, padding]) },
    )
    const { host, destination, push } = process
    destination.answer = down
    const batch = points(40)
    push.consume(batch)
    await host.clock.advance(60_000)
    destination.answer = up
    reads = 0
    await host.clock.advance(20_000)
    assert.deepEqual(
      destination.taken.toSorted((a, b) => a - b),
      [...batch.values],
    )
    // Sixteen of them are in memory, one megabyte each and a little.
    assert.ok(reads >= 25, `${reads}`)
    await end(process)
  })

  it('drops what is oldest on disk, too, when too much waits', async () => {
    const first = await begin({ sending_queue: { max_requests: 10, num_consumers: 1 } }, { maxPoints: 1, shards: 1 })
    first.destination.answer = down
    const batch = points(50)
    first.push.consume(batch)
    await first.host.clock.advance(1000)
    assert.deepEqual(queued(first), { '{storage="disk"}': 10, '{storage="memory"}': 0 })
    assert.equal(first.host.counted.get('gpucol_exporter_enqueue_failed_metric_points'), 40)
    await end(first)
    const second = await begin()
    await second.host.clock.advance(1000)
    // The first was under way.
    assert.deepEqual(second.destination.taken, [batch.values[0], ...batch.values.slice(41)])
    await end(second)
  })

  describe('when the disk takes nothing', () => {
    const full = new Error('no room left for the queue in /var/lib/gpucol')

    it('waits in memory, says so once, and is on disk when there is room again', async () => {
      let isFull = true
      const process = await begin({}, { maxPoints: 2 }, queue => ({
        ...queue,
        write: changes => (isFull ? Promise.reject(full) : queue.write(changes)),
      }))
      const { host, destination, push } = process
      destination.answer = down
      push.consume(points(10))
      await host.clock.advance(60_000)
      assert.deepEqual(queued(process), { '{storage="disk"}': 0, '{storage="memory"}': 10 })
      const lines = (): string[] => host.logged.filter(line => line.includes('the queue on disk'))
      assert.deepEqual(lines(), [`failing the queue on disk: ${full.message}; what is new waits in memory`])
      isFull = false
      await host.clock.advance(10_000)
      assert.deepEqual(queued(process), { '{storage="disk"}': 10, '{storage="memory"}': 0 })
      assert.deepEqual(lines().slice(1), ['ok the queue on disk'])
      await end(process)
    })

    it('sends from memory what it cannot write, and what it cannot delete only once', async () => {
      let isFull = false
      const process = await begin({}, { maxPoints: 2 }, queue => ({
        ...queue,
        write: changes => (isFull ? Promise.reject(full) : queue.write(changes)),
      }))
      const { host, destination, push } = process
      destination.answer = down
      const before = points(4)
      push.consume(before)
      await host.clock.advance(2000)
      isFull = true
      const after = points(4)
      push.consume(after)
      await host.clock.advance(2000)
      destination.answer = up
      await host.clock.advance(60_000)
      assert.deepEqual(
        destination.taken.toSorted((a, b) => a - b),
        [...before.values, ...after.values],
      )
      isFull = false
      await host.clock.advance(10_000)
      await end(process)
      const next = await begin()
      await next.host.clock.advance(1000)
      assert.deepEqual(next.destination.taken, [])
      await end(next)
    })

    it('makes room for what is new by what is oldest, and never fills memory', async () => {
      const padding = Buffer.alloc(8 * 2 ** 20, ' ')
      const process = await begin(
        { sending_queue: { max_bytes: '10GiB', num_consumers: 1 } },
        { maxPoints: 1 },
        queue => ({ ...queue, write: () => Promise.reject(full) }),
        { compress: body => Buffer.concat([body, padding]) },
      )
      const { host, destination, push } = process
      destination.answer = down
      const batch = points(30)
      push.consume(batch)
      await host.clock.advance(10_000)
      assert.ok(host.observed('gpucol_exporter_queue_bytes').get('')! <= 130 * 2 ** 20)
      const dropped = host.counted.get('gpucol_exporter_enqueue_failed_metric_points')!
      assert.ok(dropped > 0)
      destination.answer = up
      await host.clock.advance(60_000)
      assert.equal(new Set(destination.taken).size, 30 - dropped)
      assert.ok(destination.taken.includes(batch.values.at(-1)!))
      await stopPush(host, push, 1000)
      await opened.pop()!.close()
    })
  })

  it('counts what the disk does not give back as it was, and sends the rest', async () => {
    const first = await begin({}, { maxPoints: 2, shards: 1 })
    first.destination.answer = down
    const batch = points(6)
    first.push.consume(batch)
    await first.host.clock.advance(60_000)
    await end(first)
    const database = openDatabase(join(directory, 'queue.db'))
    database.exec("UPDATE requests SET body = x'31' WHERE id = (SELECT min(id) + 1 FROM requests)")
    database.close()
    const second = await begin({}, { maxPoints: 2, shards: 1 })
    await second.host.clock.advance(10_000)
    assert.deepEqual(second.destination.taken, [...batch.values.slice(0, 2), ...batch.values.slice(4)])
    assert.equal(second.host.counted.get('gpucol_exporter_send_failed_metric_points{reason="damaged"}'), 2)
    await end(second)
  })
})
