import assert from 'node:assert/strict'
import type { StateStore } from '../../../pipeline/component.ts'
import { createMemoryStorage } from '../../../pipeline/storage/memory-storage.ts'
import { createKeptState } from '../../../processors/roll-up/kept-state.ts'
import { testHost } from '../../support/test-host.ts'

type Maps = Record<'times' | 'phases', Map<string, unknown>>

function stateIn(store: StateStore) {
  const { log, logged } = testHost()
  const maps: Maps = { times: new Map(), phases: new Map() }
  const list = Object.entries(maps).map(([name, map]) => ({ name, map }))
  return { ...maps, logged, state: createKeptState(store, list, log) }
}

async function loadedFrom(store: StateStore) {
  const it = stateIn(store)
  await it.state.load()
  return it
}

const bytes = (text: string): Uint8Array => Buffer.from(text)
const settled = (): Promise<void> => new Promise(resolve => setImmediate(resolve))

describe('kept state', () => {
  it('is there after a restart', async () => {
    const store = createMemoryStorage().state('x')
    const first = await loadedFrom(store)
    for (let i = 0; i < 100; i++) first.times.set(`key ${i}`, i)
    first.phases.set('w', { gone: [1, 2] })
    await first.state.saveAll()
    const second = await loadedFrom(store)
    assert.deepEqual(second.times, first.times)
    assert.deepEqual(second.phases, first.phases)
  })

  it('is written within four turns, and only where it has changed', async () => {
    const store = createMemoryStorage().state('x')
    const writes: number[] = []
    const counting: StateStore = {
      load: () => store.load(),
      write(changes) {
        writes.push(changes.size)
        return store.write(changes)
      },
    }
    const first = await loadedFrom(counting)
    for (let i = 0; i < 100; i++) first.times.set(`key ${i}`, i)
    for (let turn = 0; turn < 4; turn++) first.state.save()
    await settled()
    assert.deepEqual((await loadedFrom(store)).times, first.times)
    writes.length = 0
    first.times.set('key 7', 0)
    for (let turn = 0; turn < 4; turn++) first.state.save()
    await settled()
    assert.deepEqual(writes, [1])
  })

  it('writes at once what is true only together', async () => {
    const store = createMemoryStorage().state('x')
    const { log } = testHost()
    const maps = [new Map<string, number>(), new Map<string, number>()]
    const list = maps.map((map, i) => ({ name: `map ${i}`, map, isTogether: true as const }))
    const state = createKeptState(store, list, log)
    await state.load()
    for (let turn = 0; turn < 9; turn++) {
      for (const map of maps) for (let i = 0; i < 50; i++) map.set(`key ${i}`, turn)
      state.save()
      await settled()
      const texts = Array.from(await store.load(), ([, value]) => Buffer.from(value).toString())
      const turns = new Set(texts.flatMap(text => (JSON.parse(text) as [string, number][]).map(([, value]) => value)))
      assert.equal(turns.size, 1, `after turn ${turn}`)
    }
  })

  it('forgets what was deleted', async () => {
    const store = createMemoryStorage().state('x')
    const first = await loadedFrom(store)
    first.times.set('a', 1)
    await first.state.saveAll()
    first.times.delete('a')
    await first.state.saveAll()
    assert.equal((await store.load()).size, 0)
  })

  it('loses one part when that is damaged, and says which', async () => {
    const store = createMemoryStorage().state('x')
    const first = await loadedFrom(store)
    for (let i = 0; i < 100; i++) first.times.set(`key ${i}`, i)
    await first.state.saveAll()
    const [part = ''] = (await store.load()).keys()
    await store.write(new Map([[part, bytes('[["key')]]))
    const second = await loadedFrom(store)
    assert.ok(second.times.size > 80 && second.times.size < 100, `${second.times.size}`)
    assert.equal(second.logged.length, 1)
    assert.ok(second.logged[0]!.endsWith(`part=${part}`), second.logged.join())
    await second.state.saveAll()
    assert.deepEqual((await loadedFrom(store)).logged, [])
  })

  it('is no state at all when it is of another shape', async () => {
    const store = createMemoryStorage().state('x')
    await store.write(
      new Map([
        ['times/0', bytes('7')],
        ['times/1', bytes('{"a":1}')],
        ['unknown/1', bytes('[["a",1]]')],
        ['phases/1', bytes('[["a",null]]')],
      ]),
    )
    const it = await loadedFrom(store)
    assert.equal(it.times.size, 0)
    assert.equal(it.logged.length, 2)
  })

  it('keeps what has been learnt while it was read', async () => {
    const store = createMemoryStorage().state('x')
    const first = await loadedFrom(store)
    first.times.set('a', 1)
    await first.state.saveAll()
    const second = stateIn(store)
    second.times.set('a', 2)
    await second.state.load()
    assert.equal(second.times.get('a'), 2)
  })

  it('starts without a store that cannot be read', async () => {
    const it = await loadedFrom({
      load: () => Promise.reject(new Error('no disk')),
      write: () => Promise.resolve(),
    })
    assert.deepEqual(it.logged, ['warn: starting without earlier state: no disk'])
  })

  it('reports a store that fails once, and writes everything when it is back', async () => {
    const store = createMemoryStorage().state('x')
    let isFailing = false
    const it = await loadedFrom({
      load: () => store.load(),
      write: changes => (isFailing ? Promise.reject(new Error('disk full')) : store.write(changes)),
    })
    it.times.set('deleted', 1)
    await it.state.saveAll()
    isFailing = true
    it.times.delete('deleted')
    it.times.set('a', 1)
    await it.state.saveAll()
    await it.state.saveAll()
    assert.deepEqual(it.logged, ['failing the state on disk: disk full'])
    isFailing = false
    await it.state.saveAll()
    assert.deepEqual(it.logged.slice(1), ['ok the state on disk'])
    assert.deepEqual((await loadedFrom(store)).times, new Map([['a', 1]]))
  })
})
