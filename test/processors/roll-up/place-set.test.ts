import assert from 'node:assert/strict'
import { PlaceSet } from '../../../processors/roll-up/place-set.ts'

describe('a set of places', () => {
  it('has each place once, in the order in which they came', () => {
    const set = new PlaceSet()
    for (const place of [3, 1, 3, 70_000, 1]) set.add(place)
    assert.deepEqual([...set], [3, 1, 70_000])
    assert.equal(set.size, 3)
    assert.deepEqual(
      [0, 1, 3, 70_000, 70_001].map(place => set.has(place)),
      [false, true, true, true, false],
    )
  })

  it('is empty when it has been cleared, however many there were', () => {
    const set = new PlaceSet()
    const all = Array.from({ length: 10_000 }, (_, i) => 9_999 - i)
    for (let round = 0; round < 2; round++) {
      for (const place of all) set.add(place)
      assert.deepEqual([...set], all)
      set.clear()
      assert.equal(set.size, 0)
      assert.deepEqual([...set], [])
      assert.ok(!all.some(place => set.has(place)))
    }
  })
})
