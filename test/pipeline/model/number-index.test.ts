import assert from 'node:assert/strict'
import fc from 'fast-check'
import { NumberIndex } from '../../../pipeline/model/number-index.ts'

describe('an index of numbers', () => {
  it('finds what is in it, and nothing else, whatever comes and goes', () => {
    // Few hashes, so that many keys have one, and few keys, so that they come again.
    const keys = fc.integer({ min: 0, max: 60 })
    fc.assert(
      fc.property(
        fc.array(fc.tuple(keys, fc.boolean()), { maxLength: 300 }),
        fc.integer({ min: 1, max: 60 }),
        (steps, hashes) => {
          const keyOf: number[] = []
          const known = new Map<number, number>()
          const index = new NumberIndex<number>(
            key => key % hashes,
            number => keyOf[number]!,
          )
          for (const [key, isThere] of steps) {
            if (!isThere) {
              index.delete(key)
              known.delete(key)
            } else if (!known.has(key)) {
              known.set(key, keyOf.push(key) - 1)
              index.add(known.get(key)!)
            }
          }
          assert.equal(index.size, known.size)
          for (let key = 0; key <= 60; key++) assert.equal(index.find(key), known.get(key) ?? -1)
        },
      ),
    )
  })
})
