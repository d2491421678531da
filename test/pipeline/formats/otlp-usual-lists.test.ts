import assert from 'node:assert/strict'
import { SLACK } from '../../../pipeline/formats/otlp-dialect.ts'
import { shareAscending, shareStarts } from '../../../pipeline/formats/otlp-usual-lists.ts'

const ascending = (length: number): Int32Array => Int32Array.from({ length }, (_, i) => i)
const startsOfNothing = (length: number): Uint32Array => new Uint32Array(length).fill(SLACK, 1)

describe('lists that most plans have', () => {
  it('are kept once and stay as they are when a longer one comes', () => {
    const [short, other] = [shareAscending(ascending(9)), shareAscending(ascending(10))]
    assert.equal(short.buffer, other.buffer)
    const long = shareAscending(ascending(1000))
    assert.deepEqual([short, other, long], [ascending(9), ascending(10), ascending(1000)])
    const starts = [2, 3, 1000].map(length => shareStarts(startsOfNothing(length)))
    assert.deepEqual(starts, [2, 3, 1000].map(startsOfNothing))
  })

  it('are left alone where a plan has others', () => {
    const groups = Int32Array.of(0, 1, -1, 3)
    const starts = Uint32Array.of(0, SLACK, SLACK + 3)
    assert.equal(shareAscending(groups), groups)
    assert.equal(shareStarts(starts), starts)
  })
})
