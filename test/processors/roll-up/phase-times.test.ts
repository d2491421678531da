import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { Pod } from '../../../pipeline/cluster/objects.ts'
import { lengthOf } from '../../../processors/roll-up/intervals.ts'
import { KeyedEntities } from '../../../processors/roll-up/keyed-entities.ts'
import { createPhaseTimes, type Phase } from '../../../processors/roll-up/phase-times.ts'
import type { PodRecord } from '../../../processors/roll-up/pod-records.ts'
import { podNamed } from '../../support/cluster-objects.ts'

type Times = Partial<
  Pick<Pod, 'createdMs' | 'scheduledMs' | 'startedMs' | 'runningMs' | 'finishedMs' | 'phase' | 'node'>
>

/** A pod with times in seconds. */
function pod(name: string, { phase = 'Running', node = 'a', ...times }: Times): Pod {
  const inMs = Object.fromEntries(Object.entries(times).map(([key, value]) => [key, (value as number) * 1000]))
  return { ...podNamed(name, { phase, node }), ...inMs }
}

/** The times of one workload, `w`, whose pods are given each time. Times are in seconds. */
function phaseTimes() {
  const times = createPhaseTimes()
  const entities = new KeyedEntities('workload_id')
  let known = new Map<string, PodRecord>()
  return {
    times,
    update(at: number, ...pods: Pod[]): { run: number; wait: number } {
      const now = new Map(pods.map(one => [one.uid, recordOf(one)]))
      const keys = new Set([...known.keys(), ...now.keys()])
      const changes = Array.from(keys, key => ({ before: known.get(key), now: now.get(key) }))
      known = now
      entities.refresh(changes, [])
      times.refresh(entities.all, changes, at * 1000)
      entities.all.settle()
      return { run: secondsOf('Running', at), wait: secondsOf('Pending', at) }
    },
  }

  /** Of a workload without pods, what is kept of it. */
  function secondsOf(phase: Phase, at: number): number {
    if (!entities.all.has('w')) return (lengthOf(times.kept.get('w')?.gone[phase] ?? []) || NaN) / 1000
    const result = new Float64Array(1)
    times.fill(result, phase, at * 1000)
    return result[0]!
  }
}

function recordOf(one: Pod): PodRecord {
  const get = (name: string): string | undefined => (name === 'workload_id' ? 'w' : undefined)
  return { key: one.uid, pod: one, groups: [], get } as unknown as PodRecord
}

describe('phase times', () => {
  const cases: [string, Pod, { run: number; wait: number }][] = [
    ['waits from its creation', pod('p', { createdMs: 10, phase: 'Pending', node: '' }), { run: NaN, wait: 90 }],
    ['waits until it is scheduled', pod('p', { createdMs: 10, scheduledMs: 40, runningMs: 60 }), { run: 40, wait: 30 }],
    ['waits until the kubelet has it', pod('p', { createdMs: 10, startedMs: 50 }), { run: 50, wait: 40 }],
    ['does not run while it is pulled', pod('p', { scheduledMs: 20, phase: 'Pending' }), { run: NaN, wait: NaN }],
    ['runs until it ends', pod('p', { runningMs: 20, finishedMs: 60, phase: 'Succeeded' }), { run: 40, wait: NaN }],
    [
      'waited until it was given up',
      pod('p', { createdMs: 20, finishedMs: 60, phase: 'Failed', node: '' }),
      { run: NaN, wait: 40 },
    ],
    ['has no time that it does not tell', pod('p', {}), { run: NaN, wait: NaN }],
    ['has no negative time', pod('p', { createdMs: 200, runningMs: 150, phase: 'Running' }), { run: NaN, wait: NaN }],
  ]
  for (const [what, one, expected] of cases) {
    it(`a pod ${what}`, () => assert.deepEqual(phaseTimes().update(100, one), expected))
  }

  it('do not count the same time twice for two pods', () => {
    const [p, q] = [pod('p', { runningMs: 10 }), pod('q', { runningMs: 30 })]
    assert.equal(phaseTimes().update(100, p, q).run, 90)
  })

  it('keep what pods did that are gone', () => {
    const { update } = phaseTimes()
    update(100, pod('p', { runningMs: 10 }))
    assert.equal(update(200, pod('q', { runningMs: 150 })).run, 90 + 50)
  })

  it('keep when a pod began whose containers begin anew', () => {
    const { update } = phaseTimes()
    update(100, pod('p', { runningMs: 10 }))
    assert.equal(update(200, pod('p', { runningMs: 190 })).run, 190)
  })

  it('keep how long a pod ran that does not tell when it ended', () => {
    const { update } = phaseTimes()
    update(100, pod('p', { runningMs: 10 }))
    assert.equal(update(200, pod('p', { runningMs: 10, phase: 'Failed' })).run, 90)
    assert.equal(update(300, pod('p', { phase: 'Failed' })).run, 90)
  })

  it('are kept for an hour when a workload has no pods', () => {
    const { update, times } = phaseTimes()
    update(100, pod('p', { runningMs: 10 }))
    update(200)
    assert.equal(update(200 + 3599).run, 90)
    assert.ok(Number.isNaN(update(200 + 3600).run))
    assert.equal(times.kept.size, 0)
  })

  it('of a workload that comes back go on', () => {
    const { update } = phaseTimes()
    update(100, pod('p', { runningMs: 10 }))
    update(200)
    assert.equal(update(1000, pod('q', { runningMs: 990 })).run, 100)
    update(5000)
    assert.equal(update(5000 + 3599).run, 100)
  })

  it('are what they were after a restart', () => {
    const { update, times } = phaseTimes()
    update(100, pod('p', { runningMs: 10 }))
    update(200, pod('q', { runningMs: 150 }))
    const again = phaseTimes()
    for (const [key, value] of JSON.parse(JSON.stringify([...times.kept])) as [string, never][])
      again.times.kept.set(key, value)
    again.times.restored()
    assert.equal(again.update(300, pod('r', { runningMs: 290 })).run, 90 + 50 + 10)
  })

  it('are the moments in which any pod ran, however many come and go', () => {
    const life = fc.tuple(fc.nat(30), fc.integer({ min: 1, max: 10 }))
    fc.assert(
      fc.property(fc.array(life, { minLength: 1, maxLength: 8 }), lives => {
        const { update } = phaseTimes()
        let run = NaN
        for (let at = 0; at <= 45; at++) {
          const there = lives.flatMap(([from, length], i) =>
            from <= at && at <= from + length ? [pod(`p-${i}`, { runningMs: from })] : [],
          )
          run = update(at, ...there).run
        }
        const moments = Array.from({ length: 45 }, (_, at) =>
          lives.some(([from, length]) => from <= at && at < from + length),
        )
        assert.equal(run, moments.filter(Boolean).length)
      }),
    )
  })

  it('stay as long as they are when there are many stretches', () => {
    const { update, times } = phaseTimes()
    let run = NaN
    for (let i = 0; i < 1000; i++) run = update(i * 10 + 3, pod(`p-${i}`, { runningMs: i * 10 })).run
    assert.equal(run, 3000)
    assert.ok(JSON.stringify(times.kept.get('w')).length < 20_000)
  })
})
