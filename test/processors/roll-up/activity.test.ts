import assert from 'node:assert/strict'
import { EMPTY_LABELS } from '../../../pipeline/model/labels.ts'
import { createActivity } from '../../../processors/roll-up/activity.ts'
import type { PairRecord } from '../../../processors/roll-up/device-records.ts'
import { entityFrom } from '../../../processors/roll-up/entity.ts'
import { Reading } from '../../../processors/roll-up/reading.ts'
import type { ValueSpec } from '../../../processors/roll-up/rules.ts'
import { Things } from '../../../processors/roll-up/things.ts'
import type { Values } from '../../../processors/roll-up/values.ts'

const SPEC = {} as ValueSpec

/** One device, `GPU`, of which two readings may tell that it is busy. Times are in seconds. */
function activityOf() {
  const devices = new Things()
  const readings = [0, 1].map(() => new Reading(devices, { keep: 'value', activeAbove: 0 }))
  const values = { devices, activity: (kind: string) => (kind === 'device' ? readings : []) } as unknown as Values
  const activity = createActivity(values, SPEC)
  return {
    activity,
    devices,
    show: (at: number) => devices.take('GPU', EMPTY_LABELS, at * 1000),
    read(value: number, at: number, reading = 0) {
      const batch = { values: Float64Array.of(value), timeMs: at * 1000 }
      const numbers = Uint32Array.of(devices.find('GPU'))
      readings[reading]!.write(1, numbers, Uint32Array.of(0), batch, 1, 1, undefined)
    },
    note: (...pairs: PairRecord[]) => activity.note(pairs, () => -1),
    /** When the pod and the workload were last busy. */
    lastOf: (pod: string) => [activity.ofPod(pod) / 1000, activity.ofWorkload(`${pod} work`) / 1000],
  }
}

function pair(pod: string, { isShared = false, isNamed = true } = {}): PairRecord {
  const holder = { ...entityFrom(name => (name === 'workload_id' ? `${pod} work` : undefined)), key: pod }
  const assignment = { isShared, device: { holders: isNamed ? [{}] : [] } }
  return { key: `${pod}\nGPU`, holder, device: { key: 'GPU', assignment }, share: 1 } as unknown as PairRecord
}

describe('activity', () => {
  it('is the last time at which the GPU of a pod was busy', () => {
    const it = activityOf()
    it.show(0)
    it.read(5, 0)
    it.note(pair('p'))
    it.read(0, 15)
    it.note(pair('p'))
    assert.deepEqual(it.lastOf('p'), [0, 0])
    it.read(7, 30)
    it.note(pair('p'))
    assert.deepEqual(it.lastOf('p'), [30, 30])
  })

  it('of the last pod of a GPU is not that of the next', () => {
    const it = activityOf()
    const number = it.show(0)
    it.read(5, 0)
    it.note(pair('p'))
    it.show(15)
    it.devices.release(number)
    it.read(0, 15)
    it.note(pair('q'))
    assert.deepEqual(it.lastOf('q'), [NaN, NaN])
    assert.deepEqual(it.lastOf('p'), [0, 0])
  })

  it('of a shared GPU counts for a pod from the reading at which it came', () => {
    const it = activityOf()
    it.show(0)
    it.read(5, 0)
    it.read(0, 15)
    it.note(pair('p', { isShared: true }))
    assert.deepEqual(it.lastOf('p'), [NaN, NaN])
    it.read(5, 30)
    it.note(pair('p', { isShared: true }))
    assert.deepEqual(it.lastOf('p'), [30, 30])
  })

  it('is noticed of a pair that was there before its readings', () => {
    for (const isShared of [false, true]) {
      const it = activityOf()
      it.note(pair('p', { isShared }))
      it.show(10)
      it.note(pair('p', { isShared }))
      it.read(5, 15)
      it.note(pair('p', { isShared }))
      assert.deepEqual(it.lastOf('p'), [15, 15], `${isShared}`)
    }
  })

  it('of a device is kept when it is not shown any more', () => {
    const it = activityOf()
    const number = it.show(0)
    it.read(5, 0)
    it.devices.release(number)
    assert.equal(it.activity.ofDevice('GPU'), 0)
    it.show(100)
    it.read(0, 100)
    assert.equal(it.activity.ofDevice('GPU'), 0)
    it.read(9, 115)
    assert.equal(it.activity.ofDevice('GPU'), 115_000)
  })

  it('is by the first reading that a device has, also if another is more sensitive', () => {
    const it = activityOf()
    it.show(0)
    it.read(0, 15)
    it.read(0.1, 15, 1)
    assert.ok(Number.isNaN(it.activity.ofDevice('GPU')))
  })

  it('is forgotten with pods, pairs, jobs and workloads that are gone', () => {
    const it = activityOf()
    it.show(0)
    it.read(5, 0)
    it.note(pair('p'), pair('job 42'))
    it.activity.retain(new Map(), new Map(), new Map([['42', {}]]))
    assert.deepEqual([...it.activity.kept.pods.keys()], ['job 42'])
    assert.equal(it.activity.kept.workloads.size, 0)
    assert.ok(Number.isNaN(it.activity.ofPair('p\nGPU')))
    it.activity.retain(new Map(), new Map(), new Map())
    assert.equal(it.activity.kept.pods.size, 0)
  })

  it('that was read from disk waits for its pods until it is clear that they are gone', () => {
    const { activity } = activityOf()
    for (const key of ['a', 'b']) activity.kept.pods.set(key, 1000)
    activity.restored()
    activity.retain(new Map([['a', {}]]), new Map(), new Map())
    assert.deepEqual([...activity.kept.pods.keys()], ['a', 'b'])
    // This one was seen, so that it is gone for certain.
    activity.retain(new Map(), new Map(), new Map())
    assert.deepEqual([...activity.kept.pods.keys()], ['b'])
    activity.settle()
    activity.retain(new Map(), new Map(), new Map())
    assert.equal(activity.kept.pods.size, 0)
  })

  it('is nothing where no metric is about it', () => {
    const devices = new Things()
    const activity = createActivity({ devices } as unknown as Values, undefined)
    activity.note([pair('p')], () => -1)
    activity.collect()
    assert.equal(activity.kept.pods.size, 0)
    assert.ok(Number.isNaN(activity.ofDevice('GPU')))
  })
})
