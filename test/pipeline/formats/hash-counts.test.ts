import assert from 'node:assert/strict'
import { HashCounts } from '../../../pipeline/formats/hash-counts.ts'

describe('counts of hashes', () => {
  it('say which are there more than once, whatever comes and goes', () => {
    let state = 11
    const random = (below: number): number => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
      return (state >> 8) % below
    }
    // Neighbours of one shard, among them the last slots of any table; hashes far apart.
    const pools = [
      Array.from({ length: 60 }, (_, i) => 1 + i),
      Array.from({ length: 40 }, (_, i) => 0xff + 0x100 * i),
      Array.from({ length: 5000 }, (_, i) => Math.imul(i + 1, 0x9e3779b1) >>> 0),
    ]
    for (const pool of pools) {
      const counts = new HashCounts()
      const there: number[] = []
      for (let step = 0; step < 20_000; step++) {
        const isMore = there.length === 0 || random(100) < (step % 4000 < 2000 ? 60 : 40)
        if (isMore) {
          const hash = pool[random(pool.length)]!
          counts.add(hash)
          there.push(hash)
        } else {
          const [hash] = there.splice(random(there.length), 1)
          counts.remove(hash!)
        }
        if (step % 500 === 0) check(counts, pool, there)
      }
      for (const hash of there.splice(0)) counts.remove(hash)
      check(counts, pool, there)
    }
  })
})

function check(counts: HashCounts, pool: readonly number[], there: readonly number[]): void {
  const times = new Map<number, number>()
  for (const hash of there) times.set(hash, (times.get(hash) ?? 0) + 1)
  const repeated = pool.filter(hash => counts.isRepeated(hash))
  assert.deepEqual(
    repeated,
    pool.filter(hash => (times.get(hash) ?? 0) > 1),
  )
  assert.equal(counts.hasRepeated, repeated.length > 0)
}
