import assert from 'node:assert/strict'
import fc from 'fast-check'
import { SortedKeys } from '../../../../pipeline/simulator/kubernetes-api/sorted-keys.ts'

describe('sorted keys', () => {
  it('are what sorting all keys gives, after few changes and after many', () => {
    const key = fc.stringMatching(/^[a-c-]{1,3}\/[a-c.]{1,3}$/)
    fc.assert(
      fc.property(fc.array(fc.uniqueArray(key, { maxLength: 40 }), { maxLength: 6 }), states => {
        const sorted = new SortedKeys()
        let before = new Set<string>()
        for (const state of states) {
          const now = new Set(state)
          sorted.change([...now.difference(before)], before.difference(now))
          before = now
          const expected = [...now].sort()
          assert.deepEqual(
            Array.from({ length: sorted.length }, (_, i) => sorted.at(i)),
            expected,
          )
          for (const one of expected) assert.equal(sorted.has(one), true)
          assert.equal(sorted.has('nowhere'), false)
        }
      }),
      { numRuns: 100 },
    )
  })

  it('are in the order of etcd: a namespace with a hyphen comes before the one that it begins with', () => {
    const sorted = new SortedKeys()
    sorted.change(['a/z', 'a-b/a', 'b/a', 'a.c/a', 'a0/a'], new Set())
    assert.deepEqual(
      [0, 1, 2, 3, 4].map(i => sorted.at(i)),
      ['a-b/a', 'a.c/a', 'a/z', 'a0/a', 'b/a'],
    )
  })

  it('tell where a key would be', () => {
    const sorted = new SortedKeys()
    sorted.change(['b', 'd'], new Set())
    assert.deepEqual(
      ['a', 'b', 'c', 'd', 'e'].map(key => sorted.indexOf(key)),
      [0, 0, 1, 1, 2],
    )
  })
})
