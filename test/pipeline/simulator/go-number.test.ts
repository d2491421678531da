import assert from 'node:assert/strict'
import fc from 'fast-check'
import { formatDecimal, formatFixed, formatShortest } from '../../../pipeline/simulator/go-number.ts'

describe('numbers as Go prints them', () => {
  const shortest: [number, string][] = [
    [0, '0'],
    [-0, '-0'],
    [1, '1'],
    [0.5, '0.5'],
    [110, '110'],
    [999_999, '999999'],
    [1_000_000, '1e+06'],
    [1_783_935_434, '1.783935434e+09'],
    [8_321_232_896, '8.321232896e+09'],
    [1e21, '1e+21'],
    [1e100, '1e+100'],
    [0.0001, '0.0001'],
    [0.00001, '1e-05'],
    [-2.5e-7, '-2.5e-07'],
    [NaN, 'NaN'],
    [Infinity, '+Inf'],
    [-Infinity, '-Inf'],
  ]
  for (const [value, text] of shortest) {
    it(`writes ${value} as ${text}`, () => assert.equal(formatShortest(value), text))
  }

  it('writes six decimals and no exponent where that is asked for', () => {
    assert.equal(formatFixed(28.722), '28.722000')
    assert.equal(formatFixed(0), '0.000000')
    assert.equal(formatFixed(140_737_488_355_328), '140737488355328.000000')
  })

  const decimals: [units: number, decimals: number, text: string][] = [
    [0, 6, '0'],
    [1, 6, '1e-06'],
    [12_000, 6, '0.012'],
    [63_349_226, 6, '63.349226'],
    [999_999_999_999, 6, '999999.999999'],
    [1_000_000_000_000, 6, '1e+06'],
    [680_672_880_367_092, 6, '6.80672880367092e+08'],
    [898_445_312, 0, '8.98445312e+08'],
    [204_800, 0, '204800'],
    [1_255_180_957, 2, '1.255180957e+07'],
    [3_198_961, 2, '31989.61'],
    [9_007_199_254_740_991, 0, '9.007199254740991e+15'],
  ]
  for (const [units, places, text] of decimals) {
    it(`writes ${units} with ${places} decimals as ${text}`, () => assert.equal(formatDecimal(units, places), text))
  }

  it('writes units of any size as it writes the number', () => {
    fc.assert(
      fc.property(fc.nat({ max: 2 ** 50 }), fc.nat({ max: 6 }), (units, places) => {
        assert.equal(formatDecimal(units, places), formatShortest(units / 10 ** places))
      }),
    )
  })

  it('writes what reads back as the same number', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), value =>
        Object.is(Number(formatShortest(value)), value),
      ),
    )
  })
})
