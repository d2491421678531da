import assert from 'node:assert/strict'
import { EMPTY_LABELS } from '../../../pipeline/model/labels.ts'
import { createActivity } from '../../../processors/roll-up/activity.ts'
import { BoardNumbers } from '../../../processors/roll-up/board-numbers.ts'
import { BoardTimes } from '../../../processors/roll-up/board-times.ts'
import type { JobRecord, PairRecord } from '../../../processors/roll-up/board-records.ts'
import { entityFrom } from '../../../processors/roll-up/entity.ts'
import type { Model } from '../../../processors/roll-up/model.ts'
import type { PairReadings } from '../../../processors/roll-up/pair-readings.ts'
import { Reading } from '../../../processors/roll-up/reading.ts'
import { Roster } from '../../../processors/roll-up/roster.ts'
import type { ValueSpec } from '../../../processors/roll-up/rules.ts'
import { Things } from '../../../processors/roll-up/things.ts'
import type { Values } from '../../../processors/roll-up/values.ts'
import { Time } from '../../../processors/roll-up/times.ts'

const SPEC = {} as ValueSpec

type Keyed = { readonly key: string }
type KeyedPair = PairRecord & Keyed

/** One device, `GPU`, of which two readings may tell that it is busy. Times are in seconds. */
function activityOf({ isWanted = true } = {}) {
  const devices = new Things()
  const readings = [0, 1].map(() => new Reading(devices, { keep: 'value', activeAbove: 0 }))
  const values = { devices, activity: (kind: string) => (kind === 'device' ? readings : []) } as unknown as Values
  const boards = new Roster<unknown>(() => 'GPU')
  const keyOf = ({ key }: Keyed): string => key
  const [pairs, jobs, pods] = [new Roster<KeyedPair>(keyOf), new Roster<JobRecord>(keyOf), new Roster<Keyed>(keyOf)]
  const workloads = { all: new Roster<Keyed>(keyOf) }
  const podChanges: { before: unknown; now: unknown }[] = []
  const model = { devices: { pairs, jobs, boards }, pods, workloads, podChanges } as unknown as Model
  const pairReadings = { numbers: [] as number[], ownAt: () => -1, length: 0 }
  const activity = createActivity(
    values,
    isWanted ? SPEC : undefined,
    model,
    pairReadings as unknown as PairReadings,
    () => Infinity,
  )
  const numbers = new BoardNumbers(model, values)
  const boardTimes = new BoardTimes({ model, values, numbers, activity, neverActive: 'none' })
  boards.put('GPU', { devices: [{ key: 'GPU', seen: {} }] })

  /** Follows what rosters say. */
  function refresh(): void {
    pairReadings.numbers = pairs.list.map(() => devices.find('GPU'))
    pairReadings.length = pairs.list.length
    activity.refresh(pairs.changed)
    devices.settle()
    for (const roster of [pairs, jobs, pods, workloads.all]) roster.settle()
    podChanges.length = 0
  }

  return {
    activity,
    devices,
    show: (at: number) => devices.take('GPU', EMPTY_LABELS, at * 1000),
    read(value: number, at: number, reading = 0) {
      const batch = { values: Float64Array.of(value), timeMs: at * 1000 }
      const numbers = Uint32Array.of(devices.find('GPU'))
      const places = { columns: Uint32Array.of(0), multiply: 1, divide: 1 }
      readings[reading]!.write(1, numbers, places, batch, undefined, undefined)
    },
    /** Has these pairs, and no others. Pods and workloads stay. */
    note(...now: KeyedPair[]) {
      for (const key of pairs.keys()) if (!now.some(one => one.key === key)) pairs.delete(key)
      for (const one of now) {
        const { holder } = one
        if ('host' in holder) jobs.put(holder.key, holder)
        else pods.put(holder.key, holder)
        const id = holder.get('workload_id')!
        workloads.all.put(id, { key: id })
        pairs.put(one.key, pairs.get(one.key) ?? one)
      }
      refresh()
      activity.note()
    },
    /** They are no more, and have no pairs. */
    leave(...keys: string[]) {
      for (const key of pairs.keys()) pairs.delete(key)
      for (const key of keys) {
        if (pods.has(key)) podChanges.push({ before: { key }, now: undefined })
        pods.delete(key)
        workloads.all.delete(`${key} work`)
        workloads.all.delete(key.slice('job '.length))
      }
      refresh()
    },
    come(key: string) {
      pods.put(key, { key })
      refresh()
    },
    /** When the pod and the workload were last busy. */
    lastOf: (pod: string) =>
      [activity.kept.pods.get(pod), activity.kept.workloads.get(`${pod} work`)].map(time => (time?.ms ?? NaN) / 1000),
    /** When the board was. */
    ofBoard() {
      const result = new Float64Array(1)
      numbers.refresh()
      boardTimes.refresh()
      boardTimes.fill(result)
      return result[0]!
    },
  }
}

