import assert from 'node:assert/strict'
import fc from 'fast-check'
import { EventQueue } from '../../../pipeline/simulator/event-queue.ts'

describe('the event queue', () => {
  it('lets things happen in order of time, and those of one moment in the order of planning', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(20)), times => {
        const queue = new EventQueue()
        const happened: [number, number][] = []
        for (const [order, time] of times.entries()) queue.plan(time, now => happened.push([now, order]))
        queue.runUntil(20)
        const expected = [...times.entries()].map(([order, time]): [number, number] => [time, order])
        assert.deepEqual(
          happened,
          expected.toSorted((a, b) => a[0] - b[0] || a[1] - b[1]),
        )
      }),
    )
  })

  it('also lets happen what is planned on the way, and leaves what is later', () => {
    const queue = new EventQueue()
    const happened: string[] = []
    queue.plan(1, () => {
      happened.push('first')
      queue.plan(2, () => happened.push('planned by the first'))
    })
    queue.plan(5, () => happened.push('later'))
    queue.runUntil(4)
    assert.deepEqual(happened, ['first', 'planned by the first'])
    assert.equal(queue.size, 1)
  })
})
