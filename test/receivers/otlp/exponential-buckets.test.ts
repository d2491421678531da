import assert from 'node:assert/strict'
import fc from 'fast-check'
import {
  createExponentialPoint,
  createNumbers,
  type ExponentialPoint,
  type Numbers,
} from '../../../pipeline/formats/otlp-points.ts'
import { ExponentialGrid } from '../../../receivers/otlp/exponential-buckets.ts'
import { at, pushed, resource } from '../../support/pushed.ts'

type Given = {
  scale?: number
  zero?: number
  threshold?: number
  positive?: [number, number[]]
  negative?: [number, number[]]
}

function pointOf({
  scale = 0,
  zero = 0,
  threshold = 0,
  positive = [0, []],
  negative = [0, []],
}: Given): ExponentialPoint {
  const point = createExponentialPoint()
  Object.assign(point, { scale, zeroCount: zero, zeroThreshold: threshold })
  point.positiveOffset = positive[0]
  point.negativeOffset = negative[0]
  fill(point.positive, positive[1])
  fill(point.negative, negative[1])
  return point
}

function fill(numbers: Numbers, values: readonly number[]): void {
  numbers.values = Float64Array.from(values)
  numbers.length = values.length
}

/** Bounds and counts, `1: 2, 4: 0, +Inf: 1`. */
function convert(given: Given, grid = new ExponentialGrid()): string {
  const bounds = createNumbers()
  const counts = createNumbers()
  grid.convert(pointOf(given), bounds, counts)
  assert.equal(counts.length, bounds.length + 1)
  const texts = Array.from(bounds.values.subarray(0, bounds.length), (bound, i) => `${bound}: ${counts.values[i]}`)
  return [...texts, `+Inf: ${counts.values[bounds.length]}`].join(', ')
}

describe('exponential histograms as classic ones', () => {
  const cases: [string, Given, string][] = [
    ['nothing', {}, '0: 0, +Inf: 0'],
    ['bounds that are powers of the base', { zero: 1, positive: [1, [0, 2]] }, '0: 1, 8: 2, +Inf: 0'],
    [
      'a scale above 0',
      { scale: 1, positive: [0, [1, 1, 1]] },
      `0: 0, ${Math.SQRT2}: 1, 2: 1, ${2 ** 1.5}: 1, +Inf: 0`,
    ],
    ['a scale below 0', { scale: -2, positive: [-1, [1, 2]] }, '0: 0, 1: 1, 16: 2, +Inf: 0'],
    ['negative values', { zero: 1, negative: [1, [3, 2]], positive: [0, [5]] }, '-4: 2, -2: 3, 0: 1, 2: 5, +Inf: 0'],
    ['a threshold', { zero: 1, threshold: 0.5, positive: [0, [5]] }, '0.5: 1, 2: 5, +Inf: 0'],
    ['a threshold above some buckets', { zero: 1, threshold: 4, positive: [0, [5, 6, 7]] }, '4: 12, 8: 7, +Inf: 0'],
    ['a threshold around negative buckets', { zero: 1, threshold: 4, negative: [0, [5, 6, 7]] }, '4: 19, +Inf: 0'],
    ['a bound that no number can hold', { scale: -10, positive: [0, [5]] }, '0: 0, +Inf: 5'],
  ]
  for (const [what, given, expected] of cases) it(`have ${what}`, () => assert.equal(convert(given), expected))

  it('keep their bounds when buckets at the ends are empty again', () => {
    const grid = new ExponentialGrid()
    assert.equal(convert({ positive: [0, [1, 1, 1]] }, grid), '0: 0, 2: 1, 4: 1, 8: 1, +Inf: 0')
    assert.equal(convert({ positive: [1, [2]] }, grid), '0: 0, 2: 0, 4: 2, 8: 0, +Inf: 0')
    assert.equal(convert({ positive: [-1, [2]] }, grid), '0: 0, 1: 2, 2: 0, 4: 0, 8: 0, +Inf: 0')
  })

  it('become coarser with a coarser point, and stay so', () => {
    const grid = new ExponentialGrid()
    convert({ scale: 1, positive: [0, [1, 1, 1, 1]] }, grid)
    assert.equal(convert({ scale: 0, positive: [0, [2, 2]] }, grid), '0: 0, 2: 2, 4: 2, +Inf: 0')
    assert.equal(convert({ scale: 1, positive: [0, [3, 1, 1, 1]] }, grid), '0: 0, 2: 4, 4: 2, +Inf: 0')
  })

  it('never have more than 160 bounds, lose no count, and keep each on the right side of every bound', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc
            .record({
              scale: fc.integer({ min: -3, max: 8 }),
              offset: fc.integer({ min: -2000, max: 2000 }),
              counts: fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 1, maxLength: 200 }),
            })
            // Below, a double cannot tell bounds from 0, and neither can this test.
            .filter(({ scale, offset }) => 2 ** (offset / 2 ** scale) > 0),
          { minLength: 1, maxLength: 4 },
        ),
        points => {
          const grid = new ExponentialGrid()
          for (const { scale, offset, counts } of points) {
            const bounds = createNumbers()
            const made = createNumbers()
            grid.convert(pointOf({ scale, positive: [offset, counts] }), bounds, made)
            assert.ok(bounds.length <= 160)
            let below = 0
            for (let i = 0; i < bounds.length; i++) {
              below += made.values[i]!
              const upTo = counts.filter((_, at) => 2 ** ((offset + at + 1) / 2 ** scale) <= bounds.values[i]!)
              assert.equal(
                below,
                upTo.reduce((a, b) => a + b, 0),
              )
              if (i > 0) assert.ok(bounds.values[i]! > bounds.values[i - 1]!)
            }
            const total = counts.reduce((a, b) => a + b, 0)
            assert.equal(below + made.values[bounds.length]!, total)
          }
        },
      ),
      { numRuns: 200 },
    )
  })

  it('that come as deltas add up over grids that become wider and coarser', () => {
    const { push, texts } = pushed()
    const point = (time: number, scale: number, offset: number, counts: number[]): void => {
      const count = counts.reduce((a, b) => a + b)
      push(
        resource([
          {
            name: 'e',
            exponentialHistogram: {
              aggregationTemporality: 1,
              dataPoints: [at(time, { count, sum: count, scale, positive: { offset, bucketCounts: counts } })],
            },
          },
        ]),
      )
    }
    point(1, 1, 0, [1, 1])
    point(2, 1, 2, [1])
    assert.equal(
      texts().at(-1),
      `e_bucket{le="+Inf"} 3 2000
e_bucket{le="0"} 0 2000
e_bucket{le="1.4142135623730951"} 1 2000
e_bucket{le="2"} 2 2000
e_bucket{le="2.8284271247461903"} 3 2000
e_count 3 2000
e_sum 3 2000
`,
    )
    point(3, 0, 0, [5, 5])
    assert.equal(
      texts().at(0),
      `e_bucket{le="+Inf"} 13 3000
e_bucket{le="0"} 0 3000
e_bucket{le="2"} 7 3000
e_bucket{le="4"} 13 3000
e_count 13 3000
e_sum 13 3000
`,
    )
  })
})
