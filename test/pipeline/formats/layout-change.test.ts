import assert from 'node:assert/strict'
import { compareLayouts } from '../../../pipeline/formats/layout-change.ts'
import { columnCount, layoutFromSeries, seriesAt } from '../../../pipeline/model/layout.ts'
import { batchFromText } from '../../support/batch-from-text.ts'

/** Columns that ended, and where those of the later layout were, with and without what the later one says of itself. */
function check(before: string, after: string, ended: number[], origin: number[]): void {
  const previous = batchFromText(before)
  const told = batchFromText(after, { after: previous }).layout
  const series = Array.from({ length: columnCount(told) }, (_, column) => seriesAt(told, column))
  for (const layout of [told, layoutFromSeries(series)]) {
    const change = compareLayouts(previous.layout, layout)
    assert.deepEqual([...change.ended], ended)
    assert.deepEqual([...change.origin], origin)
  }
}

describe('what becomes of series', () => {
  it('is found out by name and labels', () => {
    check('a 1\nb 2', 'a 1\nb 2', [], [0, 1])
    check('a 1\nb 2\nc 3', 'c 3\na 1', [1], [2, 0])
    check('a{x="1"} 1\na{x="2"} 2', 'a{x="2"} 1\nb{x="1"} 2', [0], [1, -1])
    check('a 1', 'b 1', [0], [-1])
    check('', 'a 1', [], [-1])
    check('a 1\nb 1', '', [0, 1], [])
  })

  it('does not end where a metric is described anew', () => {
    check('# HELP a one\na 1\nb 2', '# HELP a two\n# TYPE a gauge\na 1', [1], [0])
  })
})
