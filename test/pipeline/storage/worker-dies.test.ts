import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { QueueStore } from '../../../pipeline/component.ts'
import { lockDirectory } from '../../../pipeline/storage/directory.ts'
import { openStorage, type OpenStorage } from '../../../pipeline/storage/storage.ts'
import { watchStoreWorkers, type StoreWorkers } from '../../support/store-workers.ts'
import { testHost } from '../../support/test-host.ts'

describe('a store whose thread dies', () => {
  const { log, logged, clock } = testHost()
  let directory: string
  let workers: StoreWorkers
  let storage: OpenStorage

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'gpucol-dies-'))
    workers = watchStoreWorkers()
    storage = await openStorage(directory, log, clock)
    // Long enough for whatever died before.
    await clock.advance(60_000)
    logged.length = 0
  })
  afterEach(async () => {
    await storage.close()
    workers.stop()
    await rm(directory, { recursive: true })
  })

  const bytes = (text: string): Uint8Array => Buffer.from(text)
  const write = (key: string): Promise<void> => storage.state('x').write(new Map([[key, bytes(key)]]))
  const keys = async (): Promise<string[]> => [...(await storage.state('x').load()).keys()].sort()
  const open = (): Promise<QueueStore> => storage.queue('a', { maxBytes: 2 ** 20 })

  function add(queue: QueueStore, id: number): Promise<void> {
    const request = { id, points: 1, bytes: 3, acceptedMs: 0, isTried: false, body: Uint8Array.of(1, 2, 3) }
    return queue.write({ added: [request], removed: [], tried: new Map() })
  }

  /** Whatever threads do meanwhile. */
  async function until(isTrue: () => boolean): Promise<void> {
    while (!isTrue()) await new Promise(resolve => setImmediate(resolve))
  }

  it('has another one at once, with all that was written, and says so once', async () => {
    await write('before')
    const queue = await open()
    const id = queue.nextId()
    await add(queue, id)
    await workers.kill()
    await write('after')
    assert.deepEqual(await keys(), ['after', 'before'])
    assert.deepEqual(new Uint8Array((await queue.read(id))!), Uint8Array.of(1, 2, 3))
    await add(queue, queue.nextId())
    assert.deepEqual(logged, [
      `failing the store in ${directory}: the store failed: its thread ended; it is started again`,
      `ok the store in ${directory}`,
    ])
    await queue.close(() => assert.fail('it is on disk'))
    assert.equal((await open()).takeWaiting().length, 2)
  })

  it('says by what it died', async () => {
    workers.fail()
    await until(() => workers.started === 2)
    await write('after')
    assert.match(logged[0]!, /^failing the store in .*: the store failed: TypeError: .*; it is started again$/)
  })

  it('has all that was asked for in the end, whenever it dies', async () => {
    for (let round = 0; round < 20; round++) {
      await clock.advance(60_000)
      const writes = Array.from({ length: 20 }, (_, i) => write(`${round} ${i}`))
      for (let turn = 0; turn < round; turn++) await new Promise(resolve => setImmediate(resolve))
      await workers.kill()
      await Promise.all(writes)
      assert.equal((await keys()).filter(key => key.startsWith(`${round} `)).length, 20)
    }
    assert.equal(workers.started, 21)
  })

  it('refuses what the next one does not survive either, and has what it said was done', async () => {
    const writes = Array.from({ length: 200 }, (_, i) => write(`${i}`).then(() => `${i}`))
    await workers.kill()
    await until(() => workers.started === 2)
    await workers.kill()
    const results = await Promise.allSettled(writes)
    const done = results.flatMap(it => (it.status === 'fulfilled' ? [it.value] : []))
    assert.ok(done.length < writes.length)
    await clock.advance(1000)
    const there = new Set(await keys())
    assert.deepEqual(
      done.filter(key => !there.has(key)),
      [],
    )
  })

  it('waits longer and longer for the next where they die soon, and not any more when one has lived for a while', async () => {
    await workers.kill()
    await write('a')
    for (const delayMs of [1000, 2000, 4000]) {
      await workers.kill()
      await assert.rejects(write('b'), { message: 'the store has failed and is not started again yet' })
      await clock.advance(delayMs - 1)
      await assert.rejects(write('b'))
      await clock.advance(1)
      await write('c')
    }
    await clock.advance(60_000)
    await workers.kill()
    await write('d')
    assert.deepEqual(await keys(), ['a', 'c', 'd'])
    assert.equal(workers.started, 6)
  })

  it('does without the directory while another process has it, and takes it again after that', async () => {
    await write('before')
    await workers.kill()
    // Before the thread that comes has it.
    const others = lockDirectory(directory)!
    await assert.rejects(write('meanwhile'))
    others.close()
    await clock.advance(1000)
    await write('after')
    assert.deepEqual(await keys(), ['after', 'before'])
    assert.equal(logged.length, 2)
  })

  it('may be closed while the next is awaited', async () => {
    await workers.kill()
    const writing = write('last')
    await storage.close()
    await writing
    storage = await openStorage(directory, log, clock)
    assert.deepEqual(await keys(), ['last'])
    await workers.kill()
    await write('a')
    await workers.kill()
    await storage.close()
    await assert.rejects(write('b'))
  })
})
