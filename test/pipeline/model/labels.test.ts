import assert from 'node:assert/strict'
import fc from 'fast-check'
import {
  EMPTY_LABELS,
  getLabel,
  labelPairs,
  labelsFrom,
  withLabels,
  withoutLabels,
} from '../../../pipeline/model/labels.ts'

const AWKWARD = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'a', 'b', 'ab', 'é', '']
const names = fc.oneof(
  fc.constantFrom(...AWKWARD.slice(0, -1)),
  fc.string({ minLength: 1, maxLength: 4, unit: 'binary' }),
)
const values = fc.oneof(fc.constantFrom(...AWKWARD), fc.string({ maxLength: 4, unit: 'binary' }))
const pairLists = fc.array(fc.tuple(names, values), { maxLength: 5 })

/** What a label set means, by a different route: sorted pairs without the empty ones, as JSON. */
function meaning(pairs: [string, string][]): string {
  const kept = [...new Map(pairs)].filter(([, value]) => value !== '')
  return JSON.stringify(kept.sort(([a], [b]) => (a < b ? -1 : 1)))
}

describe('labels', () => {
  it('are one object exactly if they are the same label set', () => {
    fc.assert(
      fc.property(pairLists, pairLists, (a, b) => {
        assert.equal(labelsFrom(a) === labelsFrom(b), meaning(a) === meaning(b))
        assert.equal(
          labelsFrom(a),
          labelsFrom(a.toReversed().filter(([name], i, all) => all.findIndex(([n]) => n === name) === i)),
        )
      }),
      { numRuns: 2000 },
    )
  })

  it('are told apart also where their hashes are equal', () => {
    // Found by search: FNV-1a over UTF-16 units gives both the same 32 bits.
    const seen = new Map<number, string>()
    let pair: [string, string] | undefined
    for (let i = 0; pair === undefined; i++) {
      const text = i.toString(36)
      const hash = fnv(text)
      const other = seen.get(hash)
      if (other !== undefined) pair = [other, text]
      else seen.set(hash, text)
    }
    const [one, two] = pair.map(value => labelsFrom([['a', value]]))
    assert.notEqual(one, two)
    assert.deepEqual([getLabel(one!, 'a'), getLabel(two!, 'a')], pair)
    assert.equal(labelsFrom([['a', pair[0]]]), one)
    assert.equal(labelsFrom([['a', pair[1]]]), two)
  })

  it('give back what was put in, whatever the labels are called', () => {
    fc.assert(
      fc.property(pairLists, pairs => {
        const labels = labelsFrom(pairs)
        for (const [name, value] of new Map(pairs)) assert.equal(getLabel(labels, name) ?? '', value)
        assert.equal(labelsFrom(labelPairs(labels)), labels)
      }),
    )
    const odd = labelsFrom([
      ['__proto__', 'x'],
      ['constructor', 'y'],
    ])
    assert.deepEqual(labelPairs(odd), [
      ['__proto__', 'x'],
      ['constructor', 'y'],
    ])
    assert.equal(getLabel(odd, 'toString'), undefined)
    assert.equal(getLabel(EMPTY_LABELS, '__proto__'), undefined)
  })

  it('can be changed into others, which are interned, too', () => {
    const labels = labelsFrom([
      ['a', '1'],
      ['b', '2'],
    ])
    assert.equal(withLabels(labels, [['a', '1']]), labels)
    assert.equal(
      withLabels(labels, [
        ['b', undefined],
        ['c', '3'],
      ]),
      labelsFrom([
        ['a', '1'],
        ['c', '3'],
      ]),
    )
    assert.equal(withoutLabels(labels, new Set(['a', 'b'])), EMPTY_LABELS)
  })

  it('may be as many as somebody cares to send', () => {
    const pairs = Array.from({ length: 300_000 }, (_, i): [string, string] => [
      `label_${String(i).padStart(6, '0')}`,
      `${i}`,
    ])
    const labels = labelsFrom(pairs)
    assert.equal(labels, labelsFrom(pairs.toReversed()))
    for (const i of [0, 999, 1000, 299_999]) assert.equal(getLabel(labels, pairs[i]![0]), `${i}`)
    assert.equal(labels.values.length, 300_000)
  })

  it('cannot be written into', () => {
    const labels = labelsFrom([['a', '1']])
    assert.throws(() => (labels.values as string[]).push('x'))
    assert.throws(() => Object.assign(labels, { names: [] }))
  })
})

function fnv(text: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return hash
}
