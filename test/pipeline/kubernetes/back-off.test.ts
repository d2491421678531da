import assert from 'node:assert/strict'
import { createSystemClock } from '../../../pipeline/clock/system-clock.ts'
import { createVirtualClock } from '../../../pipeline/clock/virtual-clock.ts'
import { createBackOff, createRandom } from '../../../pipeline/kubernetes/back-off.ts'

describe('a back-off', () => {
  it('doubles, up to the longest delay, and begins anew when it is reset', () => {
    const backOff = createBackOff(() => 0.5, 500, 15_000)
    const delays = Array.from({ length: 7 }, () => backOff.next())
    assert.deepEqual(delays, [500, 1000, 2000, 4000, 8000, 15_000, 15_000])
    assert.equal(backOff.count, 7)
    backOff.reset()
    assert.deepEqual([backOff.count, backOff.next()], [0, 500])
  })

  it('varies by a fifth', () => {
    assert.equal(createBackOff(() => 0, 1000, 1000).next(), 800)
    assert.ok(createBackOff(() => 0.999, 1000, 1000).next() < 1200)
  })

  it('is the same each time on a virtual clock, and different for different watches', () => {
    const numbers = (seed: string): number[] => {
      const random = createRandom(createVirtualClock(0), seed)
      return Array.from({ length: 100 }, random)
    }
    assert.deepEqual(numbers('/api/v1/pods'), numbers('/api/v1/pods'))
    assert.notDeepEqual(numbers('/api/v1/pods'), numbers('/api/v1/nodes'))
    const mean = numbers('x').reduce((sum, number) => sum + number) / 100
    assert.ok(mean > 0.35 && mean < 0.65, `${mean}`)
    assert.ok(numbers('x').every(number => number >= 0 && number < 1))
    assert.equal(createRandom(createSystemClock(), 'x'), Math.random)
  })
})
