import assert from 'node:assert/strict'
import { labelPairs } from '../../../pipeline/model/labels.ts'
import { entityFrom, Grouping, type Entity } from '../../../processors/roll-up/entity.ts'

function entity(attributes: Readonly<Record<string, string>>): Entity {
  return entityFrom(attribute => attributes[attribute])
}

function grouping(key: readonly string[] = []): Grouping {
  return new Grouping(
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
    const slot = groups.slotOf(entity({ cluster: 'c', node: 'a', uuid: 'u' }))
    assert.deepEqual(labelPairs(groups.groups[slot]!), [
      ['clusterId', 'c'],
      ['node', 'a'],
    ])
  })

  it('are one for two entities with one label set', () => {
    const groups = grouping()
    const one = groups.slotOf(entity({ node: 'a', uuid: '1' }))
    assert.equal(groups.slotOf(entity({ node: 'a', uuid: '2' })), one)
    assert.notEqual(groups.slotOf(entity({ node: 'b' })), one)
  })

  it('are none without what tells them apart', () => {
    const groups = grouping(['node'])
    assert.equal(groups.slotOf(entity({ cluster: 'c' })), 0)
    assert.equal(groups.slotOf(entity({ cluster: 'c', node: '' })), 0)
    assert.equal(groups.slotOf(entity({ node: 'a' })), 1)
  })

  it('give their places back when nobody belongs to them, and do not haunt those who did', () => {
    const groups = grouping()
    const [a, b] = [entity({ node: 'a' }), entity({ node: 'b' })]
    const place = groups.slotOf(a)
    groups.retain(place)
    groups.sweep()
    assert.notEqual(groups.groups[place], undefined)
    groups.release(place)
    groups.sweep()
    assert.equal(groups.groups[place], undefined)
    assert.equal(groups.slotOf(b), place)
    assert.notEqual(groups.slotOf(a), place)
    assert.equal(groups.groups.length, 3)
  })

  it('ask an entity once', () => {
    const groups = grouping()
    let asked = 0
    const one = entityFrom(() => `${asked++}`)
    const place = groups.slotOf(one)
    assert.equal(groups.slotOf(one), place)
    assert.equal(asked, 2)
  })

  it('say whether an entity has moved to another', () => {
    const groups = grouping()
    const names: Record<string, string> = { node: 'a' }
    const one = entityFrom(attribute => names[attribute])
    groups.slotOf(one)
    const before = one.groups
    one.groups = []
    assert.ok(!groups.hasMoved(one, before))
    names.node = 'b'
    one.groups = []
    assert.ok(groups.hasMoved(one, before))
  })
})
