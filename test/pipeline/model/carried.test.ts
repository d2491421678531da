import assert from 'node:assert/strict'
import { carried } from '../../../pipeline/model/carried.ts'
import { batchFromText } from '../../support/batch-from-text.ts'

describe('carried', () => {
  const before = batchFromText('a 1\nb{x="1"} 1\nc 1')

  it('is each column itself in the same layout', () => {
    assert.deepEqual([...carried(before.layout, before.layout)], [0, 1, 2])
  })

  it('follows what a layout says of its predecessor', () => {
    const { layout } = batchFromText('new 1\nc 1\nb{x="2"} 1\nb{x="1"} 1', { after: before })
    assert.ok(layout.keptFrom !== undefined)
    assert.deepEqual([...carried(before.layout, layout)], [-1, 2, -1, 1])
  })

  it('looks for the series where the layout has another predecessor', () => {
    const { layout } = batchFromText('# TYPE c gauge\nc 1\nd 1\na 1')
    assert.deepEqual([...carried(before.layout, layout)], [2, -1, 0])
  })
})
