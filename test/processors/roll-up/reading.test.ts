import assert from 'node:assert/strict'
import { EMPTY_LABELS } from '../../../pipeline/model/labels.ts'
import { Reading, type ReadingOptions } from '../../../processors/roll-up/reading.ts'
import { Things } from '../../../processors/roll-up/things.ts'

const [A, B] = [1, 2]

/** A reading of one thing, and what sources say of it: `at` seconds. */
function one(options: ReadingOptions) {
  const things = new Things()
  const reading = new Reading(things, options)
  const number = things.take('thing', EMPTY_LABELS, 0)
  const numbers = Uint32Array.of(number)
  const places = { columns: Uint32Array.of(0), multiply: 1, divide: 1 }
  return {
    reading,
    things,
    number,
    write(source: number, value: number, at: number) {
      const batch = { values: Float64Array.of(value), timeMs: at * 1000 }
      reading.write(source, numbers, places, batch, undefined, undefined)
    },
    writeStamped(source: number, value: number, at: number, stamp: number) {
      const batch = { values: Float64Array.of(value), timeMs: at * 1000, times: Float64Array.of(stamp * 1000) }
      reading.write(source, numbers, places, batch, undefined, undefined)
    },
    writeNothing(source: number, at: number) {
      const batch = { values: Float64Array.of(7), timeMs: at * 1000 }
      reading.write(source, numbers, places, batch, undefined, Uint8Array.of(1))
    },
    get value() {
      return reading.values[number]!
    },
  }
}

describe('a reading of values', () => {
  it('is the latest of a source, and none before', () => {
    const it = one({ keep: 'value' })
    assert.ok(Number.isNaN(it.value))
    it.write(A, 5, 0)
    it.write(A, 3, 15)
    assert.equal(it.value, 3)
  })

  it('is the freshest of several sources, in whichever order they come', () => {
    for (const order of [
      [A, B],
      [B, A],
    ] as const) {
      const it = one({ keep: 'value' })
      for (const source of order) it.write(source, source === A ? 50 : 20, source === A ? 10 : 15)
      assert.equal(it.value, 20)
    }
  })

  it('is the larger of two of one time', () => {
    for (const [first, second] of [
      [50, 20],
      [20, 50],
    ] as const) {
      const it = one({ keep: 'value' })
      it.write(A, first, 10)
      it.write(B, second, 10)
      assert.equal(it.value, 50)
    }
  })

  it('is what the freshest of the others showed last when a source ends', () => {
    const it = one({ keep: 'value' })
    it.write(B, 20, 15)
    it.write(A, 50, 20)
    it.reading.end(A, it.number)
    assert.equal(it.value, 20)
    it.reading.end(B, it.number)
    assert.ok(Number.isNaN(it.value))
  })

  it('is what the freshest showed last, also of one that counted in the meantime', () => {
    const it = one({ keep: 'value' })
    it.write(A, 10, 10)
    it.write(B, 20, 15)
    it.write(A, 30, 20)
    it.write(B, 40, 25)
    it.write(A, 35, 22)
    it.reading.end(B, it.number)
    assert.equal(it.value, 35)
    assert.equal(it.reading.timeOf(it.number), 22_000)
  })

  it('does not notice the end of a source that does not count', () => {
    const it = one({ keep: 'value' })
    it.write(B, 20, 15)
    it.write(A, 50, 20)
    it.reading.end(B, it.number)
    assert.equal(it.value, 50)
  })

  it('has the time that the source gave it', () => {
    const it = one({ keep: 'value' })
    it.writeStamped(A, 5, 100, 90)
    assert.equal(it.reading.timeOf(it.number), 90_000)
    it.writeStamped(A, 5, 100, NaN)
    assert.equal(it.reading.timeOf(it.number), 100_000)
  })

  it('stays where there is no sample', () => {
    const it = one({ keep: 'value' })
    it.write(A, 5, 0)
    it.writeNothing(A, 15)
    assert.equal(it.value, 5)
    assert.equal(it.reading.timeOf(it.number), 0)
  })

  it('is gone with the thing, whose number another may have', () => {
    const it = one({ keep: 'value', activeAbove: 0 })
    it.write(A, 5, 0)
    it.things.release(it.number)
    assert.equal(it.things.take('another', EMPTY_LABELS, 0), it.number)
    assert.ok(Number.isNaN(it.value))
    assert.ok(Number.isNaN(it.reading.active![it.number]))
  })
})

