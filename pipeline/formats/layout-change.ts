/** What became of the series of one layout in the next. A series whose metric is described anew is the same series. */
import { columnCount, labelsAt, metricAt, Numbering, type Layout } from '../model/layout.ts'
import { SeriesIndex } from '../model/series-index.ts'
import type { Labels } from '../model/labels.ts'

export type LayoutChange = {
  /** Columns of the earlier layout whose series are not in the later one. */
  readonly ended: Uint32Array
  /** For each column of the later one where it was in the earlier, -1 where it was not. */
  readonly origin: Int32Array
}

export function compareLayouts(previous: Layout, layout: Layout): LayoutChange {
  const origin = new Int32Array(columnCount(layout)).fill(-1)
  const isKept = new Uint8Array(columnCount(previous))
  let kept = 0
  if (layout.keptFrom?.id === previous.id) {
    const { runs } = layout.keptFrom
    for (let run = 0; run < runs.length; run += 3) {
      const [to, from, length] = [runs[run]!, runs[run + 1]!, runs[run + 2]!]
      for (let i = 0; i < length; i++) {
        origin[to + i] = from + i
        isKept[from + i] = 1
      }
      kept += length
    }
  }
  if (kept < isKept.length && kept < origin.length) kept += findOthers(previous, layout, origin, isKept)
  const ended = new Uint32Array(isKept.length - kept)
  for (let column = 0, next = 0; column < isKept.length; column++) if (isKept[column] === 0) ended[next++] = column
  return { ended, origin }
}

/** Among the columns that nobody has told to be kept; returns how many are. */
function findOthers(previous: Layout, layout: Layout, origin: Int32Array, isKept: Uint8Array): number {
  const numbers = new Numbering<Labels>()
  const index = new SeriesIndex(64)
  for (let column = 0; column < isKept.length; column++) {
    if (isKept[column] === 1) continue
    index.findOrAdd(metricAt(previous, column).name, numbers.numberOf(labelsAt(previous, column)), column)
  }
  let found = 0
  for (let column = 0; column < origin.length; column++) {
    if (origin[column]! >= 0) continue
    const labels = numbers.numberOf(labelsAt(layout, column))
    const from = index.findOrAdd(metricAt(layout, column).name, labels, isKept.length + column)
    if (from >= isKept.length) continue
    origin[column] = from
    isKept[from] = 1
    found++
  }
  return found
}
