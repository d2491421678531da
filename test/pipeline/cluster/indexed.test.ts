import assert from 'node:assert/strict'
import { BY_NOTHING, indexed } from '../../../pipeline/cluster/indexed.ts'
import { createTracked } from '../../../pipeline/model/tracked.ts'

type Thing = { readonly marks: readonly string[] }

function setUp() {
  const index = createTracked<readonly string[]>()
  const things = indexed(createTracked<Thing>(), [{ table: index, by: ({ marks }) => marks }])
  return { index, things, put: (key: string, ...marks: string[]) => things.set(key, { marks }) }
}

describe('a table with an index', () => {
  it('is found by all that its values have, and by nothing that they have no more', () => {
    const { index, things, put } = setUp()
    put('1', 'a', 'b')
    put('2', 'b')
    assert.deepEqual([index.get('a'), index.get('b')], [['1'], ['1', '2']])
    put('1', 'b', 'c')
    assert.deepEqual([index.get('a'), index.get('b'), index.get('c')], [undefined, ['1', '2'], ['1']])
    things.delete('1')
    things.delete('never there')
    assert.deepEqual([index.get('b'), index.get('c')], [['2'], undefined])
    assert.deepEqual([things.size, things.get('2'), things.entry('2').value], [1, { marks: ['b'] }, { marks: ['b'] }])
    assert.deepEqual([...things.values()], [{ marks: ['b'] }])
  })

  it('leaves entries of the index alone that do not change', () => {
    const { index, put, things } = setUp()
    put('1', 'a')
    const { version } = index.entry('a')
    put('1', 'a')
    things.set('2', { marks: BY_NOTHING })
    assert.equal(index.entry('a').version, version)
    assert.equal(index.size, 1)
  })
})
