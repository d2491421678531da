import assert from 'node:assert/strict'
import { endBatch, type Batch } from '../../../pipeline/model/batch.ts'
import { getLabel } from '../../../pipeline/model/labels.ts'
import { createLayout, letLabelsGo } from '../../../pipeline/model/layout.ts'
import { ONE, scaleOf } from '../../../pipeline/model/scale.ts'
import { createIntake } from '../../../processors/roll-up/intake.ts'
import { Reading } from '../../../processors/roll-up/reading.ts'
import { Things } from '../../../processors/roll-up/things.ts'
import { batchFromText, createSource } from '../../support/batch-from-text.ts'

/** An intake of the fact `util`, of things that are named by the label `gpu`. */
function gpus({ scale = ONE } = {}) {
  const things = new Things()
  const reading = new Reading(things, { keep: 'value' })
  let nowMs = 0
  const settled: number[] = []
  const intake = createIntake({
    uses: [{ fact: 'util', reading, scale, identify: labels => getLabel(labels, 'gpu') }],
    holdMs: 60_000,
    monotonic: () => nowMs,
    settle: () => void settled.push(nowMs),
  })
  return {
    intake,
    things,
    reading,
    take: (batch: Batch): void => intake.take(batch),
    pass(ms: number) {
      nowMs += ms
      intake.expire()
    },
    /** Values by thing. */
    get values() {
      return Object.fromEntries(Array.from(things.numbers(), one => [things.keyOf(one), reading.values[one]]))
    },
  }
}

const A = createSource('http://a:9400/metrics')
const B = createSource('http://b:9400/metrics')

