import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { Aggregate } from '../../../pipeline/catalog/output-schema.ts'
import {
  accumulate,
  createAccumulators,
  finish,
  mergeSlot,
  type Accumulators,
  type Contribution,
} from '../../../processors/roll-up/accumulators.ts'

function contribution(values: number[], parts: { weights?: number[]; over?: number[] } = {}): Contribution {
  return {
    slots: new Uint32Array(values.length).fill(1),
    length: values.length,
    values: Float64Array.from(values),
    weights: parts.weights && Float64Array.from(parts.weights),
    over: parts.over && Float64Array.from(parts.over),
  }
}

function resultOf(sums: Accumulators, slot: number, aggregate: Aggregate): number {
  return finish({ aggregate, complement: false }, sums)[slot]!
}

function resultFor(aggregate: Aggregate, one: Contribution): number {
  const sums = createAccumulators(2, aggregate)
  accumulate(sums, aggregate, one)
  return resultOf(sums, 1, aggregate)
}

describe('accumulators', () => {
  const cases: [Aggregate, Contribution, number][] = [
    ['sum', contribution([1, NaN, 2]), 3],
    ['mean', contribution([1, NaN, 2]), 1.5],
    ['mean', contribution([10, 40, NaN], { weights: [3, 1, 5] }), 17.5],
    ['min', contribution([5, NaN, -2]), -2],
    ['max', contribution([-5, NaN, -2]), -2],
    ['count', contribution([5, NaN, 7]), 2],
    ['any', contribution([0, NaN, 3]), 1],
    ['any', contribution([0, NaN, 0]), 0],
    ['info', contribution([1, 1]), 1],
    ['last_active', contribution([100, NaN, 50]), 100],
    ['ratio', contribution([1, 2, 3], { over: [10, NaN, 10] }), 0.2],
  ]
  for (const [aggregate, one, expected] of cases) {
    it(`make ${expected} of ${[...one.values].join(', ')} by ${aggregate}`, () => {
      assert.equal(resultFor(aggregate, one), expected)
    })
  }

  it('make nothing of nothing', () => {
    for (const [aggregate] of cases) {
      assert.ok(Number.isNaN(resultFor(aggregate, contribution([NaN], { over: [1] }))), aggregate)
    }
  })

  it('divide by no zero', () => {
    assert.ok(Number.isNaN(resultFor('ratio', contribution([1], { over: [0] }))))
    assert.ok(Number.isNaN(resultFor('mean', contribution([1], { weights: [0] }))))
  })

  const ALL: Aggregate[] = ['sum', 'mean', 'min', 'max', 'count', 'any', 'info', 'last_active', 'ratio']
  const sample = fc.record({
    value: fc.oneof(fc.constant(NaN), fc.integer({ min: 0, max: 1000 })),
    weight: fc.integer({ min: 1, max: 7 }),
    over: fc.integer({ min: 1, max: 1000 }),
  })

  it('of parts make, when merged, what those of the whole make', () => {
    const parts = fc.array(fc.array(sample, { maxLength: 5 }), { minLength: 1, maxLength: 4 })
    fc.assert(
      fc.property(fc.constantFrom(...ALL), fc.boolean(), parts, (aggregate, isWeighted, lists) => {
        const from = (list: { value: number; weight: number; over: number }[]): Contribution =>
          contribution(
            list.map(({ value }) => value),
            { over: list.map(({ over }) => over), ...(isWeighted && { weights: list.map(({ weight }) => weight) }) },
          )
        const merged = createAccumulators(2, aggregate)
        for (const list of lists) {
          const its = createAccumulators(2, aggregate)
          accumulate(its, aggregate, from(list))
          mergeSlot(merged, 1, its, 1, aggregate)
        }
        assert.equal(resultOf(merged, 1, aggregate), resultFor(aggregate, from(lists.flat())))
      }),
    )
  })

  it('of parts of a workload do not add up how long it is idle or has run', () => {
    for (const [aggregate, expected] of [
      ['idle_seconds', 30],
      ['seconds_in_phase', 90],
    ] as const) {
      const merged = createAccumulators(2, aggregate)
      for (const seconds of [90, NaN, 30]) {
        const its = createAccumulators(2, aggregate)
        accumulate(its, aggregate, contribution([seconds]))
        mergeSlot(merged, 1, its, 1, aggregate)
      }
      assert.equal(resultOf(merged, 1, aggregate), expected)
    }
  })
})
