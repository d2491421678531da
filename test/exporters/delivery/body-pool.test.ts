import assert from 'node:assert/strict'
import { BodyPool } from '../../../exporters/delivery/body-pool.ts'

describe('pool of bodies', () => {
  it('gives memory that was given back to the next body that fits', () => {
    const pool = new BodyPool()
    const first = pool.copyOf(Uint8Array.of(1, 2, 3))
    const second = pool.copyOf(Uint8Array.of(4))
    assert.notEqual(first.buffer, second.buffer)
    pool.give(first)
    const third = pool.copyOf(new Uint8Array(3000).fill(7))
    assert.equal(third.buffer, first.buffer)
    assert.deepEqual(third, new Uint8Array(3000).fill(7))
    assert.deepEqual(second, Uint8Array.of(4))
  })

  it('does not keep memory that is much too large or too small', () => {
    const pool = new BodyPool()
    for (const [before, now] of [
      [100_000, 10],
      [10, 100_000],
    ] as const) {
      const first = pool.copyOf(new Uint8Array(before))
      pool.give(first)
      assert.notEqual(pool.copyOf(new Uint8Array(now)).buffer, first.buffer)
    }
  })

  it('keeps a body where it is, for memory of those that were given back', () => {
    const pool = new BodyPool()
    const written = new Uint8Array(new ArrayBuffer(100_000), 10_000)
    const other = pool.exchange(written)!
    assert.ok(other !== written.buffer && other.byteLength >= written.length)
    pool.give(written)
    assert.ok(pool.exchange(new Uint8Array(other, 0, 80_000)) === written.buffer)
  })

  it('keeps no memory of which little is filled', () => {
    const pool = new BodyPool()
    assert.equal(pool.exchange(new Uint8Array(new ArrayBuffer(10_000), 3000)), undefined)
  })

  it('takes nothing that it did not make', () => {
    const pool = new BodyPool()
    const foreign = Buffer.from('shares its memory with others')
    pool.give(foreign)
    assert.notEqual(pool.copyOf(foreign).buffer, foreign.buffer)
  })
})