function pair(pod: string, { isShared = false, isNamed = true } = {}): KeyedPair {
  const isJob = pod.startsWith('job ')
  const workload = isJob ? pod.slice('job '.length) : `${pod} work`
  const entity = entityFrom(name => (name === 'workload_id' ? workload : undefined))
  const holder = { ...entity, key: pod, ...(isJob && { host: undefined }) }
  const seen = { holders: isNamed ? [{}] : [] }
  return {
    key: `${pod}\nGPU`,
    holder,
    device: { key: 'GPU', seen, assignment: { isShared } },
    share: 1,
  } as unknown as KeyedPair
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
    assert.equal(it.ofBoard(), 0)
    it.show(100)
    it.read(0, 100)
    assert.equal(it.ofBoard(), 0)
    it.read(9, 115)
    assert.equal(it.ofBoard(), 115)
  })

  it('is by the first reading that a device has, also if another is more sensitive', () => {
    const it = activityOf()
    it.show(0)
    it.read(0, 15)
    it.read(0.1, 15, 1)
    assert.ok(Number.isNaN(it.ofBoard()))
  })

  it('is forgotten with pods, pairs, jobs and workloads that are gone', () => {
    const it = activityOf()
    it.show(0)
    it.read(5, 0)
    it.note(pair('p'), pair('job 42'))
    it.leave('p')
    assert.deepEqual([...it.activity.kept.pods.keys()], ['job 42'])
    assert.deepEqual([...it.activity.kept.workloads.keys()], ['42'])
    assert.ok(Number.isNaN(it.activity.ofPair(0)))
    it.leave('job 42')
    assert.equal(it.activity.kept.pods.size, 0)
    assert.equal(it.activity.kept.workloads.size, 0)
  })

  it('that was read from disk waits for its pods until it is clear that they are gone', () => {
    const it = activityOf()
    const { kept } = it.activity
    for (const key of ['a', 'b']) (kept.pods as Map<string, unknown>).set(key, 1000)
    it.activity.restored()
    it.come('a')
    assert.deepEqual([...kept.pods.keys()], ['a', 'b'])
    // This one was seen, so that it is gone for certain.
    it.leave('a')
    assert.deepEqual([...kept.pods.keys()], ['b'])
    it.activity.settle()
    assert.equal(kept.pods.size, 0)
  })

  it('is on disk a number', () => {
    const it = activityOf()
    it.show(0)
    it.read(5, 30)
    it.note(pair('p'))
    assert.equal(JSON.stringify([...it.activity.kept.pods]), '[["p",30000]]')
  })

  it('is taken from the pairs of some devices only, where only those change hands', () => {
    const it = activityOf()
    it.show(0)
    it.read(5, 0)
    it.note(pair('p'))
    it.read(5, 15)
    it.activity.noteDevices([7])
    assert.deepEqual(it.lastOf('p'), [0, 0])
    it.activity.noteDevices([it.devices.find('GPU')])
    assert.deepEqual(it.lastOf('p'), [15, 15])
  })

  it('is kept of a GPU that is gone for a month, and of one that is there for ever', () => {
    const it = activityOf()
    const day = 24 * 3_600_000
    it.show(0)
    it.read(5, 0)
    it.activity.kept.devices.set('gone', new Time(0))
    it.activity.collect(29 * day)
    assert.deepEqual([...it.activity.kept.devices.keys()], ['gone', 'GPU'])
    it.activity.collect(31 * day)
    assert.deepEqual([...it.activity.kept.devices.keys()], ['GPU'])
  })

  it('is nothing where no metric is about it', () => {
    const it = activityOf({ isWanted: false })
    it.show(0)
    it.read(5, 0)
    it.note(pair('p'))
    it.activity.collect(0)
    assert.equal(it.activity.kept.pods.size, 0)
  })
})
