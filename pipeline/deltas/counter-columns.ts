/** Which columns of a layout are counters to be converted, and which column tells that they began anew. */
import { withoutLabels, type Labels } from '../model/labels.ts'
import { columnCount, labelsAt, metricAt, type Layout } from '../model/layout.ts'

export type CounterColumns = {
  /** Ascending. */
  readonly columns: Uint32Array
  /**
   * For each of these the column whose fall is a new beginning of it, too: of the parts of a histogram their count. A sum may fall
   * by itself, where what is observed can be negative.
   */
  readonly counts: Int32Array
  readonly isSum: Uint8Array
}

const BOUND: ReadonlySet<string> = new Set(['le'])

export function counterColumns(input: Layout, output: Layout): CounterColumns {
  const all = Array.from({ length: columnCount(input) }, (_, column) => column)
  const columns = all.filter(column => metricAt(output, column) !== metricAt(input, column))
  const countColumns = new Map<string, Map<Labels, number>>()
  for (const column of columns) {
    const { name, family, type } = metricAt(input, column)
    if (type !== 'histogram' || name !== `${family}_count`) continue
    let known = countColumns.get(family)
    if (known === undefined) countColumns.set(family, (known = new Map()))
    known.set(labelsAt(input, column), column)
  }
  return {
    columns: Uint32Array.from(columns),
    counts: Int32Array.from(columns, column => {
      const ofFamily = countColumns.get(metricAt(input, column).family)
      return ofFamily?.get(withoutLabels(labelsAt(input, column), BOUND)) ?? column
    }),
    isSum: Uint8Array.from(columns, column => {
      const { name, family, type } = metricAt(input, column)
      return type === 'histogram' && name === `${family}_sum` ? 1 : 0
    }),
  }
}