describe('intake', () => {
  it('takes what is wanted, and nothing else', () => {
    const it = gpus()
    it.take(batchFromText('util{gpu="0"} 5\nutil{gpu="1"} 6\nutil 7\nother{gpu="2"} 8', { source: A }))
    assert.deepEqual(it.values, { 0: 5, 1: 6 })
    assert.ok(it.intake.wants('util') && !it.intake.wants('other'))
  })

  it('lets go of what a layout has no more', () => {
    const it = gpus()
    const first = batchFromText('util{gpu="0"} 5\nutil{gpu="1"} 6', { source: A })
    it.take(first)
    it.take(batchFromText('util{gpu="1"} 7\nutil{gpu="2"} 8', { after: first }))
    assert.deepEqual(it.values, { 1: 7, 2: 8 })
    it.take(batchFromText('other 1', { after: first }))
    assert.deepEqual(it.values, {})
  })

  it('knows the things of label sets that were let go', () => {
    const it = gpus()
    const first = batchFromText('util{gpu="0",pod="a"} 5\nutil{gpu="1",pod="a"} 6', { source: A })
    it.take(first)
    it.things.settle()
    assert.equal(it.intake.taker(A, first.layout)!.knowsLabels, true)
    letLabelsGo(first.layout)
    const next = batchFromText('util{gpu="0",pod="a"} 7\nutil{gpu="1",pod="b"} 8', { source: A })
    it.take(next)
    assert.deepEqual(it.values, { 0: 7, 1: 8 })
    const moved = Array.from(it.things.numbers()).filter(one => it.things.isMoved(one))
    assert.deepEqual(
      moved.map(one => it.things.keyOf(one)),
      ['1'],
    )
    letLabelsGo(next.layout)
    it.take(batchFromText('util{gpu="1",pod="b"} 9', { source: A }))
    assert.deepEqual(it.values, { 1: 9 })
  })

  it('finds the numbers of a batch where they were before it came some way', () => {
    const it = gpus()
    const first = batchFromText('util{gpu="0"} 5\nutil{gpu="1"} 6', { source: A })
    it.take(first)
    const watch = it.intake.taker(A, first.layout)!
    const { layout: before } = batchFromText('other 1\nutil{gpu="1"} 2\nutil{gpu="0"} 3', { source: A })
    const batch = { ...first, layout: before, values: Float64Array.of(1, 20, 30), timeMs: 1000 }
    watch.see(batch, { output: first.layout, gather: Uint32Array.of(2, 1) })
    assert.deepEqual(it.values, { 0: 30, 1: 20 })
    // What another target has shown of them in the meantime counts no longer when that is gone: this is the last of the first one.
    it.take(batchFromText('util{gpu="0"} 99', { source: B, timeMs: 3000 }))
    const stamped = { ...batch, values: Float64Array.of(1, 21, 31), times: Float64Array.of(0, 1900, 1800) }
    watch.see({ ...stamped, timeMs: 2000 }, { output: first.layout, gather: Uint32Array.of(2, 1) })
    assert.deepEqual(it.values, { 0: 99, 1: 21 })
    it.take(endBatch(B, 4000, 'removed'))
    assert.deepEqual(it.values, { 0: 31, 1: 21 })
    assert.deepEqual(
      Array.from(it.things.numbers(), one => it.reading.timeOf(one)),
      [1800, 1900],
    )
  })

  it('holds again what it reads after a failure, whichever way it comes', () => {
    const it = gpus()
    const first = batchFromText('util{gpu="0"} 5', { source: A })
    it.take(first)
    const watch = it.intake.taker(A, first.layout)!
    it.take(endBatch(A, 1000, 'failed'))
    assert.equal(it.intake.held, 1)
    const way = { output: first.layout, gather: Uint32Array.of(1) }
    watch.see({ ...first, layout: batchFromText('a 1\nb 2').layout, values: Float64Array.of(8, 9), timeMs: 2000 }, way)
    assert.equal(it.intake.held, 0)
    assert.deepEqual(it.values, { 0: 9 })
  })

  it('holds what a failed target showed, for a while', () => {
    const it = gpus()
    it.take(batchFromText('util{gpu="0"} 5', { source: A }))
    it.take(endBatch(A, 15_000, 'failed'))
    it.pass(30_000)
    it.take(endBatch(A, 45_000, 'failed'))
    it.pass(29_999)
    assert.deepEqual(it.values, { 0: 5 })
    assert.equal(it.intake.held, 1)
    assert.equal(it.intake.missing, 0)
    it.pass(1)
    assert.deepEqual(it.values, {})
    assert.equal(it.intake.held, 0)
  })

  it('forgets the failure of a target that answers again', () => {
    const it = gpus()
    const first = batchFromText('util{gpu="0"} 5', { source: A })
    it.take(first)
    it.take(endBatch(A, 15_000, 'failed'))
    it.pass(50_000)
    it.take(batchFromText('util{gpu="0"} 9', { after: first }))
    it.pass(50_000)
    assert.deepEqual(it.values, { 0: 9 })
    assert.equal(it.intake.held, 0)
  })

  it('ends what a removed target showed at once', () => {
    const it = gpus()
    it.take(batchFromText('util{gpu="0"} 5', { source: A }))
    it.take(endBatch(A, 15_000, 'failed'))
    it.take(endBatch(A, 15_000, 'removed'))
    assert.deepEqual(it.values, {})
    assert.equal(it.intake.held, 0)
  })

  it('goes on with another target that shows the same', () => {
    const it = gpus()
    it.take(batchFromText('util{gpu="0"} 5', { source: A, timeMs: 1000 }))
    it.take(batchFromText('util{gpu="0"} 6', { source: B, timeMs: 2000 }))
    it.take(endBatch(B, 15_000, 'removed'))
    assert.deepEqual(it.values, { 0: 5 })
  })

  it('does not go on with a sample that the other target did not have', () => {
    const it = gpus()
    const first = batchFromText('util{gpu="0"} 5', { source: A, timeMs: 1000 })
    it.take(first)
    it.take(batchFromText('util{gpu="0"} 6', { source: B, timeMs: 2000 }))
    it.take({ ...first, values: Float64Array.of(2619), absent: Uint32Array.of(0) })
    it.take(endBatch(B, 15_000, 'removed'))
    assert.deepEqual(it.values, { 0: NaN })
  })

  it('keeps the value where a sample is absent', () => {
    const it = gpus()
    const first = batchFromText('util{gpu="0"} 5\nutil{gpu="1"} 6', { source: A })
    it.take(first)
    it.take({ ...first, timeMs: 15_000, values: Float64Array.of(2619, 7), absent: Uint32Array.of(0) })
    assert.deepEqual(it.values, { 0: 5, 1: 7 })
  })

  it('takes the times that samples have of their own', () => {
    const it = gpus()
    it.take(batchFromText('util{gpu="0"} 5 1234', { source: A, timeMs: 9999 }))
    assert.equal(it.reading.timeOf(it.things.find('0')), 1234)
  })

  it('multiplies by the scales of the series and of the fact, exactly', () => {
    const it = gpus({ scale: scaleOf(100) })
    const { layout, ...batch } = batchFromText('util{gpu="0"} 29', { source: A })
    it.take({ ...batch, layout: createLayout({ ...layout, labels: layout.labels, scales: [scaleOf(1, 100)] }) })
    assert.deepEqual(it.values, { 0: 29 })
  })

  it('shows a thing for as long as any target does', () => {
    const it = gpus()
    it.take(batchFromText('util{gpu="0"} 5', { source: A }))
    it.take(batchFromText('util{gpu="0"} 5', { source: B }))
    it.take(endBatch(A, 0, 'removed'))
    assert.deepEqual(it.values, { 0: 5 })
    it.take(endBatch(B, 0, 'removed'))
    assert.deepEqual(it.values, {})
  })
})
