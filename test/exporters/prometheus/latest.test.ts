import assert from 'node:assert/strict'
import { LatestBatches, type HeldBatches } from '../../../exporters/prometheus/latest.ts'
import { endBatch, type Batch } from '../../../pipeline/model/batch.ts'
import { batchFromText } from '../../support/batch-from-text.ts'

const first = batchFromText('a 1\nb 2')

function later(timeMs: number, ...values: readonly number[]): Batch {
  return { ...first, timeMs, values: Float64Array.from(values) }
}

/** What the only source says, as numbers. */
function numbers(batches: readonly Batch[]): number[] {
  return batches.flatMap(({ timeMs, values }) => [timeMs, ...values])
}

describe('the latest batches', () => {
  it('are copies: nobody has to keep numbers that were handed on', () => {
    const latest = new LatestBatches(300_000)
    const batch = later(1, 10, 20)
    latest.put(batch, 0)
    batch.values.fill(NaN)
    assert.deepEqual(numbers(latest.hold().batches), [1, 10, 20])
  })

  it('do not change while somebody reads them', () => {
    const latest = new LatestBatches(300_000)
    latest.put(later(1, 10, 20), 0)
    const [one, other] = [latest.hold(), latest.hold()]
    latest.put(later(2, 11, 21), 0)
    one.release()
    latest.put(later(3, 12, 22), 0)
    const last = latest.hold()
    latest.put(endBatch(first.source, 4, 'failed'), 0)
    latest.put(later(5, 13, 23), 0)
    assert.deepEqual(numbers(other.batches), [1, 10, 20])
    assert.deepEqual(numbers(last.batches), [3, 12, 22])
    assert.deepEqual(numbers(latest.hold().batches), [5, 13, 23])
  })

  it('have the memory of those that nobody reads any more', () => {
    const latest = new LatestBatches(300_000)
    const memory = new Set<ArrayBufferLike>()
    const read = (): HeldBatches => {
      const held = latest.hold()
      memory.add(held.batches[0]!.values.buffer)
      return held
    }
    latest.put(later(0, 10, 0), 0)
    let slow = read()
    for (let i = 1; i <= 10; i++) {
      latest.put(later(i, 10, i), 0)
      const next = read()
      assert.deepEqual(numbers(slow.batches), [i - 1, 10, i - 1])
      slow.release()
      slow = next
    }
    assert.equal(memory.size, 2)
    slow.release()
    latest.put(later(11, 10, 11), 0)
    read()
    assert.equal(memory.size, 2)
  })

  it('give back the memory of those that nobody reads any more, where there are more series now', () => {
    const latest = new LatestBatches(300_000)
    latest.put(later(0, 10), 0)
    const held = latest.hold()
    const [before] = held.batches
    latest.put(later(1, 10, 20), 0)
    assert.deepEqual(numbers([before!]), [0, 10])
    held.release()
    latest.put(later(2, 10, 20, 30), 0)
    assert.equal(before!.values.byteLength, 0)
    assert.deepEqual(numbers(latest.hold().batches), [2, 10, 20, 30])
  })

  it('are left to one who reads for long', () => {
    const latest = new LatestBatches(300_000)
    latest.put(later(0, 10, 0), 0)
    const stalled = latest.hold()
    for (let i = 1; i <= 10; i++) {
      latest.put(later(i, 10, i), 0)
      const { batches, release } = latest.hold()
      assert.deepEqual(numbers(batches), [i, 10, i])
      release()
    }
    assert.deepEqual(numbers(stalled.batches), [0, 10, 0])
  })

  it('are as long as the series that there are', () => {
    const latest = new LatestBatches(300_000)
    latest.put(later(1, 10, 20), 0)
    latest.put({ ...batchFromText('a 1\nb 2\nc 3'), source: first.source, timeMs: 2 }, 0)
    assert.deepEqual(numbers(latest.hold().batches), [2, 1, 2, 3])
    assert.equal(latest.seriesCount(), 3)
  })
})
