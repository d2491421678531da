import assert from 'node:assert/strict'
import { createPace } from '../../../exporters/delivery/pace.ts'
import type { Encoder } from '../../../exporters/delivery/payload.ts'
import type { Batch, Source } from '../../../pipeline/model/batch.ts'
import { createSource } from '../../support/batch-from-text.ts'
import { points } from '../../support/pushing.ts'
import { testHost } from '../../support/test-host.ts'

/** Takes two columns at a time, and notes them. */
function createWorld() {
  const { clock } = testHost()
  const state = { isEnough: false, isBusy: false, known: new Set<Source>(), taken: [] as number[], failed: 0 }
  const seen: Batch[] = []
  let at = 0
  const encoder: Encoder = {
    add: () => assert.fail('in parts'),
    addPart(batch) {
      const { values } = batch
      seen.push(batch)
      if (values.length === 13) throw new Error('unlucky')
      state.taken.push(...values.slice(at, at + 2))
      at += 2
      if (at < values.length) return false
      at = 0
      return true
    },
    knows: source => state.known.has(source),
    flush: () => {},
    pendingPoints: 0,
  }
  const pace = createPace(
    encoder,
    clock,
    () => state.isEnough,
    () => state.isBusy,
    () => state.failed++,
  )
  return { clock, state, pace, seen }
}

const numbers = (...batches: readonly Batch[]) => batches.flatMap(({ values }) => [...values])

describe('pace of encoding', () => {
  it('encodes at once while there is not enough on its way', () => {
    const { state, pace } = createWorld()
    const batch = points(5)
    pace.add(batch)
    assert.deepEqual(state.taken, numbers(batch))
    assert.equal(pace.waiting, 0)
  })

  it('lets batches wait while there is, in the middle of one too, and goes on in order', () => {
    const { state, pace } = createWorld()
    const [first, second] = [points(5), points(3)]
    state.isEnough = true
    pace.add(first)
    pace.add(second)
    assert.deepEqual(state.taken, [])
    assert.equal(pace.waiting, 8)
    state.isEnough = false
    pace.goOn()
    assert.deepEqual(state.taken, numbers(first, second))
    assert.equal(pace.waiting, 0)
  })

  it('keeps of a batch that waits a copy, whose memory is given back when it is encoded', () => {
    const { state, pace, seen } = createWorld()
    state.isEnough = true
    const batch = points(3)
    const expected = numbers(batch)
    pace.add(batch)
    batch.values.fill(NaN)
    state.isEnough = false
    pace.goOn()
    assert.deepEqual(state.taken, expected)
    assert.deepEqual(
      seen.map(({ values }) => values.length),
      [0, 0],
    )
    assert.equal(batch.values.length, 3)
  })

  it('does not keep batches without series of sources that have none there, but all others', () => {
    const { state, pace, seen } = createWorld()
    state.isEnough = true
    const [other, known] = [createSource(), createSource()]
    const nothing = { ...points(0), source: other }
    pace.add(nothing)
    pace.add({ ...nothing, source: known })
    const some = { ...points(1), source: other }
    pace.add(some)
    pace.add(nothing)
    state.known.add(known)
    pace.add({ ...nothing, source: known })
    state.isEnough = false
    pace.goOn()
    assert.deepEqual(
      seen.map(({ source }) => source),
      [other, other, known],
    )
  })

  it('waits no longer than a second, whatever the destination does', async () => {
    const { clock, state, pace } = createWorld()
    const [first, second] = [points(5), points(3)]
    state.isEnough = true
    pace.add(first)
    await clock.advance(999)
    assert.deepEqual(state.taken, [])
    pace.add(second)
    await clock.advance(1)
    assert.deepEqual(state.taken, numbers(first, second))
    // The next one has its own second.
    pace.add(first)
    await clock.advance(999)
    assert.equal(state.taken.length, 8)
    await clock.advance(1)
    assert.equal(state.taken.length, 13)
  })

  it('waits longer while something leaves, but not for ever', async () => {
    const { clock, state, pace } = createWorld()
    state.isEnough = true
    pace.add(points(5))
    for (let i = 0; i < 5; i++) {
      await clock.advance(700)
      pace.goOn()
    }
    assert.deepEqual(state.taken, [])
    await clock.advance(500)
    assert.equal(state.taken.length, 5)
  })

  it('encodes what has waited for too long in turns, and lets the rest wait again when something leaves between them', async () => {
    const { clock, state, pace } = createWorld()
    state.isEnough = true
    pace.add(points(7))
    await clock.advance(999)
    const turns: number[] = []
    const cancel = clock.after(1, function turn() {
      turns.push(state.taken.length)
      if (turns.length === 2) return pace.goOn()
      clock.after(0, turn)
    })
    await clock.advance(1)
    cancel()
    assert.deepEqual(turns, [2, 4])
    await clock.advance(999)
    assert.equal(state.taken.length, 4)
    await clock.advance(1)
    assert.equal(state.taken.length, 7)
  })

  it('does not encode more than can be compressed, however long something has waited', async () => {
    const { clock, state, pace } = createWorld()
    state.isEnough = true
    state.isBusy = true
    pace.add(points(3))
    await clock.advance(2000)
    assert.deepEqual(state.taken, [])
    state.isBusy = false
    await clock.advance(10)
    assert.equal(state.taken.length, 3)
  })

  it('encodes everything when it is told to hurry', () => {
    const { state, pace } = createWorld()
    state.isEnough = true
    pace.add(points(5))
    pace.hurry()
    assert.equal(state.taken.length, 5)
  })

  it('says which batch could not be encoded, and goes on with the next one', () => {
    const { state, pace } = createWorld()
    state.isEnough = true
    pace.add(points(13))
    pace.add(points(2))
    pace.hurry()
    assert.equal(state.failed, 1)
    assert.equal(state.taken.length, 2)
  })
})
