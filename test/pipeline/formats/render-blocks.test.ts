import assert from 'node:assert/strict'
import { BACK, FIRST, LAST } from '../../../pipeline/formats/packed-strings.ts'
import { packBlocks, type Blocks } from '../../../pipeline/formats/render-blocks.ts'
import { finishNow } from '../../../pipeline/formats/render-work.ts'

const SLACK = 32

function pack(
  texts: readonly string[],
  before?: { readonly texts: readonly string[]; readonly blocks: Blocks },
): Blocks {
  const origin = Int32Array.from(texts, text => before?.texts.indexOf(text) ?? -1)
  return finishNow(packBlocks(origin, before?.blocks, i => texts[i]!, SLACK))
}

function textsOf({ starts, parts, bytes }: Blocks): string[] {
  const all = Buffer.from(bytes.buffer)
  return Array.from({ length: starts.length - 1 }, (_, i) => {
    if (parts.length === 0) return all.subarray(starts[i], starts[i + 1]).toString()
    const like = i - parts[3 * i + BACK]!
    return Buffer.concat([
      all.subarray(starts[like], starts[like]! + parts[3 * i + FIRST]!),
      all.subarray(starts[i], starts[i + 1]),
      all.subarray(starts[like + 1]! - parts[3 * i + LAST]!, starts[like + 1]),
    ]).toString()
  })
}

function gpus(nodes: number): string[] {
  return Array.from({ length: 8 * nodes }, (_, i) => {
    const node = Math.floor(i / 8)
    return `{cluster="training-east",gpu="${i % 8}",node="dgx-h100-${node}.example.com"} `
  })
}

function blockBytes({ starts }: Blocks): number {
  return starts.at(-1)!
}

describe('label blocks', () => {
  it('are what they were', () => {
    const odd = [' ', '{a="1"} ', '{a="1"} ', ' ', '{b="é"} ', '{b="è"} ', '{b="💚"} ', '{b="💙"} ', '{"b c"="\\n"} ']
    for (const texts of [[], [' '], ['{a="1"} '], odd, gpus(100), [...odd, ...gpus(3), ...odd]]) {
      assert.deepEqual(textsOf(pack(texts)), texts)
    }
  })

  it('cut no character in two', () => {
    const texts = Array.from(
      { length: 64 },
      (_, i) => `{a="${'x'.repeat(40)}",b="${String.fromCodePoint(0x1f400 + i)}",c="z"} `,
    )
    const { starts, bytes } = pack(texts)
    const own = (i: number) => new Uint8Array(bytes.buffer).subarray(starts[i], starts[i + 1])
    for (let i = 0; i < texts.length; i++) new TextDecoder('utf-8', { fatal: true }).decode(own(i))
    assert.deepEqual(textsOf(pack(texts)), texts)
  })

  it('take a fraction of the memory where they are alike', () => {
    const texts = gpus(500)
    assert.ok(blockBytes(pack(texts)) < texts.join('').length / 3)
  })

  it('are taken over from those before, in whatever order, and stay as small', () => {
    let texts = gpus(200)
    let blocks = pack(texts)
    const small = blockBytes(blocks)
    let random = 1
    const below = (count: number) => (random = (random * 16807) % 2147483647) % count
    for (let round = 0; round < 200; round++) {
      const next = texts.slice()
      const at = below(next.length)
      if (round % 3 === 0) next.splice(at, 1 + below(20))
      else if (round % 3 === 1)
        next.splice(at, 0, ...Array.from({ length: 1 + below(5) }, (_, i) => `{pod="p-${round}-${i}"} `))
      else next.splice(below(next.length), 0, ...next.splice(at, 1 + below(300)))
      blocks = pack(next, { texts, blocks })
      assert.deepEqual(textsOf(blocks), next)
      texts = next
    }
    assert.ok(blockBytes(blocks) < 1.5 * small, `${blockBytes(blocks)} of ${small} bytes`)
  })

  it('hold up nobody', () => {
    const texts = gpus(4000)
    const work = packBlocks(new Int32Array(texts.length).fill(-1), undefined, i => texts[i]!, SLACK)
    let pauses = 0
    while (work.next().done !== true) pauses++
    assert.ok(pauses >= texts.length / 256 - 1)
  })
})
