import assert from 'node:assert/strict'
import { parseQuantities, parseQuantity } from '../../../pipeline/cluster/quantity.ts'

const CASES: readonly (readonly [unknown, number | undefined])[] = [
  ['0', 0],
  ['1', 1],
  ['+1', 1],
  ['-1', -1],
  ['0.5', 0.5],
  ['.5', 0.5],
  ['5.', 5],
  ['100m', 0.1],
  ['1100m', 1.1],
  ['1500u', 0.0015],
  ['33n', 3.3e-8],
  ['500k', 500_000],
  ['1M', 1e6],
  ['1.5G', 1.5e9],
  ['2T', 2e12],
  ['3P', 3e15],
  ['1E', 1e18],
  ['1Ki', 1024],
  ['64Mi', 67_108_864],
  ['1.5Gi', 1_610_612_736],
  ['1Ti', 2 ** 40],
  ['1Pi', 2 ** 50],
  ['1Ei', 2 ** 60],
  ['1e3', 1000],
  ['1E3', 1000],
  ['12E-1', 1.2],
  ['2056385364Ki', 2_056_385_364 * 1024],
  [4, 4],
  ['', undefined],
  ['m', undefined],
  ['1 Gi', undefined],
  ['1K', undefined],
  ['1mi', undefined],
  ['1e', undefined],
  ['1e1.5', undefined],
  ['1Gi2', undefined],
  ['0x10', undefined],
  ['Infinity', undefined],
  [Infinity, undefined],
  [null, undefined],
  [{}, undefined],
]

describe('a quantity', () => {
  for (const [written, expected] of CASES) {
    it(`${JSON.stringify(written)} is ${expected ?? 'none'}`, () => {
      assert.equal(parseQuantity(written), expected)
    })
  }

  it('that cannot be read is left out of those of an object', () => {
    assert.deepEqual(
      [...parseQuantities({ cpu: '2', memory: 'much', 'nvidia.com/gpu': '1' })],
      [
        ['cpu', 2],
        ['nvidia.com/gpu', 1],
      ],
    )
    assert.equal(parseQuantities(undefined).size, 0)
    assert.equal(parseQuantities('cpu').size, 0)
  })
})
