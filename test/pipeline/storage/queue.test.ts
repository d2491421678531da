import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtemp, open as openFile, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSystemClock } from '../../../pipeline/clock/system-clock.ts'
import type { Clock, QueueStore } from '../../../pipeline/component.ts'
import { openDatabase } from '../../../pipeline/storage/sqlite.ts'
import { openStorage, type OpenStorage } from '../../../pipeline/storage/storage.ts'
import { testHost } from '../../support/test-host.ts'

describe('a queue in the store', () => {
  let directory: string
  const opened: OpenStorage[] = []
  const { log, logged } = testHost()

  beforeEach(async () => {
    logged.length = 0
    directory = await mkdtemp(join(tmpdir(), 'gpucol-queue-'))
  })
  afterEach(async () => {
    await Promise.all(opened.splice(0).map(storage => storage.close()))
    await rm(directory, { recursive: true })
  })

  async function openAt(path: string | undefined, clock: Clock = createSystemClock()): Promise<OpenStorage> {
    const storage = await openStorage(path, log, clock)
    opened.push(storage)
    return storage
  }

  const options = { maxBytes: 2 ** 30 }
  const file = (): string => join(directory, 'queue.db')

  /** Adds one request for each body; returns their ids. */
  async function add(queue: QueueStore, ...bodies: Uint8Array[]): Promise<number[]> {
    const added = bodies.map(body => ({
      id: queue.nextId(),
      points: 1,
      bytes: body.length,
      acceptedMs: Date.now(),
      isTried: false,
      body,
    }))
    await queue.write({ added, removed: [], tried: new Map() })
    return added.map(({ id }) => id)
  }

  const body = (number: number, length = 5000): Uint8Array => new Uint8Array(length).fill(number % 256)

  for (const kind of ['in memory', 'on disk']) {
    describe(kind, () => {
      const where = (): string | undefined => (kind === 'on disk' ? directory : undefined)

      it('gives the next owner what the one before left, oldest first and with all that is known of it', async () => {
        const storage = await openAt(where())
        const queue = await storage.queue('otlp_http/a', options)
        assert.equal(queue.persistent, kind === 'on disk')
        assert.deepEqual(queue.takeWaiting(), [])
        const first = { id: queue.nextId(), points: 7, bytes: 3, shard: 2, note: 'v2', acceptedMs: 5, isTried: false }
        const second = { id: queue.nextId(), points: 1, bytes: 0, acceptedMs: 6, isTried: true }
        const third = { ...second, id: queue.nextId() }
        const bodies = [Uint8Array.of(1, 2, 3), new Uint8Array(), new Uint8Array()] as const
        const added = [first, second, third].map((request, i) => ({ ...request, body: bodies[i]! }))
        await queue.write({ added, removed: [], tried: new Map() })
        await queue.write({ added: [], removed: [third.id], tried: new Map([[first.id, true]]) })
        await queue.close(() => assert.fail('somebody comes'))
        const again = await storage.queue('otlp_http/a', options)
        assert.deepEqual(again.takeWaiting(), [{ ...first, isTried: true }, second])
        assert.deepEqual(new Uint8Array((await again.read(first.id))!), bodies[0])
        assert.equal(await again.read(third.id), undefined)
        assert.ok(again.nextId() > third.id)
      })

      it('keeps the queues of several owners apart', async () => {
        const storage = await openAt(where())
        const one = await storage.queue('one', options)
        const other = await storage.queue('other', options)
        const ids = [...(await add(one, body(1))), ...(await add(other, body(2), body(3)))]
        assert.equal(new Set(ids).size, 3)
        await one.close(() => {})
        assert.equal((await storage.queue('one', options)).takeWaiting().length, 1)
      })
    })
  }

  it('in memory is given up when nobody comes for it', async () => {
    const { clock } = testHost()
    const storage = await openAt(undefined, clock)
    const queue = await storage.queue('gone', options)
    await add(queue, body(1))
    let abandoned = 0
    await queue.close(() => abandoned++)
    await clock.advance(29_999)
    assert.equal(abandoned, 0)
    await clock.advance(1)
    assert.equal(abandoned, 1)
    assert.deepEqual((await storage.queue('gone', options)).takeWaiting(), [])
  })

  it('in memory is given up when the process ends', async () => {
    const storage = await openAt(undefined)
    const queue = await storage.queue('gone', options)
    await add(queue, body(1))
    let abandoned = 0
    await queue.close(() => abandoned++)
    await storage.close()
    assert.equal(abandoned, 1)
  })

  it('may have a directory of its own, which is given back when nobody has a queue in it', async () => {
    const storage = await openAt(undefined)
    const own = join(directory, 'own')
    const queue = await storage.queue('a', { ...options, directory: own })
    const sibling = await storage.queue('b', { ...options, directory: join(own, '.', '/') })
    assert.equal(queue.persistent && sibling.persistent, true)
    await add(queue, body(1))
    await queue.close(() => {})
    await sibling.close(() => {})
    const another = await openAt(own)
    assert.equal(another.persistent, true)
    assert.equal((await another.queue('a', options)).takeWaiting().length, 1)
  })

  it('is in memory, and says so, where its directory cannot be used', async () => {
    await writeFile(join(directory, 'file'), '')
    const storage = await openAt(undefined)
    const queue = await storage.queue('a', { ...options, directory: join(directory, 'file') })
    assert.equal(queue.persistent, false)
    assert.equal(
      logged.at(-1),
      `error: the queue of a is in memory and ends with the process: ${join(directory, 'file')} is not a directory`,
    )
  })

  it('gives room back when it is drained', async () => {
    const storage = await openAt(directory)
    const queue = await storage.queue('a', options)
    const ids: number[] = []
    for (let i = 0; i < 20; i++) ids.push(...(await add(queue, body(i, 2 ** 20))))
    for (const id of ids) await queue.write({ added: [], removed: [id], tried: new Map() })
    await storage.close()
    assert.ok((await stat(file())).size < 2 ** 20)
  })

  describe('that is damaged costs what is damaged and never the start:', () => {
    const COUNT = 300
    const ROUNDS = Number(process.env['ROUNDS'] ?? 10)

    async function fill(): Promise<number[]> {
      const storage = await openAt(directory)
      const queue = await storage.queue('a', options)
      const ids = await add(queue, ...Array.from({ length: COUNT }, (_, i) => body(i)))
      await storage.close()
      return ids
    }

    /** How many requests are whole, and that none that is not is given out. */
    async function whole(ids: readonly number[]): Promise<number> {
      const storage = await openAt(directory)
      const queue = await storage.queue('a', options)
      assert.equal(queue.persistent, true, logged.join('\n'))
      let found = 0
      for (const { id } of queue.takeWaiting()) {
        const read = await queue.read(id)
        if (read === undefined) continue
        assert.deepEqual(new Uint8Array(read), body(ids.indexOf(id)))
        found++
      }
      const [fresh] = await add(queue, body(99))
      assert.deepEqual(new Uint8Array((await queue.read(fresh!))!), body(99))
      return found
    }

    async function overwrite(position: number, bytes: Uint8Array): Promise<void> {
      const handle = await openFile(file(), 'r+')
      await handle.write(bytes, 0, bytes.length, position)
      await handle.close()
    }

    it('something else than a database', async () => {
      const ids = await fill()
      await writeFile(file(), 'this is no database'.repeat(1000))
      assert.equal(await whole(ids), 0)
      assert.match(
        logged[0]!,
        /^warn: queue\.db was damaged and is now .*queue\.db\.damaged-.*: 0 requests with 0 points/,
      )
      assert.ok((await readdir(directory)).some(name => name.includes('damaged')))
    })

    it('an empty file', async () => {
      const ids = await fill()
      await truncate(file(), 0)
      assert.equal(await whole(ids), 0)
    })

    it('cut off in the middle: what is before it can be read', async () => {
      const ids = await fill()
      const { size } = await stat(file())
      await truncate(file(), Math.floor(size / 2 / 4096) * 4096)
      const found = await whole(ids)
      assert.ok(found > COUNT / 4 && found < COUNT, `${found} of ${COUNT}`)
    })

    it('a page overwritten: the others can be read', async () => {
      const ids = await fill()
      const { size } = await stat(file())
      const page = Math.floor(size / 3 / 4096) * 4096
      await overwrite(page, new Uint8Array(4096).fill(0xa5))
      const found = await whole(ids)
      assert.ok(found > COUNT * 0.8 && found < COUNT, `${found} of ${COUNT}`)
    })

    it('a byte changed in a body, which the database cannot see', async () => {
      const ids = await fill()
      const { size } = await stat(file())
      const handle = await openFile(file())
      const content = Buffer.alloc(size)
      await handle.read(content, 0, size, 0)
      await handle.close()
      await overwrite(content.lastIndexOf(Buffer.alloc(64, 77)), Uint8Array.of(1))
      assert.equal(await whole(ids), COUNT - 1)
      assert.deepEqual(logged, [])
    })

    const regions = { anywhere: Infinity, 'in the header': 100, 'where everything begins': 3 * 4096 }
    for (const [region, endBytes] of Object.entries(regions)) {
      it(`bytes changed ${region}, again and again`, async function () {
        this.timeout(60_000)
        const random = randomNumbers(42)
        const ids = await fill()
        const pristine = await readFile(file())
        for (let round = 0; round < ROUNDS; round++) {
          await Promise.all((await readdir(directory)).map(name => rm(join(directory, name))))
          const content = Buffer.from(pristine)
          const length = Math.min(endBytes, content.length)
          for (let i = 0; i < 8; i++) content[Math.floor(random() * length)]! ^= 1 + Math.floor(random() * 255)
          // Where the format has become that of a newer version, nobody can know.
          content.set(pristine.subarray(60, 64), 60)
          await writeFile(file(), content)
          const found = await whole(ids)
          if (region === 'anywhere') assert.ok(found > COUNT / 2, `${found}`)
          await Promise.all(opened.splice(0).map(storage => storage.close()))
        }
      })
    }

    it('damage that comes while it runs', async () => {
      const ids = await fill()
      const storage = await openAt(directory)
      const queue = await storage.queue('a', options)
      const other = openDatabase(file())
      // A root that leads nowhere, as a bad sector would leave it.
      const select = other.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'requests'")
      const { rootpage } = select.get() as { rootpage: number }
      other.close()
      await overwrite((rootpage - 1) * 4096, new Uint8Array(4096).fill(0xff))
      await queue.read(ids.at(-1)!)
      const [fresh] = await add(queue, body(99))
      assert.deepEqual(new Uint8Array((await queue.read(fresh!))!), body(99))
    })
  })

  it('keeps what waits for an exporter that is not in the config for a week, and says so', async () => {
    const virtual = testHost().clock
    // Not the clock of config tests, which look after nothing of this kind.
    const { aligned: _, ...clock } = virtual
    const first = await openAt(directory, clock)
    const gone = await first.queue('otlp_http/gone', options)
    const id = gone.nextId()
    const request = { id, points: 5, bytes: 1, acceptedMs: clock.now(), isTried: false, body: Uint8Array.of(1) }
    await gone.write({ added: [request], removed: [], tried: new Map() })
    await first.close()
    const storage = await openAt(directory, clock)
    await storage.queue('otlp_http/here', options)
    logged.length = 0
    const look = async (): Promise<void> => {
      // Whatever was asked of the store before is through when this is.
      for (let i = 0; i < 3; i++) await storage.state('x').load()
    }
    await virtual.advance(3_600_000 * 3)
    await look()
    assert.deepEqual(logged, [
      `warn: points of otlp_http/gone, which is not in the config, wait in ${directory}; they are kept for 7 days points=5`,
    ])
    await virtual.advance(7 * 86_400_000)
    await look()
    assert.deepEqual(logged.slice(1), [
      `error: points of otlp_http/gone, which is not in the config, were dropped from ${directory} points=5`,
    ])
    assert.deepEqual((await storage.queue('otlp_http/gone', options)).takeWaiting(), [])
  })

  describe('on a volume that is full', () => {
    let isMounted = false
    beforeEach(function () {
      try {
        execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=16m', 'tmpfs', directory], { stdio: 'ignore' })
        isMounted = true
      } catch {
        // Only the administrator may do this.
        this.skip()
      }
    })
    afterEach(async () => {
      await Promise.all(opened.splice(0).map(storage => storage.close()))
      if (isMounted) execFileSync('umount', [directory])
      isMounted = false
    })

    it('refuses what is new, still deletes, and takes more when there is room', async () => {
      const storage = await openAt(directory)
      const queue = await storage.queue('a', options)
      const ids: number[] = []
      await assert.rejects(
        async () => {
          for (let i = 0; i < 100; i++) ids.push(...(await add(queue, body(i, 500_000))))
        },
        { message: `no room left for the queue in ${directory}` },
      )
      assert.ok(ids.length > 5 && ids.length < 33, `${ids.length}`)
      for (const id of ids.slice(0, 5)) await queue.write({ added: [], removed: [id], tried: new Map() })
      const [fresh] = await add(queue, body(200, 500_000))
      assert.deepEqual(new Uint8Array((await queue.read(fresh!))!), body(200, 500_000))
      assert.equal((await queue.read(ids[5]!))!.length, 500_000)
    })
  })
})

/** The same each time (mulberry32). */
function randomNumbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}
