import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
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
import { watchStoreWorkers } from '../../support/store-workers.ts'
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

  it('counts likewise what had waited on disk before it was sent', async () => {
    const first = await begin({ timeout: '10m' }, { maxPoints: 3 })
    first.destination.answer = down
    first.push.consume(points(3))
    await first.host.clock.advance(1000)
    const silent = new Set<number>()
    first.destination.answer = numbers => {
      for (const number of numbers) silent.add(number)
    }
    await first.host.clock.advance(60_000)
    assert.equal(silent.size, 3)
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

  it('does not send again what was delivered while it was being written', async () => {
    const first = await begin({}, { maxPoints: 2 }, queue => ({
      ...queue,
      write: async changes => {
        await new Promise<void>(resolve => void first.host.clock.after(5000, resolve))
        await queue.write(changes)
      },
    }))
    first.push.consume(points(2))
    await first.host.clock.advance(2000)
    assert.equal(first.destination.taken.length, 2)
    await first.host.clock.advance(20_000)
    assert.deepEqual(queued(first), { '{storage="disk"}': 0, '{storage="memory"}': 0 })
    await end(first)
    const second = await begin()
    await second.host.clock.advance(1000)
    assert.deepEqual(second.destination.taken, [])
    await end(second)
  })

  it('does not, either, where that could not be written and is written later', async () => {
    let isFirst = true
    const first = await begin({}, { maxPoints: 2 }, queue => ({
      ...queue,
      write: async changes => {
        if (!isFirst) return queue.write(changes)
        isFirst = false
        await new Promise<void>(resolve => void first.host.clock.after(5000, resolve))
        throw new Error('not now')
      },
    }))
    first.push.consume(points(2))
    await first.host.clock.advance(60_000)
    assert.equal(first.destination.taken.length, 2)
    first.destination.answer = down
    const later = points(2)
    first.push.consume(later)
    await first.host.clock.advance(10_000)
    assert.deepEqual(queued(first), { '{storage="disk"}': 2, '{storage="memory"}': 0 })
    await end(first)
    const second = await begin()
    await second.host.clock.advance(1000)
    assert.deepEqual(second.destination.taken, [...later.values])
    await end(second)
  })

  it('counts as sent again what began to be sent while it was being written', async () => {
    const given = { timeout: '10m', sending_queue: { num_consumers: 1 } }
    const first = await begin(given, { maxPoints: 2 }, queue => ({
      ...queue,
      write: async changes => {
        await new Promise<void>(resolve => void first.host.clock.after(5000, resolve))
        await queue.write(changes)
      },
    }))
    const asked: number[][] = []
    first.destination.answer = (numbers, response) => {
      // The second one begins when the first is through, which is while it is being written, and never ends.
      if (asked.push([...numbers]) === 1) first.host.clock.after(7000, () => accept(response))
    }
    first.push.consume(points(4))
    await first.host.clock.advance(60_000)
    assert.equal(asked.length, 2)
    await opened.pop()!.close()
    const second = await begin()
    await second.host.clock.advance(1000)
    assert.deepEqual(second.destination.taken, asked[1])
    assert.equal(second.host.counted.get('gpucol_exporter_possible_repeat_metric_points'), 2)
    await end(second)
  })

  it('tries again to read what the disk does not give at the moment', async () => {
    const before = await begin({}, { maxPoints: 2 })
    before.destination.answer = down
    const batch = points(2)
    before.push.consume(batch)
    await before.host.clock.advance(1000)
    await end(before)
    let isReadable = false
    const process = await begin({}, { maxPoints: 2 }, queue => ({
      ...queue,
      read: id => (isReadable ? queue.read(id) : Promise.reject(new Error('the disk is away'))),
    }))
    await process.host.clock.advance(60_000)
    assert.deepEqual(process.destination.taken, [])
    assert.ok(process.host.logged.includes('failing the queue on disk: the disk is away'))
    isReadable = true
    await process.host.clock.advance(60_000)
    assert.deepEqual(process.destination.taken, [...batch.values])
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

  it('drops what was there before a restart first, in whatever shard it is', async () => {
    const given = { sending_queue: { max_requests: 5, num_consumers: 1 } }
    const first = await begin(given, { maxPoints: 1, shards: 3 })
    first.destination.answer = down
    const before = points(5)
    first.push.consume(before)
    await first.host.clock.advance(1000)
    await end(first)
    const second = await begin(given, { maxPoints: 1, shards: 3 })
    second.destination.answer = down
    await second.host.clock.advance(1000)
    const fresh = points(4)
    second.push.consume(fresh)
    await second.host.clock.advance(1000)
    second.destination.answer = up
    await second.host.clock.advance(60_000)
    assert.deepEqual(
      second.destination.taken.toSorted((a, b) => a - b),
      [before.values.at(-1), ...fresh.values],
    )
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

    it('takes away what was delivered, although nothing new finds room', async () => {
      let isFull = false
      const process = await begin({}, { maxPoints: 2 }, queue => ({
        ...queue,
        write: changes => (isFull && changes.added.length > 0 ? Promise.reject(full) : queue.write(changes)),
      }))
      const { host, destination, push } = process
      destination.answer = down
      const stored = points(2)
      push.consume(stored)
      await host.clock.advance(1000)
      isFull = true
      const lastInMemory = points(2)
      // The older one is delivered while the newer one waits for room.
      destination.answer = ([number], response) => (number === stored.values[0] ? up([], response) : down([], response))
      push.consume(lastInMemory)
      await host.clock.advance(20_000)
      assert.deepEqual(queued(process), { '{storage="disk"}': 0, '{storage="memory"}': 2 })
      await stopPush(host, push, 1000)
      assert.equal(host.counted.get('gpucol_exporter_send_failed_metric_points{reason="stopped"}'), 2)
      await opened.pop()!.close()
      const next = await begin()
      await next.host.clock.advance(1000)
      assert.deepEqual(next.destination.taken, [])
      await end(next)
    })

    it('loses nothing on a volume that is really full, and has the queue on disk again afterwards', async function () {
      try {
        execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=32m', 'tmpfs', directory], { stdio: 'ignore' })
      } catch {
        // Only the administrator may do this.
        this.skip()
      }
      try {
        const padding = Buffer.alloc(2 ** 20, ' ')
        const process = await begin({}, { maxPoints: 1 }, queue => queue, {
          compress: body => Buffer.concat([body, padding]),
        })
        const { host, destination, push } = process
        destination.answer = down
        const batch = points(50)
        push.consume(batch)
        await host.clock.advance(60_000)
        const waiting = queued(process)
        assert.ok(waiting['{storage="disk"}']! > 5 && waiting['{storage="memory"}']! > 5, JSON.stringify(waiting))
        assert.ok(
          host.logged.some(line => line.startsWith('failing the queue on disk: no room left for the queue in ')),
        )
        destination.answer = up
        await host.clock.advance(60_000)
        assert.deepEqual(
          destination.taken.toSorted((a, b) => a - b),
          [...batch.values],
        )
        assert.ok(host.logged.includes('ok the queue on disk'))
        destination.answer = down
        push.consume(points(3))
        await host.clock.advance(1000)
        assert.equal(queued(process)['{storage="disk"}'], 3)
        await end(process)
      } finally {
        execFileSync('umount', ['--lazy', directory])
      }
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
      // 64 MiB, and one that is under way.
      assert.ok(host.observed('gpucol_exporter_queue_bytes').get('')! < 80 * 2 ** 20)
      const dropped = host.counted.get('gpucol_exporter_enqueue_failed_metric_points')!
      assert.ok(dropped > 0)
      destination.answer = up
      await host.clock.advance(60_000)
      assert.equal(new Set(destination.taken).size, 30 - dropped)
      assert.ok(destination.taken.includes(batch.values.at(-1)!))
      await stopPush(host, push, 1000)
      await opened.pop()!.close()
    }).timeout(60_000)

    it('gives up no more of what is on disk than what is new needs, and does not fill memory', async () => {
      // With the number in it 32 MiB at most.
      const padding = Buffer.alloc(32 * 2 ** 20 - 100, ' ')
      let isFull = false
      const process = await begin(
        { sending_queue: { max_bytes: '10GiB', num_consumers: 1 } },
        { maxPoints: 1 },
        // Nothing of all this has to be on a disk.
        queue => ({
          ...queue,
          write: () => (isFull ? Promise.reject(full) : Promise.resolve()),
          read: () => Promise.resolve(Buffer.from('0')),
        }),
        { compress: body => Buffer.concat([body, padding]) },
      )
      const { host, destination, push } = process
      destination.answer = down
      for (let i = 0; i < 12; i++) {
        push.consume(points(1))
        await host.clock.advance(1000)
      }
      assert.deepEqual(queued(process), { '{storage="disk"}': 12, '{storage="memory"}': 0 })
      isFull = true
      for (let i = 0; i < 3; i++) {
        push.consume(points(1))
        await host.clock.advance(1000)
      }
      // One more than 64 MiB: one makes room for it, as soon as the disk lets it go.
      await host.clock.advance(120_000)
      assert.deepEqual(queued(process), { '{storage="disk"}': 11, '{storage="memory"}': 3 })
      for (let i = 0; i < 6; i++) {
        push.consume(points(1))
        await host.clock.advance(1000)
      }
      assert.equal(queued(process)['{storage="memory"}'], 4)
      await stopPush(host, push, 1000)
      await opened.pop()!.close()
    }).timeout(60_000)
  })

  describe('when the thread of the store dies', () => {
    it('sends nothing again that was written although nobody said so', async () => {
      let isDead = false
      const process = await begin({}, { maxPoints: 2 }, queue => ({
        ...queue,
        async write(changes) {
          await queue.write(changes)
          if (isDead) throw new Error('the store failed: its thread ended')
        },
      }))
      const { host, destination, push } = process
      isDead = true
      // One while it is written, the other later.
      push.consume(points(2))
      await host.clock.advance(1000)
      destination.answer = down
      push.consume(points(2))
      await host.clock.advance(1000)
      destination.answer = up
      await host.clock.advance(4000)
      assert.equal(destination.taken.length, 4)
      assert.deepEqual(queued(process), { '{storage="disk"}': 0, '{storage="memory"}': 0 })
      isDead = false
      await host.clock.advance(60_000)
      await end(process)
      const next = await begin()
      await next.host.clock.advance(1000)
      assert.deepEqual(next.destination.taken, [])
      await end(next)
    })

    it('loses nothing, and has nothing on disk that was delivered', async () => {
      const workers = watchStoreWorkers()
      try {
        const process = await begin({}, { maxPoints: 2 })
        const { host, destination, push } = process
        const all: number[] = []
        for (let round = 0; round < 12; round++) {
          destination.answer = round % 3 === 2 ? up : down
          const batch = points(10)
          all.push(...batch.values)
          push.consume(batch)
          const passing = host.clock.advance(60_000)
          for (let turn = 0; turn < 3 * round; turn++) await new Promise(resolve => setImmediate(resolve))
          await workers.kill()
          await passing
          // What is told to be safe is there when the process ends now.
          const { '{storage="disk"}': safe } = queued(process)
          const database = openDatabase(join(directory, 'queue.db'))
          const { points: there } = database.prepare('SELECT sum(points) AS points FROM requests').get() as {
            points: number | null
          }
          database.close()
          assert.ok((there ?? 0) >= safe!, `${there} of ${safe}`)
        }
        destination.answer = up
        await host.clock.advance(60_000)
        // One that is killed before another has taken its place is the same once more.
        assert.ok(workers.started > 4, `${workers.started}`)
        assert.deepEqual(new Set(destination.taken), new Set(all))
        assert.deepEqual(queued(process), { '{storage="disk"}': 0, '{storage="memory"}': 0 })
        await end(process)
        const next = await begin()
        await next.host.clock.advance(1000)
        assert.deepEqual(next.destination.taken, [])
        await end(next)
      } finally {
        workers.stop()
      }
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
