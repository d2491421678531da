import assert from 'node:assert/strict'
import { Attendance, Roster } from '../../../processors/roll-up/roster.ts'

type Record = { readonly key: string }

function rosterOf(...keys: string[]): Roster<Record> {
  const roster = new Roster<Record>(({ key }) => key)
  for (const key of keys) roster.put(key, { key })
  return roster
}

describe('a roster', () => {
  it('leaves everybody in their place when others come and go', () => {
    const roster = rosterOf('a', 'b', 'c')
    roster.delete('b')
    roster.put('d', { key: 'd' })
    assert.deepEqual(
      roster.list.map(one => one?.key),
      ['a', 'd', 'c'],
    )
    assert.deepEqual(
      ['a', 'b', 'c', 'd'].map(key => roster.placeOf(key)),
      [0, -1, 2, 1],
    )
  })

  it('knows which places have changed, and not those where nothing has', () => {
    const roster = rosterOf('a', 'b', 'c')
    roster.settle()
    roster.put('a', roster.get('a')!)
    assert.equal(roster.changed.size, 0)
    roster.put('b', { key: 'b' })
    roster.delete('c')
    assert.deepEqual([...roster.changed], [1, 2])
  })

  it('knows who did not attend', () => {
    const roster = rosterOf('a', 'b', 'c')
    const attendance = new Attendance()
    for (const keys of [
      ['a', 'b', 'c'],
      ['a', 'c'],
    ]) {
      attendance.begin()
      for (const key of keys) attendance.mark(roster.placeOf(key))
      assert.deepEqual(
        attendance.missing(roster),
        ['a', 'b', 'c'].filter(key => !keys.includes(key)),
      )
    }
  })
})
