import assert from 'node:assert/strict'
import fc from 'fast-check'
import { applyScale, combine, inverse, ONE, scaleOf } from '../../../pipeline/model/scale.ts'

const parts = fc.integer({ min: 1, max: 1_000_000 })

describe('a scale', () => {
  it('brings a percentage back to the very same number after it was a ratio', () => {
    const ratio = scaleOf(1, 100)
    const percent = scaleOf(100)
    for (let value = 0; value <= 100; value++) assert.equal(applyScale(value, combine(ratio, percent)), value)
    assert.equal(0.29 * 100 === 29, false, 'which plain multiplication does not')
  })

  it('is in lowest terms and one object per fraction', () => {
    fc.assert(
      fc.property(parts, parts, parts, (a, b, factor) => {
        assert.equal(scaleOf(a * factor, b * factor), scaleOf(a, b))
        assert.equal(combine(scaleOf(a, b), inverse(scaleOf(a, b))), ONE)
      }),
    )
  })

  it('is applied as one multiplication and one division', () => {
    assert.equal(applyScale(29, scaleOf(1, 100)), 0.29)
    assert.equal(applyScale(3, scaleOf(1_048_576)), 3_145_728)
    assert.equal(applyScale(NaN, scaleOf(2)), NaN)
  })

  it('gives back the number of few places that a value was made of', () => {
    for (let percent = 0; percent <= 1000; percent++) {
      assert.equal(applyScale(percent / 10 / 100, scaleOf(100)), percent / 10)
    }
    assert.equal(applyScale(8229.9292, scaleOf(1_000_000)), 8_229_929_200)
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 40 }), bytes => {
        assert.equal(applyScale(bytes / 1e6, scaleOf(1_000_000)), bytes)
      }),
    )
  })

  it('otherwise changes nothing about what is multiplied', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true }), parts, parts, (value, a, b) => {
        const [scale, plain] = [scaleOf(a, b), (value * scaleOf(a, b).multiply) / scaleOf(a, b).divide]
        const scaled = applyScale(value, scale)
        if (scaled !== plain) assert.equal((scaled * scale.divide) / scale.multiply, value)
      }),
    )
  })

  for (const [multiply, divide] of [
    [0, 1],
    [1, 0],
    [-1, 1],
    [0.5, 1],
    [2 ** 53, 1],
    [NaN, 1],
  ] as const) {
    it(`refuses ${multiply}/${divide}`, () => {
      assert.throws(() => scaleOf(multiply, divide), /whole numbers above zero/)
    })
  }
})
