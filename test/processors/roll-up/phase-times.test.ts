import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { Pod } from '../../../pipeline/cluster/objects.ts'
import { createPhaseTimes, type PhaseTimes } from '../../../processors/roll-up/phase-times.ts'
import type { KeyedEntity } from '../../../processors/roll-up/keyed-entities.ts'
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

function workload(...pods: Pod[]): ReadonlyMap<string, KeyedEntity> {
  const members = pods.map(one => ({ key: one.uid, pod: one }) as PodRecord)
  return new Map([['w', { key: 'w', members, groups: [], get: () => undefined }]])
}

function update(times: PhaseTimes, at: number, ...pods: Pod[]): { run: number; wait: number } {
  times.update(pods.length === 0 ? new Map() : workload(...pods), at * 1000)
  return { run: times.seconds('w', 'Running'), wait: times.seconds('w', 'Pending') }
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
    it(`a pod ${what}`, () => assert.deepEqual(update(createPhaseTimes(), 100, one), expected))
  }

  it('do not count the same time twice for two pods', () => {
    const [p, q] = [pod('p', { runningMs: 10 }), pod('q', { runningMs: 30 })]
    assert.equal(update(createPhaseTimes(), 100, p, q).run, 90)
  })

  it('keep what pods did that are gone', () => {
    const times = createPhaseTimes()
    update(times, 100, pod('p', { runningMs: 10 }))
    assert.equal(update(times, 200, pod('q', { runningMs: 150 })).run, 90 + 50)
  })

  it('keep when a pod began whose containers begin anew', () => {
    const times = createPhaseTimes()
    update(times, 100, pod('p', { runningMs: 10 }))
    assert.equal(update(times, 200, pod('p', { runningMs: 190 })).run, 190)
  })

  it('keep how long a pod ran that does not tell when it ended', () => {
    const times = createPhaseTimes()
    update(times, 100, pod('p', { runningMs: 10 }))
    assert.equal(update(times, 200, pod('p', { runningMs: 10, phase: 'Failed' })).run, 90)
    assert.equal(update(times, 300, pod('p', { phase: 'Failed' })).run, 90)
  })

  it('are kept for an hour when a workload has no pods', () => {
    const times = createPhaseTimes()
    update(times, 100, pod('p', { runningMs: 10 }))
    update(times, 200)
    assert.equal(update(times, 200 + 3599).run, 90)
    assert.ok(Number.isNaN(update(times, 200 + 3600).run))
    assert.equal(times.kept.size, 0)
  })

  it('of a workload that comes back go on', () => {
    const times = createPhaseTimes()
    update(times, 100, pod('p', { runningMs: 10 }))
    update(times, 200)
    assert.equal(update(times, 1000, pod('q', { runningMs: 990 })).run, 100)
    update(times, 5000)
    assert.equal(update(times, 5000 + 3599).run, 100)
  })

  it('are what they were after a restart', () => {
    const times = createPhaseTimes()
    update(times, 100, pod('p', { runningMs: 10 }))
    update(times, 200, pod('q', { runningMs: 150 }))
    const again = createPhaseTimes()
    for (const [key, value] of JSON.parse(JSON.stringify([...times.kept])) as [string, never][])
      again.kept.set(key, value)
    assert.equal(update(again, 300, pod('r', { runningMs: 290 })).run, 90 + 50 + 10)
  })

  it('are the moments in which any pod ran, however many come and go', () => {
    const life = fc.tuple(fc.nat(30), fc.integer({ min: 1, max: 10 }))
    fc.assert(
      fc.property(fc.array(life, { minLength: 1, maxLength: 8 }), lives => {
        const times = createPhaseTimes()
        let run = NaN
        for (let at = 0; at <= 45; at++) {
          const there = lives.flatMap(([from, length], i) =>
            from <= at && at <= from + length ? [pod(`p-${i}`, { runningMs: from })] : [],
          )
          run = update(times, at, ...there).run
        }
        const moments = Array.from({ length: 45 }, (_, at) =>
          lives.some(([from, length]) => from <= at && at < from + length),
        )
        assert.equal(run, moments.filter(Boolean).length)
      }),
    )
  })

  it('stay as long as they are when there are many stretches', () => {
    const times = createPhaseTimes()
    for (let i = 0; i < 1000; i++) update(times, i * 10 + 3, pod(`p-${i}`, { runningMs: i * 10 }))
    assert.equal(times.seconds('w', 'Running'), 3000)
    assert.ok(JSON.stringify(times.kept.get('w')).length < 20_000)
  })
})
