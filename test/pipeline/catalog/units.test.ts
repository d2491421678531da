import assert from 'node:assert/strict'
import { expandNames } from '../../../pipeline/catalog/name-pattern.ts'
import { isBaseUnit, isUnit, scaleBetween } from '../../../pipeline/catalog/units.ts'
import { applyScale } from '../../../pipeline/model/scale.ts'

describe('units of catalogs', () => {
  for (const [value, from, to, expected] of [
    [29, '%', '1', 0.29],
    [40064, 'MiB', 'By', 42010148864],
    [257858316, 'mJ', 'J', 257858.316],
    [1410, 'MHz', 'Hz', 1_410_000_000],
    [1500, 'ns', 's', 0.0000015],
    [7, 'MB/s', 'By/s', 7_000_000],
    [3, '{error}', '{error}', 3],
    [3, '', '', 3],
  ] as const) {
    it(`lead from ${value} ${from} to ${expected} ${to}`, () => {
      assert.equal(applyScale(value, scaleBetween(from, to)!), expected)
    })
  }

  it('lead nowhere from one thing to another', () => {
    assert.equal(scaleBetween('MiB', 'J'), undefined)
    assert.equal(scaleBetween('MiB', '{error}'), undefined)
    assert.equal(scaleBetween('furlong', 'By'), undefined)
  })

  it('are base units or not, or none at all', () => {
    assert.deepEqual(['', '1', 'By', '{error}', '{core}'].map(isBaseUnit), [true, true, true, true, true])
    assert.deepEqual(['%', 'MiB', '{millicore}', 'x', '{A b}'].map(isBaseUnit), [false, false, false, false, false])
    assert.deepEqual(['%', 'MiB', '{millicore}', 'x'].map(isUnit), [true, true, true, false])
  })
})

describe('names that come in numbers', () => {
  it('stand for all of them', () => {
    assert.deepEqual(expandNames('a'), ['a'])
    assert.deepEqual(expandNames('a_{9..11}_b'), ['a_9_b', 'a_10_b', 'a_11_b'])
  })
})
