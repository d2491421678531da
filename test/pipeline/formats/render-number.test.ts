import assert from 'node:assert/strict'
import fc from 'fast-check'
import { NUMBER_ROOM, numberText, writeNumber } from '../../../pipeline/formats/render-number.ts'

const CASES: readonly [number, string][] = [
  [0, '0'],
  [-0, '-0'],
  [7, '7'],
  [-42, '-42'],
  [0.29, '0.29'],
  [-0.000001, '-0.000001'],
  [1e-7, '1e-7'],
  [1234.5, '1234.5'],
  [0.1 + 0.2, '0.30000000000000004'],
  [999_999_999, '999999999'],
  [1_000_000_000, '1000000000'],
  [85_899_345_920, '85899345920'],
  [2_147_483_647.5, '2147483647.5'],
  [2_147_483_648.5, '2147483648.5'],
  [Number.MAX_SAFE_INTEGER, '9007199254740991'],
  [2 ** 53, '9007199254740992'],
  [1e21, '1e+21'],
  [Number.MIN_VALUE, '5e-324'],
  [-0.0000010033690414458653, '-0.0000010033690414458653'],
  [-2.2250738585072014e-308, '-2.2250738585072014e-308'],
  [-Number.MAX_VALUE, '-1.7976931348623157e+308'],
  [Infinity, '+Inf'],
  [-Infinity, '-Inf'],
  [NaN, 'NaN'],
]

describe('writing a number', () => {
  for (const [value, text] of CASES) {
    it(`gives ${text}`, () => assert.equal(numberText(value), text))
  }

  it('gives what the engine gives, so that it reads back as the same double', () => {
    const decimals = fc.tuple(fc.integer({ min: -4e9, max: 4e9 }), fc.integer({ min: 0, max: 7 }))
    const anything = fc.oneof(
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.integer(),
      fc.maxSafeInteger(),
      decimals.map(([whole, places]) => whole / 10 ** places),
      decimals.map(([whole, places]) => whole * 1000 + places / 8),
    )
    fc.assert(
      fc.property(anything, value => {
        const text = numberText(value)
        assert.equal(text, Object.is(value, -0) ? '-0' : String(value))
        assert.ok(Object.is(Number(text), value))
        assert.ok(text.length <= NUMBER_ROOM)
      }),
      { numRuns: 5000 },
    )
  })

  it('writes where it is told to and nowhere else', () => {
    const bytes = new Uint8Array(12).fill(0x2e)
    assert.equal(writeNumber(bytes, 3, 12.25), 8)
    assert.equal(Buffer.from(bytes).toString(), '...12.25....')
  })
})
