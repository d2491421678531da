import assert from 'node:assert/strict'
import { LatestBatches } from '../../../exporters/prometheus/latest.ts'
import { at, gauge, pushed, resource } from '../../support/pushed.ts'
import { batchFromText } from '../../support/batch-from-text.ts'
import { textFromBatch } from '../../support/text-from-batch.ts'

describe('what was pushed in parts', () => {
  it('is served whole, until a series ends', async () => {
    const { push, batches, clock, pushes } = pushed()
    const latest = new LatestBatches(300_000)
    const served = (): string => {
      for (const batch of batches.splice(0)) latest.put(batch, clock.monotonic())
      return latest
        .hold()
        .batches.map(batch => textFromBatch(batch))
        .join('')
    }
    push(resource([gauge('a', at(1, 1)), gauge('b', at(1, 2))]))
    assert.equal(served(), 'a 1 1000\nb 2 1000\n')
    push(resource([gauge('c', at(2, 3))]))
    assert.equal(served(), 'a 1 1000\nb 2 1000\nc 3 2000\n')
    push(resource([gauge('b', at(3, { flags: 1 }))]))
    assert.equal(served(), 'a 1 1000\nc 3 2000\n')
    await clock.advance(10)
    push(resource([gauge('c', at(4, 5))]))
    pushes.expire(10)
    assert.equal(served(), 'c 5 4000\n')
  })

  it('is not completed where it was scraped: what had to be dropped is not there', () => {
    const latest = new LatestBatches(300_000)
    const first = batchFromText('a 1\nb 2')
    latest.put(first, 0)
    latest.put({ ...first, absent: Uint32Array.of(0) }, 1)
    assert.equal(textFromBatch(latest.hold().batches[0]!), 'b 2\n')
  })
})
