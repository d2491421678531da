import assert from 'node:assert/strict'
import { createInternTable } from '../../../pipeline/model/intern.ts'
import { collectGarbage } from '../../support/garbage.ts'

const OBJECTS = 20_000

describe('an intern table', () => {
  it('has one object for equal things, also if their hashes are those of others', () => {
    const table = createInternTable<{ readonly text: string }>()
    const intern = (text: string): object =>
      table.intern(
        text.length,
        known => known.text === text,
        () => ({ text }),
      )
    const first = intern('ab')
    assert.notEqual(intern('cd'), first)
    assert.equal(intern('ab'), first)
    assert.equal(table.size, 2)
  })

  it('has one object for equal things, also of many whose hashes are the same', () => {
    const table = createInternTable<{ readonly number: number }>()
    const intern = (number: number): { readonly number: number } =>
      table.intern(
        number % 2 === 0 ? number : 1,
        known => known.number === number,
        () => ({ number }),
      )
    const all = Array.from({ length: 6000 }, (_, i) => intern(i))
    all.forEach((one, i) => assert.equal(intern(i), one))
    assert.equal(table.size, 6000)
  })

  it('clears the places of what was collected, and keeps the others', async () => {
    const table = createInternTable<{ readonly number: number }>()
    const intern = (number: number): { readonly number: number } =>
      table.intern(
        number,
        known => known.number === number,
        () => ({ number }),
      )
    let kept = Array.from({ length: OBJECTS }, (_, i) => intern(i))
    assert.equal(table.size, OBJECTS)
    kept = kept.filter(({ number }) => number % 2 === 0)
    // When finalizers run is up to the engine, which has little time for them on a busy machine.
    for (let tries = 0; tries < 20 && table.size >= OBJECTS * 0.67; tries++) await collectGarbage()
    assert.ok(table.size < OBJECTS * 0.67, `${table.size} places`)
    for (const one of kept) assert.equal(intern(one.number), one)
  })
})
