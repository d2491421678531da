import assert from 'node:assert/strict'
import { entityFrom, Grouping } from '../../../processors/roll-up/entity.ts'
import { KeyedEntities } from '../../../processors/roll-up/keyed-entities.ts'
import { unpacked } from '../../../processors/roll-up/one-or-many.ts'
import type { PodChange, PodRecord } from '../../../processors/roll-up/pod-records.ts'
import { podNamed, type PodParts } from '../../support/cluster-objects.ts'

function record(name: string, workload: string | undefined, parts: PodParts & { createdMs?: number } = {}): PodRecord {
  const attributes: Record<string, string | undefined> = { workload_id: workload, pod: name }
  const pod = { ...podNamed(name, parts), createdMs: parts.createdMs }
  return { ...entityFrom(attribute => attributes[attribute]), key: name, pod } as PodRecord
}

function of(...records: PodRecord[]): KeyedEntities {
  const entities = new KeyedEntities('workload_id')
  entities.refresh(records.map(came), [])
  return entities
}

const came = (now: PodRecord): PodChange => ({ before: undefined, now })

describe('what pods belong to', () => {
  it('has all of its pods, and those without belong to nothing', () => {
    const records = [record('a', 'w'), record('b', 'w'), record('c', undefined), record('d', '')]
    const entities = of(...records)
    assert.deepEqual([...entities.all.keys()], ['w'])
    assert.deepEqual([...entities.all.get('w')!.members], records.slice(0, 2))
    assert.equal(entities.of(records[2]!), undefined)
    assert.equal(entities.of(records[3]!), undefined)
  })

  const cases: [string, PodRecord[], string][] = [
    ['the oldest', [record('a', 'w', { createdMs: 2 }), record('b', 'w', { createdMs: 1 })], 'b'],
    [
      'the oldest that has not finished',
      [record('a', 'w', { createdMs: 1, phase: 'Failed' }), record('b', 'w', { createdMs: 2 })],
      'b',
    ],
    [
      'the first by uid of two of one age',
      [record('b', 'w', { createdMs: 1 }), record('a', 'w', { createdMs: 1 })],
      'a',
    ],
    ['one whose age is known', [record('a', 'w'), record('b', 'w', { createdMs: 9 })], 'b'],
    ['a finished one where all have', [record('a', 'w', { createdMs: 1, phase: 'Succeeded' })], 'a'],
  ]
  for (const [what, records, expected] of cases) {
    it(`is named by ${what}, in whichever order they come`, () => {
      for (const list of [records, records.toReversed()])
        assert.equal(
          of(...list)
            .all.get('w')!
            .get('pod'),
          expected,
        )
    })
  }

  it('keeps its groups while it is named by the same pod', () => {
    const [a, b] = [record('a', 'w', { createdMs: 1 }), record('b', 'w', { createdMs: 2 })]
    const entities = of(a, b)
    new Grouping([['workload', 'workload_id']], []).slotOf(entities.all.get('w')!)
    const { groups } = entities.all.get('w')!
    assert.equal(unpacked(groups).length, 1)
    entities.refresh([{ before: b, now: undefined }], [])
    assert.equal(entities.all.get('w')!.groups, groups)
    assert.equal(entities.relabelled.length, 0)
    entities.refresh([{ before: a, now: undefined }, came(b)], [])
    assert.notEqual(entities.all.get('w')!.groups, groups)
    assert.deepEqual(
      entities.relabelled.map(({ entity, before }) => [entity.key, before]),
      [['w', groups]],
    )
  })

  it('may be a job without pods', () => {
    const entities = new KeyedEntities('workload_id')
    const job = entityFrom(attribute => (attribute === 'workload_id' ? '42' : undefined))
    entities.refresh([came(record('a', 'w'))], [job])
    assert.deepEqual([...entities.all.keys()], ['w', '42'])
    assert.equal(entities.all.get('42')!.members.size, 0)
    entities.refresh([], [])
    assert.deepEqual([...entities.all.keys()], ['w'])
  })

  it('is gone with its last pod', () => {
    const a = record('a', 'w')
    const entities = of(a)
    entities.refresh([{ before: a, now: record('a', 'v') }], [])
    assert.deepEqual([...entities.all.keys()], ['v'])
    assert.equal(entities.of(a), undefined)
  })
})
