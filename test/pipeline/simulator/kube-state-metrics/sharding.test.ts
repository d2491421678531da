import assert from 'node:assert/strict'
import { shardOf } from '../../../../pipeline/simulator/kube-state-metrics/sharding.ts'
import { uuidOf } from '../../../../pipeline/simulator/random.ts'

const UIDS = Array.from({ length: 3000 }, (_, number) => uuidOf(1, number))

describe('shards of kube-state-metrics', () => {
  it('are about equally large', () => {
    for (const shards of [2, 3, 8]) {
      const sizes = Map.groupBy(UIDS, uid => shardOf(uid, shards))
      assert.equal(sizes.size, shards)
      for (const uids of sizes.values()) assert.ok(Math.abs(uids.length * shards - UIDS.length) < 0.2 * UIDS.length)
    }
  })

  it('lose objects only to a shard that is added', () => {
    for (const uid of UIDS) {
      const before = shardOf(uid, 4)
      const after = shardOf(uid, 5)
      assert.ok(after === before || after === 4)
    }
  })

  it('are one if there is one', () => assert.equal(shardOf(UIDS[0]!, 1), 0))
})