describe('a reading of activity', () => {
  it('keeps the time of the last sample above the threshold', () => {
    const it = one({ keep: 'value', activeAbove: 5 })
    it.write(A, 5, 10)
    assert.ok(Number.isNaN(it.reading.active![it.number]))
    it.write(A, 5.1, 20)
    it.write(A, 0, 30)
    assert.equal(it.reading.active![it.number], 20_000)
  })

  it('does not stay ahead of a clock that is set back', () => {
    const it = one({ keep: 'value', activeAbove: 0 })
    it.write(A, 5, 3600)
    it.reading.notAfter(60_000)
    assert.equal(it.reading.active![it.number], 60_000)
    it.write(B, 9, 61)
    assert.equal(it.value, 9)
  })
})

describe('a reading of rates', () => {
  it('needs two samples, and is by second of their own time', () => {
    const it = one({ keep: 'rate' })
    it.writeStamped(A, 100, 0, 0)
    assert.ok(Number.isNaN(it.value))
    it.writeStamped(A, 130, 15, 10)
    assert.equal(it.value, 3)
  })

  it('begins anew when the counter does', () => {
    const it = one({ keep: 'rate' })
    it.write(A, 1000, 0)
    it.write(A, 1010, 10)
    it.write(A, 20, 20)
    assert.equal(it.value, 2)
  })

  it('stays when a sample is repeated', () => {
    const it = one({ keep: 'rate' })
    it.writeStamped(A, 0, 0, 0)
    it.writeStamped(A, 10, 10, 10)
    it.writeStamped(A, 10, 20, 10)
    assert.equal(it.value, 1)
    it.writeStamped(A, 50, 30, 30)
    assert.equal(it.value, 2)
  })

  it('goes on when the clock is set back', () => {
    const it = one({ keep: 'rate' })
    it.write(A, 0, 3600)
    it.write(A, 10, 3610)
    it.write(A, 20, 20)
    assert.equal(it.value, 1)
    it.write(A, 50, 30)
    assert.equal(it.value, 3)
  })

  it('listens to one of two sources, whose clocks and counters may differ', () => {
    const it = one({ keep: 'rate' })
    for (let i = 0; i < 4; i++) {
      it.write(A, i * 10, i * 10)
      it.write(B, 1000 - i, i * 10 + 3)
    }
    assert.equal(it.value, 1)
  })

  it('is that of the other source when one ends or fails, once that has told its counter twice', () => {
    for (const goes of ['ends', 'fails']) {
      const it = one({ keep: 'rate' })
      it.write(A, 0, 0)
      it.write(B, 500, 3)
      it.write(A, 10, 10)
      if (goes === 'ends') it.reading.end(A, it.number)
      else it.reading.yield(A)
      it.write(B, 600, 13)
      assert.equal(it.value, 1, goes)
      it.write(B, 620, 23)
      assert.equal(it.value, 2, goes)
    }
  })
})

describe('a reading of increases', () => {
  it('is all that a counter has grown by, through resets', () => {
    const it = one({ keep: 'increase' })
    for (const [at, value] of [10, 15, 3, 4].entries()) it.write(A, value, at)
    assert.equal(it.value, 10 + 5 + 3 + 1)
  })

  it('does not count twice when a thing is gone for a while', () => {
    const it = one({ keep: 'increase' })
    it.write(A, 10, 0)
    it.things.release(it.number)
    it.things.take('thing', EMPTY_LABELS, 0)
    it.write(A, 12, 10)
    assert.equal(it.value, 2)
  })

  it('does not count what a second source shows of the same', () => {
    const it = one({ keep: 'increase' })
    it.write(A, 10, 0)
    it.write(B, 10, 1)
    it.reading.yield(A)
    it.write(B, 11, 11)
    it.write(B, 13, 21)
    assert.equal(it.value, 12)
  })

  it('goes on when the clock is set back', () => {
    const it = one({ keep: 'increase' })
    it.write(A, 10, 3600)
    it.write(A, 12, 15)
    assert.equal(it.value, 12)
  })

  it('takes a sample from before the last one for no reset', () => {
    const it = one({ keep: 'increase' })
    it.write(A, 100, 10)
    it.write(A, 90, 5)
    assert.equal(it.value, 100)
  })
})
