import assert from 'node:assert/strict'
import fc from 'fast-check'
import { interval, lengthOf, union, type Intervals } from '../../../processors/roll-up/intervals.ts'

const LONGEST = 40
const stretches = fc.array(fc.tuple(fc.nat(LONGEST), fc.nat(LONGEST)), { maxLength: 6 })

function unionOf(pairs: readonly (readonly [number, number])[]): Intervals {
  return pairs.reduce<Intervals>((all, [from, to]) => union(all, interval(from, to)), [])
}

describe('intervals', () => {
  it('are as long together as the moments that are in any of them', () => {
    fc.assert(
      fc.property(stretches, stretches, (one, other) => {
        const all = union(unionOf(one), unionOf(other))
        let moments = 0
        for (let at = 0; at < LONGEST; at++) {
          if ([...one, ...other].some(([from, to]) => from <= at && at < to)) moments++
        }
        assert.equal(lengthOf(all), moments)
      }),
    )
  })

  it('stay in order and apart from each other', () => {
    fc.assert(
      fc.property(stretches, stretches, (one, other) => {
        const all = union(unionOf(one), unionOf(other))
        for (let i = 1; i < all.length; i++) assert.ok(all[i]! > all[i - 1]!, all.join())
      }),
    )
  })

  it('are none where an end is not known, or comes before the beginning', () => {
    assert.deepEqual(interval(undefined, 5), [])
    assert.deepEqual(interval(5, undefined), [])
    assert.deepEqual(interval(5, 5), [])
    assert.deepEqual(interval(6, 5), [])
    assert.deepEqual(interval(4, 5), [4, 5])
  })
})
