import assert from 'node:assert/strict'
import { EMPTY_LABELS, labelsFrom } from '../../../pipeline/model/labels.ts'
import { Things } from '../../../processors/roll-up/things.ts'

describe('things', () => {
  it('have a number each, which stays while any series speaks of them', () => {
    const things = new Things()
    const a = things.take('a', EMPTY_LABELS, 0)
    assert.equal(things.take('a', EMPTY_LABELS, 1), a)
    things.release(a)
    assert.equal(things.find('a'), a)
    things.release(a)
    assert.equal(things.find('a'), -1)
    assert.deepEqual([...things.numbers()], [])
  })

  it('take numbers again that are free', () => {
    const things = new Things()
    for (let i = 0; i < 1000; i++) things.release(things.take(`thing ${i}`, EMPTY_LABELS, 0))
    assert.equal(things.length, 1)
  })

  it('change their version when one comes or goes, and not when another series speaks of it', () => {
    const things = new Things()
    const versions = [things.version]
    const a = things.take('a', EMPTY_LABELS, 0)
    versions.push(things.version)
    things.retain(a)
    things.take('a', EMPTY_LABELS, 5)
    assert.equal(things.version, versions[1])
    for (let i = 0; i < 3; i++) things.release(a)
    assert.equal(new Set([...versions, things.version]).size, 3)
  })

  it('tell columns to grow, and to forget one that is gone after whoever wants to know', () => {
    const things = new Things()
    const told: string[] = []
    things.attach({
      grow: capacity => void told.push(`grow ${capacity}`),
      reset: (number, key) => void told.push(`reset ${number} ${key}`),
    })
    things.onRelease = number => void told.push(`release ${things.keyOf(number)}`)
    for (let i = 0; i <= 64; i++) things.take(`t${i}`, EMPTY_LABELS, 0)
    things.release(64)
    assert.deepEqual(told, ['grow 64', 'grow 72', 'release t64', 'reset 64 t64'])
  })

  it('know their labels and since when they are shown', () => {
    const things = new Things()
    const labels = labelsFrom([['gpu', '0']])
    const a = things.take('a', labels, 1000)
    assert.equal(things.labelsOf(a), labels)
    assert.equal(things.shownMs(a), 1000)
    things.notAfter(400)
    assert.equal(things.shownMs(a), 400)
  })
})
