import assert from 'node:assert/strict'
import fc from 'fast-check'
import { formatFixed, formatShortest } from '../../../pipeline/simulator/go-number.ts'

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

  it('writes what reads back as the same number', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), value =>
        Object.is(Number(formatShortest(value)), value),
      ),
    )
  })
})
