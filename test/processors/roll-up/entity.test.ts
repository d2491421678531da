import assert from 'node:assert/strict'
import { labelPairs } from '../../../pipeline/model/labels.ts'
import { entityFrom, Grouping, type Entity } from '../../../processors/roll-up/entity.ts'

function entity(attributes: Readonly<Record<string, string>>): Entity {
  return entityFrom(attribute => attributes[attribute])
}

function grouping(key: readonly string[] = []): Grouping {
  return new Grouping(
    0,
    [
      ['clusterId', 'cluster'],
      ['node', 'node'],
    ],
    key,
  )
}

describe('groups', () => {
  it('have the labels of their entities by the names of the metric', () => {
    const groups = grouping()
    const slot = groups.slotOf(entity({ cluster: 'c', node: 'a', uuid: 'u' }), 1)
    assert.deepEqual(labelPairs(groups.groups[slot]!.labels), [
      ['clusterId', 'c'],
      ['node', 'a'],
    ])
  })

  it('are one for two entities with one label set', () => {
    const groups = grouping()
    const one = groups.slotOf(entity({ node: 'a', uuid: '1' }), 1)
    assert.equal(groups.slotOf(entity({ node: 'a', uuid: '2' }), 1), one)
    assert.notEqual(groups.slotOf(entity({ node: 'b' }), 1), one)
  })

  it('are none without what tells them apart', () => {
    const groups = grouping(['node'])
    assert.equal(groups.slotOf(entity({ cluster: 'c' }), 1), 0)
    assert.equal(groups.slotOf(entity({ cluster: 'c', node: '' }), 1), 0)
    assert.equal(groups.slotOf(entity({ node: 'a' }), 1), 1)
  })

  it('give their places back when nobody asks for them, and do not haunt those who had them', () => {
    const groups = grouping()
    const [a, b] = [entity({ node: 'a' }), entity({ node: 'b' })]
    const place = groups.slotOf(a, 1)
    groups.release(2)
    assert.equal(groups.groups[place], undefined)
    assert.equal(groups.slotOf(b, 2), place)
    assert.notEqual(groups.slotOf(a, 2), place)
    assert.equal(groups.groups.length, 3)
  })

  it('ask an entity once', () => {
    const groups = grouping()
    let asked = 0
    const one = entityFrom(() => `${asked++}`)
    const place = groups.slotOf(one, 1)
    assert.equal(groups.slotOf(one, 2), place)
    assert.equal(asked, 2)
  })
})
