import assert from 'node:assert/strict'
import { spawn, type ChildProcessByStdio } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { createSystemClock } from '../../../pipeline/clock/system-clock.ts'
import type { Clock } from '../../../pipeline/component.ts'
import { openDatabase } from '../../../pipeline/storage/sqlite.ts'
import { openStorage, type OpenStorage } from '../../../pipeline/storage/storage.ts'
import { testHost } from '../../support/test-host.ts'

describe('storage', () => {
  let directory: string
  const opened: OpenStorage[] = []
  const { log, logged } = testHost()

  beforeEach(async () => {
    logged.length = 0
    directory = join(await mkdtemp(join(tmpdir(), 'gpucol-storage-')), 'state')
  })
  afterEach(async () => {
    await Promise.all(opened.splice(0).map(storage => storage.close()))
    await rm(join(directory, '..'), { recursive: true })
  })

  async function open(options: { clock?: Clock; maxBytes?: number } = {}): Promise<OpenStorage> {
    const { clock = createSystemClock(), ...rest } = options
    const storage = await openStorage(directory, log, clock, rest)
    opened.push(storage)
    return storage
  }

  async function load(storage: OpenStorage, name: string): Promise<Record<string, string>> {
    const entries = await storage.state(name).load()
    return Object.fromEntries(Array.from(entries, ([key, value]) => [key, Buffer.from(value).toString()]))
  }

  const bytes = (text: string): Uint8Array => Buffer.from(text)

  for (const kind of ['in memory', 'on disk']) {
    describe(kind, () => {
      const openKind = async (): Promise<OpenStorage> =>
        kind === 'on disk' ? open() : openStorage(undefined, log, createSystemClock())

      it('keeps what was written, by name, and forgets what was deleted', async () => {
        const storage = await openKind()
        const one = storage.state('roll_up')
        await one.write(
          new Map([
            ['a', bytes('1')],
            ['b', bytes('2')],
            ['', bytes('')],
          ]),
        )
        await storage.state('roll_up/2').write(new Map([['a', bytes('other')]]))
        await one.write(
          new Map([
            ['b', undefined],
            ['a', bytes('3')],
            ['not there', undefined],
          ]),
        )
        assert.deepEqual(await load(storage, 'roll_up'), { a: '3', '': '' })
        assert.deepEqual(await load(storage, 'roll_up/2'), { a: 'other' })
        assert.deepEqual(await load(storage, 'nobody'), {})
      })

      it('takes keys like __proto__ and bytes of any kind, and shares none with the caller', async () => {
        const storage = await openKind()
        const all = Uint8Array.from({ length: 1000 }, (_, i) => i).subarray(100, 900)
        const expected = all.slice()
        const writing = storage.state('x').write(
          new Map([
            ['__proto__', all],
            ['\0ü', bytes('z')],
          ]),
        )
        all.fill(7)
        await writing
        const loaded = await storage.state('x').load()
        assert.deepEqual([...loaded.keys()].sort(), ['\0ü', '__proto__'])
        assert.deepEqual(new Uint8Array(loaded.get('__proto__')!), expected)
      })

      it('may be closed twice', async () => {
        const storage = await openKind()
        await storage.close()
        await storage.close()
      })
    })
  }

  it('says that state is in memory when no directory is named', async () => {
    const storage = await openStorage(undefined, log, createSystemClock())
    assert.equal(storage.persistent, false)
    assert.deepEqual(logged, ['info: state is in memory and ends with the process: service.storage is not set'])
  })

  it('makes the directory, and has what was written when it is opened again', async () => {
    const first = await open()
    assert.equal(first.persistent, true)
    const entries = Array.from({ length: 3000 }, (_, i) => [`key ${i}`, bytes(`value ${i}`)] as const)
    await first.state('x').write(new Map(entries))
    await first.close()
    assert.deepEqual((await readdir(directory)).sort(), ['lock.db', 'state.db'])
    const second = await open()
    const loaded = await load(second, 'x')
    assert.equal(Object.keys(loaded).length, 3000)
    assert.equal(loaded['key 2999'], 'value 2999')
    assert.deepEqual(logged, [])
  })

  it('finishes what was written before it is closed, and refuses what comes after', async () => {
    const first = await open()
    const writes = Array.from({ length: 50 }, (_, i) => first.state('x').write(new Map([[`${i}`, bytes('v')]])))
    await first.close()
    await Promise.all(writes)
    await assert.rejects(first.state('x').write(new Map([['late', bytes('v')]])), /the store is closed/)
    await assert.rejects(first.state('x').load(), /the store is closed/)
    assert.equal(Object.keys(await load(await open(), 'x')).length, 50)
  })

  it('gives room back that is no longer needed', async () => {
    const storage = await open()
    const keys = Array.from({ length: 400 }, (_, i) => `${i}`)
    await storage.state('x').write(new Map(keys.map(key => [key, new Uint8Array(10_000)])))
    await storage.state('x').write(new Map(keys.map(key => [key, undefined])))
    await storage.close()
    assert.ok((await stat(join(directory, 'state.db'))).size < 100_000)
  })

  describe('moves a damaged file aside, says so, and starts afresh:', () => {
    async function fill(): Promise<void> {
      const storage = await open()
      const keys = Array.from({ length: 500 }, (_, i) => `key ${i}`)
      await storage.state('x').write(new Map(keys.map(key => [key, bytes(key.repeat(50))])))
      await storage.close()
    }
    const path = (): string => join(directory, 'state.db')
    const damages: Record<string, () => Promise<void>> = {
      'something else': () => writeFile(path(), 'this is no database at all, but long enough to be one'),
      'cut off': async () => truncate(path(), (await stat(path())).size - 20_000),
      'overwritten in the middle': async () => {
        const content = await readFile(path())
        await writeFile(path(), content.fill(0xa5, 4096, 40_000))
      },
    }
    for (const [name, damage] of Object.entries(damages)) {
      it(name, async () => {
        await fill()
        await damage()
        const damaged = await readFile(path())
        const { clock } = testHost()
        const storage = await open({ clock })
        assert.equal(storage.persistent, true)
        assert.deepEqual(await load(storage, 'x'), {})
        await storage.state('x').write(new Map([['new', bytes('1')]]))
        const aside = `${path()}.damaged-20231114T221320Z`
        assert.deepEqual(await readFile(aside), damaged)
        assert.deepEqual(logged, [`warn: state.db was damaged and is now ${aside}: starting without earlier state`])
        await storage.close()
        assert.deepEqual(await load(await open(), 'x'), { new: '1' })
      })
    }
  })

  it('leaves a file of a newer version alone, and keeps state in memory', async () => {
    await (await open()).close()
    const database = openDatabase(join(directory, 'state.db'))
    database.exec('PRAGMA user_version = 2')
    database.close()
    const storage = await open()
    assert.equal(storage.persistent, false)
    assert.match(logged[0]!, /^error: state is in memory .*state.db was written by a newer version \(format 2\)$/)
    assert.deepEqual(
      (await readdir(directory)).filter(name => name.includes('damaged')),
      [],
    )
  })

  it('keeps state in memory, and says why, where the directory cannot be used', async () => {
    await writeFile(directory, 'a file')
    const cases = { [directory]: 'is not a directory', [join(directory, 'below')]: 'is not a directory' }
    if (existsSync('/proc/self')) cases['/proc/self/gpucol'] = ''
    for (const [path, reason] of Object.entries(cases)) {
      logged.length = 0
      const storage = await openStorage(path, log, createSystemClock())
      assert.equal(storage.persistent, false)
      assert.equal(logged.length, 1)
      assert.ok(logged[0]!.startsWith('error: state is in memory and ends with the process: '))
      assert.ok(logged[0]!.includes(path) && logged[0]!.endsWith(reason))
      await storage.state('x').write(new Map([['a', bytes('1')]]))
      assert.deepEqual(await load(storage, 'x'), { a: '1' })
    }
  })

  it('refuses a write when there is no room, keeps what it had, and goes on when there is room again', async () => {
    const storage = await open({ maxBytes: 200_000 })
    const state = storage.state('x')
    await state.write(new Map([['small', bytes('1')]]))
    const changes = new Map([
      ['small', bytes('2')],
      ['large', new Uint8Array(500_000)],
    ])
    await assert.rejects(state.write(changes), { message: `no room left for state in ${directory}` })
    assert.deepEqual(await load(storage, 'x'), { small: '1' })
    await state.write(new Map([['small', undefined]]))
    await state.write(new Map([['other', bytes('3')]]))
    assert.deepEqual(await load(storage, 'x'), { other: '3' })
  })

  describe('of two processes', () => {
    type Child = ChildProcessByStdio<Writable, Readable, null>
    const children: Child[] = []
    afterEach(() => {
      for (const child of children.splice(0)) child.kill('SIGKILL')
    })

    /** Resolves when the child has written that many keys; collects all that it reports. */
    async function startChild(keys: number): Promise<{ child: Child; reported: string[] }> {
      const script = fileURLToPath(new URL('./writing-child.ts', import.meta.url))
      const child = spawn(process.execPath, [script, directory], { stdio: ['pipe', 'pipe', 'inherit'] })
      children.push(child)
      const reported: string[] = []
      const lines = createInterface({ input: child.stdout })
      await new Promise<void>(resolve => {
        lines.on('line', line => {
          reported.push(line)
          if (reported.length === keys) resolve()
        })
      })
      return { child, reported }
    }

    it('the second has every key whose write was acknowledged when the first is killed', async () => {
      const { child, reported } = await startChild(300)
      child.kill('SIGKILL')
      await once(child, 'close')
      const storage = await open()
      assert.equal(storage.persistent, true)
      assert.deepEqual(logged, [])
      const loaded = await load(storage, 'roll_up')
      for (const key of reported) {
        const number = Number(key.slice(4))
        assert.equal(loaded[key], `value ${number} `.repeat(number % 200))
      }
    })

    it('the second waits for thirty seconds, then does without the directory and says so', async () => {
      await startChild(1)
      const { clock } = testHost()
      const start = clock.now()
      let storage: OpenStorage | undefined
      void open({ clock }).then(it => (storage = it))
      while (storage === undefined) {
        await clock.advance(50)
        await new Promise(resolve => setTimeout(resolve, 0))
      }
      assert.ok(clock.now() - start >= 30_000)
      assert.equal(storage.persistent, false)
      assert.deepEqual(logged, [
        `info: waiting for another process to leave ${directory}`,
        `error: state is in memory and ends with the process: another process uses ${directory}`,
      ])
    })

    it('the second gets the directory when the first leaves it in time', async () => {
      const { child, reported } = await startChild(5)
      const opening = open()
      while (logged.length === 0) await new Promise(resolve => setImmediate(resolve))
      const closed = once(child, 'close')
      child.stdin.write('close\n')
      const storage = await opening
      assert.equal(storage.persistent, true)
      await closed
      assert.deepEqual(Object.keys(await load(storage, 'roll_up')).sort(), reported.sort())
    })

    it('of one process, too, only one has the directory', async () => {
      const first = await open()
      const opening = open()
      while (logged.length === 0) await new Promise(resolve => setImmediate(resolve))
      await first.close()
      assert.equal((await opening).persistent, true)
    })
  })
})
