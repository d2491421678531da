import assert from 'node:assert/strict'
import { createRandom } from '../../../pipeline/simulator/random.ts'

describe('randomness of the simulator', () => {
  it('is the same for the same seed and stream', () => {
    const [one, other] = [createRandom(7, 3), createRandom(7, 3)]
    assert.deepEqual([one.next(), one.suffix(5), one.uuid()], [other.next(), other.suffix(5), other.uuid()])
  })

  it('gives other uuids to another stream, even from the same state', () => {
    assert.notEqual(createRandom(7, 1).uuid(), createRandom(7, 2).uuid())
  })

  it('gives every object of a large cluster a uuid of its own', () => {
    const uuids = new Set<string>()
    // As many workloads with as few seeds as make two of them meet.
    for (let stream = 0; stream < 20_000; stream++) uuids.add(createRandom(stream % 1000, stream).uuid())
    assert.equal(uuids.size, 20_000)
  })
})
