import assert from 'node:assert/strict'
import type { SentObject } from '../../../pipeline/cluster/keep-metadata.ts'
import { isSameNode, keepNode } from '../../../pipeline/cluster/keep-node.ts'

function node(status: Record<string, unknown> = {}, spec: Record<string, unknown> = {}): SentObject {
  return { metadata: { name: 'n1', uid: 'u' }, spec, status }
}

describe('keepNode', () => {
  it('keeps addresses, amounts and conditions', () => {
    const kept = keepNode(
      node(
        {
          addresses: [
            { type: 'InternalIP', address: '10.0.0.1' },
            { type: 'Hostname', address: 'n1' },
          ],
          capacity: { cpu: '64', 'nvidia.com/gpu': '8' },
          allocatable: { cpu: '63500m' },
          conditions: [{ type: 'Ready', status: 'True', lastHeartbeatTime: '2024-01-01T00:00:00Z' }],
        },
        { unschedulable: true },
      ),
    )
    assert.deepEqual(kept.addresses, ['10.0.0.1', 'n1'])
    assert.deepEqual(kept.capacity.get('nvidia.com/gpu'), 8)
    assert.deepEqual(kept.allocatable.get('cpu'), 63.5)
    assert.deepEqual([...kept.conditions], [['Ready', 'True']])
    assert.equal(kept.schedulable, false)
  })

  it('takes a heartbeat for no change', () => {
    const status = (type: string, second: number) => ({
      conditions: [{ type: 'Ready', status: type, lastHeartbeatTime: `2024-01-01T00:00:0${second}Z` }],
    })
    const before = keepNode(node(status('True', 1)))
    assert.ok(isSameNode(before, keepNode(node(status('True', 2)))))
    assert.ok(!isSameNode(before, keepNode(node(status('False', 2)))))
    assert.ok(!isSameNode(before, keepNode(node(status('True', 1), { unschedulable: true }))))
  })

  it('takes a node of which nothing is known but its name', () => {
    const { schedulable, addresses } = keepNode({ metadata: { name: 'n' } })
    assert.deepEqual([schedulable, addresses], [true, []])
  })
})
