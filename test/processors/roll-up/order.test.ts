import assert from 'node:assert/strict'
import fc from 'fast-check'
import { accumulate, createAccumulators, finish } from '../../../processors/roll-up/accumulators.ts'
import {
  orderOf,
  writeResults,
  type OrderedAggregate,
  type Placed,
  type Shape,
} from '../../../processors/roll-up/order.ts'

const SLOTS = 6

/** Contributors with the slots of their groups, and the numbers of things whose values they have. */
const contributors = fc.array(
  fc.record({
    slot: fc.nat(SLOTS - 1),
    number: fc.integer({ min: -1, max: 7 }),
    weight: fc.constantFrom(1, 0.5, 1 / 7),
  }),
  { maxLength: 20 },
)
const readings = fc.array(fc.constantFrom(NaN, 0, -0, 0.1, 0.2, 0.3, 1e15, -1e15, Infinity), {
  minLength: 8,
  maxLength: 8,
})
type Contributor = { readonly slot: number; readonly number: number; readonly weight: number }

function placedFrom(its: readonly Contributor[], isWeighed: boolean): Placed & { readonly numbers: Int32Array } {
  return {
    slots: Uint32Array.from(its, ({ slot }) => slot),
    length: its.length,
    numbers: Int32Array.from(its, ({ number }) => number),
    weights: isWeighed ? Float64Array.from(its, ({ weight }) => weight) : undefined,
  }
}

/** By slot, as partials of roll-ups are made. */
function accumulated({ slots, length, numbers, weights }: Placed, things: Float64Array, aggregate: OrderedAggregate) {
  const values = Float64Array.from(numbers!, number => things[number] ?? NaN)
  const sums = createAccumulators(SLOTS, aggregate)
  accumulate(sums, aggregate, { slots, length, values, weights, over: undefined })
  sums.count[0] = sums.main[0] = sums.other[0] = 0
  return finish({ aggregate, complement: false }, sums)
}

function shapeOf(results: Float64Array, first: number): Shape {
  let next = 0
  const columns = Int32Array.from(results, (value, slot) => (slot > 0 && !Number.isNaN(value) ? next++ : -1))
  return { columns, first, length: next }
}

describe('contributors in the order of their columns', () => {
  for (const aggregate of ['sum', 'mean', 'max'] as const) {
    for (const isWeighed of aggregate === 'mean' ? [false, true] : [false]) {
      it(`gives, of ${isWeighed ? 'weighed ' : ''}${aggregate}s, every bit that accumulators give`, () => {
        fc.assert(
          fc.property(contributors, readings, fc.nat(3), (its, things, first) => {
            const placed = placedFrom(its, isWeighed)
            const values = Float64Array.from(things)
            const expected = accumulated(placed, values, aggregate)
            const shape = shapeOf(expected, first)
            const columns = new Float64Array(shape.length)
            assert.equal(writeResults(orderOf(placed, shape)!, values, aggregate, columns), true)
            expected.forEach((value, slot) => {
              if (slot > 0 && !Number.isNaN(value)) assert.ok(Object.is(columns[shape.columns[slot]!], value))
            })
          }),
        )
      })

      it(`sees, of ${isWeighed ? 'weighed ' : ''}${aggregate}s, that a series comes or goes`, () => {
        fc.assert(
          fc.property(contributors, readings, readings, (its, before, now) => {
            const placed = placedFrom(its, isWeighed)
            const shapes = [before, now].map(things =>
              shapeOf(accumulated(placed, Float64Array.from(things), aggregate), 0),
            )
            const order = orderOf(placed, shapes[0]!)!
            const isSame = shapes[0]!.columns.every((column, slot) => column === shapes[1]!.columns[slot])
            const columns = new Float64Array(shapes[0]!.length)
            assert.equal(writeResults(order, Float64Array.from(now), aggregate, columns), isSame)
          }),
        )
      })
    }
  }

  it('takes values by place where nothing else is said', () => {
    const placed = { slots: Uint32Array.of(2, 1, 2, 0), length: 4, numbers: undefined, weights: undefined }
    const shape = { columns: Int32Array.of(-1, 0, 1), first: 5, length: 2 }
    const columns = new Float64Array(2)
    assert.equal(writeResults(orderOf(placed, shape)!, Float64Array.of(1, 2, 4, 8), 'sum', columns), true)
    assert.deepEqual([...columns], [2, 5])
  })

  it('is none where nobody contributes to a series', () => {
    const placed = { slots: Uint32Array.of(1), length: 1, numbers: undefined, weights: undefined }
    assert.equal(orderOf(placed, { columns: Int32Array.of(-1, 0, 1), first: 0, length: 2 }), undefined)
  })
})
