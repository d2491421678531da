import assert from 'node:assert/strict'
import { copyPacked } from '../../../pipeline/formats/otlp-copy.ts'
import { StringPacker, type PackedStrings } from '../../../pipeline/formats/packed-strings.ts'

const SLACK = 32

describe('packed strings', () => {
  it('are those that were packed', () => {
    const long = 'x'.repeat(70_000)
    const cases: Record<string, string[]> = {
      none: [],
      one: ['{a="b"}'],
      'an empty one': [''],
      'all the same': ['same', 'same', 'same'],
      'all the same for one': ['same', 'same', 'other', 'same'],
      'nothing in common': ['abc', 'defgh', '', 'i'],
      'one is the end of another': ['bc', 'abc', 'c', 'abc'],
      'repeats itself': ['aaaa', 'aa', 'aaaaaa', 'a', 'aaaa'],
      'longer than can be counted': [long, `${long}y`, `y${long}`, long, `a${long}b`],
      'far away from what it is like': Array.from({ length: 70_000 }, (_, i) => `the beginning ${i % 3} the end`),
      'GPUs of nodes': gpus(20),
      'many GPUs': gpus(1500),
      'a tail that gets shorter and shorter': [
        ...gpus(1500).slice(0, 9000),
        ...Array.from({ length: 9000 }, (_, i) => `node ${i >> 3} name="gpucol"} `),
        ...Array.from({ length: 5000 }, (_, i) => `${i} } `),
        ...gpus(600),
        long,
        ...gpus(600),
      ],
      'a tail that ends': [...gpus(600), ...Array.from({ length: 9000 }, (_, i) => `{gpu="${i}"}`)],
      'all the same but the last of many': [...Array.from({ length: 9000 }, () => 'same'), 'other'],
    }
    for (const [name, texts] of Object.entries(cases)) {
      for (const expectedBytes of [0, 100, 1_000_000]) checkPacked(pack(texts, expectedBytes), texts, name)
    }
  })

  it('are those that were packed, whatever they are', () => {
    const random = randomNumbers(7)
    for (let round = 0; round < 200; round++) {
      const parts = Array.from({ length: 4 }, () => 'ab'.repeat(1 + random(20)))
      const text = () => Array.from({ length: random(6) }, () => parts[random(4)]! + String(random(12))).join('')
      const texts = Array.from({ length: random(40) }, text)
      checkPacked(pack(texts), texts, `round ${round}`)
    }
  })

  it('take few bytes where they are like their neighbours', () => {
    const texts = gpus(1000)
    const whole = texts.join('').length
    const { view } = pack(texts)
    assert.ok(view.byteLength < whole / 8, `${view.byteLength} of ${whole} bytes`)
  })

  it('take no bytes of their own where all are the same', () => {
    const { view, starts, parts } = pack(Array.from({ length: 1000 }, () => 'gpucol'))
    assert.deepEqual([view.byteLength, starts.length, parts.length], [SLACK + 6, 0, 0])
  })

  it('are equal when their bytes are', () => {
    const packed = pack(['node-1 gpu-1', 'node-1 gpu-2', 'node-1 gpu-1', 'another'])
    assert.deepEqual([packed.areEqual(0, 2), packed.areEqual(0, 1), packed.areEqual(0, 3)], [true, false, false])
  })
})

function pack(texts: readonly string[], expectedBytes = 0): PackedStrings {
  const packer = new StringPacker(expectedBytes)
  const strings = texts.map(text => Buffer.from(text))
  strings.forEach((string, i) => assert.equal(packer.add(string), i))
  const step = Math.ceil(strings.length / 100)
  for (let i = 0; i < strings.length; i += step) {
    assert.ok(packer.is(i, strings[i]!))
    for (const other of [strings.at(-1)!, strings[(i + 7) % strings.length]!, Buffer.from(`${texts[i]}.`)]) {
      assert.equal(packer.is(i, other), strings[i]!.equals(other))
    }
  }
  return packer.finish(SLACK)
}

function checkPacked(packed: PackedStrings, texts: readonly string[], name: string): void {
  assert.equal(packed.count, texts.length, name)
  const read = texts.map((_, i) => Buffer.from(packed.read(i)).toString())
  assert.ok(
    read.every((text, i) => text === texts[i]),
    name,
  )
  for (const isPlain of [true, false]) {
    for (const [i, text] of texts.entries()) {
      if (i > 2000) break
      const to = Buffer.alloc(SLACK + packed.longest + 8, '-')
      const at = copyPacked(new DataView(to.buffer, to.byteOffset, to.length), to.length - 8, packed, i, isPlain)
      assert.ok(to.subarray(at).toString() === `${text}--------`, name)
      assert.equal(packed.lengthOf(i), text.length, name)
    }
  }
}

function gpus(nodes: number): string[] {
  return Array.from({ length: nodes * 8 }, (_, i) => {
    const node = String(i >> 3).padStart(5, '0')
    return `{cluster="bench",node="gpu-node-${node}.cluster.local",gpu="${i & 7}",service_name="gpucol"} `
  })
}

function randomNumbers(seed: number): (below: number) => number {
  let state = seed
  return below => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
    return (state >> 8) % below
  }
}
