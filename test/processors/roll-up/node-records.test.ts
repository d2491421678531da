import assert from 'node:assert/strict'
import { seenTables } from '../../../pipeline/cluster/find-pod.ts'
import { parseLookUp } from '../../../pipeline/cluster/look-up.ts'
import type { Node } from '../../../pipeline/cluster/objects.ts'
import { clusterTables } from '../../../pipeline/cluster/tables.ts'
import { entityFrom } from '../../../processors/roll-up/entity.ts'
import type { BoardRecord } from '../../../processors/roll-up/board-records.ts'
import { NodeRecords, type NodeRecord } from '../../../processors/roll-up/node-records.ts'
import { Roster } from '../../../processors/roll-up/roster.ts'
import { putNode } from '../../support/cluster-objects.ts'
import { testHost } from '../../support/test-host.ts'

function board(node: string, model: string): BoardRecord {
  return { ...entityFrom(name => (name === 'model' ? model : undefined)), id: 'GPU-0', devices: [], node, pairs: [] }
}

function rosterOf(boards: readonly BoardRecord[]): Roster<BoardRecord> {
  const roster = new Roster<BoardRecord>(one => String(boards.indexOf(one)))
  boards.forEach((one, i) => roster.put(String(i), one))
  return roster
}

function recordOf(labels: Record<string, string>, parts: Partial<Node> = {}, boards: BoardRecord[] = []): NodeRecord {
  const { cluster } = testHost()
  const tables = clusterTables(cluster)
  putNode(cluster, 'node-a', labels)
  tables.nodes.set('node-a', { ...tables.nodes.get('node-a')!, ...parts })
  const records = new NodeRecords('c')
  records.findPoolsBy([parseLookUp('node.label.pool')])
  records.refresh(tables, seenTables(cluster), rosterOf(boards))
  return records.all.get('node-a')!
}

describe('records of nodes', () => {
  const counts: [string, Record<string, string>, [string, number][], number][] = [
    ['its label', { 'nvidia.com/gpu.count': '8' }, [['nvidia.com/gpu', 4]], 8],
    [
      'its capacity',
      {},
      [
        ['nvidia.com/gpu', 4],
        ['cpu', 64],
      ],
      4,
    ],
    ['its capacity where the label is no number', { 'nvidia.com/gpu.count': 'x' }, [['amd.com/gpu', 2]], 2],
    ['nothing', {}, [['cpu', 64]], NaN],
  ]
  for (const [what, labels, capacity, expected] of counts) {
    it(`have as many GPUs as ${what} says`, () => {
      assert.equal(recordOf(labels, { capacity: new Map(capacity) }).gpus, expected)
    })
  }

  it('have the model of their label, else that of the exporter', () => {
    const boards = [board('node-a', 'NVIDIA-A100')]
    assert.equal(recordOf({ 'nvidia.com/gpu.product': 'A100' }, {}, boards).get('model'), 'A100')
    assert.equal(recordOf({}, {}, boards).get('model'), 'NVIDIA-A100')
    assert.equal(recordOf({}).get('model'), undefined)
  })

  it('are ready only where that is known', () => {
    for (const [status, expected] of [
      ['True', 'true'],
      ['False', 'false'],
      ['Unknown', 'false'],
    ] as const) {
      assert.equal(recordOf({}, { conditions: new Map([['Ready', status]]) }).get('ready'), expected)
    }
    assert.equal(recordOf({}).get('ready'), 'false')
    assert.equal(recordOf({}, { schedulable: false }).get('schedulable'), 'false')
  })

  it('have a pool by look-ups of nodes', () => {
    assert.equal(recordOf({ pool: 'big' }).get('nodepool'), 'big')
    assert.equal(recordOf({}).get('nodepool'), undefined)
  })

  it('are there for nodes of which only an exporter tells', () => {
    const { cluster } = testHost()
    const records = new NodeRecords('c')
    const boards = rosterOf([board('node-b', 'X'), board('', 'Y')])
    records.refresh(clusterTables(cluster), seenTables(cluster), boards)
    assert.deepEqual([...records.all.keys()], ['node-b'])
    assert.equal(records.of('node-c')!.get('node'), 'node-c')
    assert.equal(records.of(''), undefined)
  })

  it('stay the same when nodes are told again with nothing new', () => {
    const { cluster } = testHost()
    const tables = clusterTables(cluster)
    putNode(cluster, 'node-a', { pool: 'big' })
    const records = new NodeRecords('c')
    const refresh = (parts: Partial<Node>): NodeRecord => {
      tables.nodes.set('node-a', { ...tables.nodes.get('node-a')!, ...parts })
      records.refresh(tables, seenTables(cluster), rosterOf([]))
      return records.all.get('node-a')!
    }
    const first = refresh({})
    assert.equal(refresh({ conditions: new Map([['MemoryPressure', 'True']]) }), first)
    assert.notEqual(refresh({ conditions: new Map([['Ready', 'True']]) }), first)
  })
})
