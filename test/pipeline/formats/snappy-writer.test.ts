import assert from 'node:assert/strict'
import fc from 'fast-check'
import snappy from 'snappyjs'
import { SnappyWriter, snappyBlock, varintSize, writeVarint } from '../../../pipeline/formats/snappy-writer.ts'

/** A step: bytes of their own, some of an open literal, or a copy of what is there, by parts of what there is. */
const steps = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constant('literal' as const), bytes: fc.uint8Array({ maxLength: 400 }) }),
    fc.record({ kind: fc.constant('open' as const), bytes: fc.uint8Array({ maxLength: 60 }) }),
    fc.record({
      kind: fc.constant('copy' as const),
      from: fc.double({ min: 0, max: 1, noNaN: true }),
      part: fc.double({ min: 0, max: 1, noNaN: true }),
    }),
  ),
  { maxLength: 60 },
)

describe('snappy while it is written', () => {
  it('unpacks to what was written, by the code of others', () => {
    fc.assert(
      fc.property(steps, steps, (first, second) => {
        const [one, other] = [write(first), write(second)]
        const unpacked = snappy.uncompress(snappyBlock(one.writer, other.writer))
        assert.deepEqual([...unpacked], [...one.expected, ...other.expected])
      }),
      { numRuns: 500 },
    )
  })

  it('reaches back as far as there is anything, and takes literals of any length', () => {
    const writer = new SnappyWriter()
    const noise = Uint8Array.from({ length: 200_000 }, (_, i) => (i * 7919) >> 3)
    writer.literal(noise, 0, 61)
    writer.literal(noise, 61, 61 + 257)
    writer.literal(noise, 318, noise.length)
    writer.copy(3, 70_000)
    writer.copy(0, 5)
    assert.deepEqual(
      snappy.uncompress(snappyBlock(writer)),
      Uint8Array.from([...noise, ...noise.subarray(3, 70_003), ...noise.subarray(0, 5)]),
    )
  })

  it('writes varints of every size', () => {
    for (const value of [0, 127, 128, 16_383, 16_384, 2 ** 31 - 1, 2 ** 31, 2 ** 32, 1_700_000_000_000, 2 ** 53 - 1]) {
      const bytes = new Uint8Array(10)
      const end = writeVarint(bytes, 0, value)
      assert.equal(end, varintSize(value))
      let read = 0n
      for (let i = end - 1; i >= 0; i--) read = (read << 7n) | BigInt(bytes[i]! & 0x7f)
      assert.equal(read, BigInt(value))
    }
  })
})

function write(list: typeof steps extends fc.Arbitrary<infer T> ? T : never) {
  const writer = new SnappyWriter(1)
  const expected: number[] = []
  for (const step of list) {
    if (step.kind === 'literal') {
      writer.literal(step.bytes, 0, step.bytes.length)
      expected.push(...step.bytes)
    } else if (step.kind === 'open') {
      writer.open(step.bytes.length)
      for (const byte of step.bytes) writer.bytes[writer.at++] = byte
      expected.push(...step.bytes)
    } else if (expected.length > 0) {
      const place = Math.floor(step.from * (expected.length - 1))
      const length = Math.floor(step.part * (expected.length - place))
      writer.copy(place, length)
      expected.push(...expected.slice(place, place + length))
    }
    assert.equal(writer.length, expected.length)
  }
  return { writer, expected }
}
