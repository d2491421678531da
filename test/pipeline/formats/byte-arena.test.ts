import assert from 'node:assert/strict'
import { ByteArena, pickStrings } from '../../../pipeline/formats/byte-arena.ts'

const encoder = new TextEncoder()

function fill(arena: ByteArena, texts: readonly string[]): ByteArena {
  for (const text of texts) {
    const bytes = encoder.encode(text)
    arena.add(bytes, 0, bytes.length)
  }
  return arena
}

function textsOf(arena: ByteArena): string[] {
  return Array.from({ length: arena.count }, (_, i) =>
    Buffer.from(arena.bytes.subarray(arena.starts[i], arena.starts[i + 1])).toString(),
  )
}

describe('an arena of byte strings', () => {
  const texts = Array.from({ length: 300 }, (_, i) => `${'x'.repeat(i % 90)}${i}`)

  it('has what was added, whether there was room for it or not', () => {
    for (const [bytes, count] of [
      [0, 0],
      [0, 300],
      [100_000, 0],
      [100, 3],
      [100_000, 300],
    ] as const) {
      assert.deepEqual(textsOf(fill(new ByteArena(bytes, count), texts)), texts, `${bytes} ${count}`)
    }
  })

  it('shows its bytes as they are now', () => {
    const arena = fill(new ByteArena(2, 1), ['ab'])
    assert.equal(arena.view.getUint8(1), 'b'.charCodeAt(0))
    fill(arena, ['c'])
    assert.equal(arena.view.getUint8(2), 'c'.charCodeAt(0))
    assert.equal(arena.view.getUint8(0), 'a'.charCodeAt(0))
  })

  it('can be given back its room, and go on', () => {
    const arena = fill(new ByteArena(1000, 100), ['one', 'two'])
    arena.trim(4)
    assert.equal(arena.bytes.length, 10)
    assert.deepEqual([...arena.bytes.subarray(6)], [0, 0, 0, 0])
    assert.deepEqual(textsOf(fill(arena, ['three'])), ['one', 'two', 'three'])
    arena.release()
    assert.deepEqual(textsOf(arena), [])
    assert.deepEqual(textsOf(fill(arena, ['four'])), ['four'])
  })

  it('is made of the strings of two, in one piece of memory', () => {
    const picked = pickStrings(
      fill(new ByteArena(), ['a', 'b', 'c']),
      fill(new ByteArena(), ['d', 'e']),
      Uint32Array.of(0, 2, 4, 3),
    )
    assert.deepEqual(textsOf(picked), ['a', 'c', 'e', 'd'])
    assert.equal(picked.bytes.buffer, picked.starts.buffer)
    assert.deepEqual(textsOf(fill(picked, ['f'])), ['a', 'c', 'e', 'd', 'f'])
  })
})
