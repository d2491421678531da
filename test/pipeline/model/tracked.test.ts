import assert from 'node:assert/strict'
import { createTracked, trackedChanges } from '../../../pipeline/model/tracked.ts'

describe('tracked metadata', () => {
  it('gives an entry for a key that is not there yet, and fills that very entry when it comes', () => {
    const table = createTracked<string>()
    const entry = table.entry('pod')
    assert.deepEqual({ ...entry }, { value: undefined, version: 0 })
    table.set('pod', 'x')
    assert.equal(table.entry('pod'), entry)
    assert.deepEqual({ ...entry }, { value: 'x', version: 1 })
  })

  it('keeps the entry of a key that goes and comes again', () => {
    const table = createTracked<string>()
    table.set('pod', 'x')
    const entry = table.entry('pod')
    table.delete('pod')
    assert.equal(entry.value, undefined)
    table.set('pod', 'y')
    assert.equal(table.entry('pod'), entry)
    assert.deepEqual({ ...entry }, { value: 'y', version: 3 })
    assert.deepEqual([...table.values()], ['y'])
    assert.deepEqual([table.get('pod'), table.get('nobody')], ['y', undefined])
  })

  it('has one thing to look at for all keys while it is empty, which says so when it is not any more', () => {
    const table = createTracked<string>()
    const empty = table.at('pod')
    assert.equal(table.at('node'), empty)
    const { version } = empty
    table.set('node', 'x')
    assert.ok(empty.version > version)
    assert.equal(table.at('pod').value, undefined)
    assert.equal(table.at('pod'), table.entry('pod'))
    assert.equal(table.at('node').value, 'x')
  })

  it('does not change when it is told what it knows', () => {
    const table = createTracked<string>()
    table.set('pod', 'x')
    const before = trackedChanges()
    table.set('pod', 'x')
    table.delete('nobody')
    assert.equal(trackedChanges(), before)
  })
})
