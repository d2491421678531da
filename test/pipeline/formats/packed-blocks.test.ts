import assert from 'node:assert/strict'
import fc from 'fast-check'
import { ByteArena } from '../../../pipeline/formats/byte-arena.ts'
import { blocksOf, canReadExpected } from '../../../pipeline/formats/expected-lines.ts'
import { noLines, type KnownLines } from '../../../pipeline/formats/known-lines.ts'
import { EMPTY_SHAPE, type Shape } from '../../../pipeline/formats/line-shape.ts'
import { packBlocks, unpackBytes } from '../../../pipeline/formats/packed-blocks.ts'

function arenaOf(texts: readonly string[]): ByteArena {
  const arena = new ByteArena()
  for (const text of texts) arena.add(Buffer.from(text), 0, Buffer.byteLength(text))
  return arena
}

function textsOf({ bytes, starts, count }: ByteArena): string[] {
  return Array.from({ length: count }, (_, i) => Buffer.from(bytes.subarray(starts[i], starts[i + 1])).toString())
}

function newShape(): Shape {
  return { ...EMPTY_SHAPE.text }
}

function known(shape: Shape, texts: readonly string[]): KnownLines {
  const blocks = arenaOf(texts)
  return { ...noLines('text'), ...(packBlocks(shape, blocks) ?? { blocks }) }
}

function node(number: number): string[] {
  return Array.from({ length: 8 }, (_, gpu) => {
    const uuid = crypto.randomUUID()
    const pod = gpu % 3 === 0 ? `,container="main",namespace="team",pod="train-${number}-${gpu}"` : ''
    return `{gpu="${gpu}",UUID="GPU-${uuid}",device="nvidia${gpu}",modelName="NVIDIA H100 80GB HBM3",Hostname="node-${number}"${pod}} `
  })
}

describe('packed label blocks', () => {
  it('are what they were', () => {
    const word = fc.oneof(
      fc.constantFrom('a', 'GPU-', 'modelName="NVIDIA H100 80GB HBM3"', 'é', 'x'.repeat(300)),
      fc.string({ maxLength: 40 }),
    )
    const texts = fc.array(
      fc.array(word, { minLength: 1, maxLength: 20 }).map(words => words.join('')),
      { minLength: 1 },
    )
    fc.assert(
      fc.property(fc.array(texts, { minLength: 1, maxLength: 4 }), targets => {
        const shape = newShape()
        for (const target of targets) assert.deepEqual(textsOf(blocksOf(known(shape, target))), target)
      }),
    )
  })

  it('are the same whoever unpacks them', () => {
    canReadExpected(noLines('text'), 0)
    const shape = newShape()
    for (let number = 0; number < 5; number++) {
      const texts = node(number)
      const lines = known(shape, texts)
      const { blocks, dictionary } = lines
      assert.ok(typeof blocks === 'string')
      const memory = Buffer.alloc(20_000)
      memory.set(dictionary!)
      const from = 10_000
      memory.write(blocks, from, 'latin1')
      const end = dictionary!.length + texts.join('').length
      unpackBytes(memory, from + 2 + texts.length * 2, dictionary!.length, end)
      assert.equal(memory.toString('latin1', dictionary!.length, end), texts.join(''))
      assert.deepEqual(textsOf(blocksOf(lines)), texts)
    }
  })

  it('need a third of the memory, and less where there are others of the kind', () => {
    const shape = newShape()
    const shares = [0, 1, 2].map(number => {
      const texts = node(number)
      return known(shape, texts).blocks as string
    })
    const whole = node(0).join('').length
    assert.ok(shares[0]!.length < whole * 0.5, `${shares[0]!.length} of ${whole}`)
    assert.ok(shares[2]!.length < whole * 0.4, `${shares[2]!.length} of ${whole}`)
  })

  it('are left as they are where that is too much, or no gain', () => {
    for (const texts of [[' '], ['{a="1"} '], Array.from({ length: 2000 }, (_, i) => `{number="${i}"} `)]) {
      const { blocks } = known(newShape(), texts)
      assert.ok(typeof blocks !== 'string')
      assert.deepEqual(textsOf(blocks), texts)
    }
  })
})
