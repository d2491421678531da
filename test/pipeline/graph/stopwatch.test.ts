import assert from 'node:assert/strict'
import { createStopwatch, type Lap } from '../../../pipeline/graph/stopwatch.ts'

describe('the stopwatch of the graph', () => {
  it('gives each lap the time without that of laps inside of it', () => {
    let nowMs = 0
    const watch = createStopwatch({ monotonic: () => nowMs })
    const outer: Lap = { ms: 0 }
    const inner: Lap = { ms: 0 }
    const before = watch.enter(outer)
    nowMs += 3
    for (const ms of [10, 20]) {
      const around = watch.enter(inner)
      nowMs += ms
      assert.equal(watch.leave(inner, around), ms)
      nowMs += 1
    }
    assert.equal(watch.leave(outer, before), 5)
  })

  it('counts nothing between two laps', () => {
    let nowMs = 0
    const watch = createStopwatch({ monotonic: () => nowMs })
    const lap: Lap = { ms: 0 }
    for (const ms of [1, 2]) {
      const before = watch.enter(lap)
      nowMs += ms
      assert.equal(watch.leave(lap, before), ms)
      nowMs += 100
    }
  })
})
