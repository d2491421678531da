/** The orders in which metrics are added up, as far as they were needed since something changed. */
import type { Aggregate } from '../../pipeline/catalog/output-schema.ts'
import {
  dropOrder,
  haveSameColumns,
  orderOf,
  writeResults,
  type Order,
  type OrderedAggregate,
  type Placed,
  type Shape,
} from './order.ts'
import type { Rule } from './rules.ts'
import type { Members } from './sets.ts'

type Known = Placed & { columns: Int32Array; readonly order: Order | undefined }

/** Whether the results of a rule are sums, means or maxima of values, and nothing else. */
export function isOrdered({ aggregate, isTotal, complement, zeroFor }: Rule, members: readonly Members[]): boolean {
  return isOne(aggregate) && !isTotal && !complement && zeroFor === undefined && members.length === 1
}

function isOne(aggregate: Aggregate): aggregate is OrderedAggregate {
  return aggregate === 'sum' || aggregate === 'mean' || aggregate === 'max'
}

export class Orders {
  /** What is written next time has other shapes if a series comes or goes. */
  #byShape = new WeakMap<Shape, Order | undefined>()
  /** By slots of contributors. */
  #known = new Map<Uint32Array, Known[]>()

  /** Somebody has come, gone or moved. */
  forget(): void {
    this.#byShape = new WeakMap()
    for (const its of this.#known.values()) for (const { order } of its) if (order !== undefined) dropOrder(order)
    this.#known.clear()
  }

  /** Writes results straight into a batch. False if they do not fit the shape; undefined if they have to be made in another way. */
  write(
    { aggregate, value, where, weight }: Rule,
    { set, slots }: Members,
    shape: Shape,
    into: Float64Array,
    nowMs: number,
  ): boolean | undefined {
    const unplaced = value && set.unplaced?.(value)
    const values = unplaced?.values ?? set.values(value, where, nowMs)
    if (value !== undefined && set.estimates?.(value) !== undefined) return undefined
    if (!isOne(aggregate)) return undefined
    let order = this.#byShape.get(shape)
    if (order === undefined) {
      const weights = aggregate === 'mean' ? set.weights?.(weight) : undefined
      order = this.#orderOf({ slots: slots.slots, length: slots.length, numbers: unplaced?.numbers, weights }, shape)
      this.#byShape.set(shape, order)
    }
    const { first, length } = shape
    return order && writeResults(order, values, aggregate, into.subarray(first, first + length))
  }

  /** Metrics that have the same contributors and the same series share one. */
  #orderOf(placed: Placed, shape: Shape): Order | undefined {
    const { slots, numbers, weights } = placed
    const { columns } = shape
    let known = this.#known.get(slots)
    if (known === undefined) this.#known.set(slots, (known = []))
    const same = known.find(
      one => one.numbers === numbers && one.weights === weights && haveSameColumns(one.columns, columns),
    )
    if (same !== undefined) {
      // Those before may be some that nobody has any more.
      same.columns = columns
      return same.order
    }
    const order = orderOf(placed, shape)
    known.push({ ...placed, columns, order })
    return order
  }
}
