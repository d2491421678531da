/** A request that pushes data is any part of what its source has: what it does not say is as it was. */
import type { Batch } from '../../pipeline/model/batch.ts'
import { carried } from '../../pipeline/model/carried.ts'
import { scaleAt } from '../../pipeline/model/layout.ts'

/** A batch with the samples of the one before, where it has none and the series goes on. */
export function completed(before: Batch, batch: Batch): Batch {
  const { layout, absent } = batch
  if (absent === undefined) return batch
  const values = batch.values.slice()
  const times = batch.times?.slice() ?? new Float64Array(values.length).fill(NaN)
  const starts = batch.starts?.slice() ?? new Float64Array(values.length).fill(NaN)
  const wasAbsent = new Uint8Array(before.values.length)
  for (const column of before.absent ?? []) wasAbsent[column] = 1
  const from = carried(before.layout, layout)
  const stillAbsent = absent.filter(column => {
    const old = from[column]!
    if (old < 0 || wasAbsent[old] === 1 || scaleAt(before.layout, old) !== scaleAt(layout, column)) return true
    values[column] = before.values[old]!
    times[column] = before.times?.[old] ?? NaN
    starts[column] = before.starts?.[old] ?? NaN
    return false
  })
  const { absent: _, ...rest } = batch
  return { ...rest, values, times, starts, ...(stillAbsent.length > 0 && { absent: stillAbsent }) }
}
