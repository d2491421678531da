import assert from 'node:assert/strict'
import { createRandom } from '../../../pipeline/simulator/random.ts'
import { activeMs, activityAt, makeProfile, type ProfileKind } from '../../../pipeline/simulator/utilisation.ts'

const START_MS = Date.parse('2026-03-02T09:00:00Z')
const HOUR_MS = 3_600_000
const KINDS: readonly ProfileKind[] = ['training', 'inference', 'notebook', 'batch']

describe('utilisation', () => {
  for (const kind of KINDS) {
    it(`of ${kind} adds up to what is read on the way`, () => {
      for (let seed = 1; seed <= 8; seed++) {
        const profile = makeProfile(kind, createRandom(seed))
        let sum = 0
        // Finer than any curve: a coarse sample may always meet the same part of it.
        const stepMs = 1000
        for (let timeMs = START_MS; timeMs < START_MS + 8 * HOUR_MS; timeMs += stepMs) {
          const activity = activityAt(profile, timeMs, seed, Math.floor(timeMs / stepMs))
          assert.ok(activity >= 0 && activity <= 1)
          sum += activity * stepMs
        }
        const expected = activeMs(profile, START_MS, START_MS + 8 * HOUR_MS)
        // Noise that is cut off at 1 leaves a little.
        assert.ok(Math.abs(sum - expected) < 0.01 * expected + 1000, `${kind} ${seed}: ${sum} and ${expected}`)
      }
    })
  }

  it('is the same whenever it is asked for', () => {
    const profile = makeProfile('training', createRandom(3))
    assert.equal(activityAt(profile, START_MS, 7, 12), activityAt(profile, START_MS, 7, 12))
    assert.notEqual(activityAt(profile, START_MS, 7, 12), activityAt(profile, START_MS, 8, 12))
  })

  it('is high with dips in training, follows the day in inference, and is mostly nothing in a notebook', () => {
    const training = makeProfile('training', createRandom(1))
    const day = activeMs(training, START_MS, START_MS + 24 * HOUR_MS) / (24 * HOUR_MS)
    assert.ok(day > 0.7 && day < 0.97)
    const inference = makeProfile('inference', createRandom(1))
    const hours = Array.from({ length: 24 }, (_, hour) =>
      activeMs(inference, START_MS + hour * HOUR_MS, START_MS + (hour + 1) * HOUR_MS),
    )
    assert.ok(Math.max(...hours) > 1.4 * Math.min(...hours))
    const notebook = makeProfile('notebook', createRandom(1))
    assert.ok(activeMs(notebook, START_MS, START_MS + 24 * HOUR_MS) < 0.12 * 24 * HOUR_MS)
  })
})
