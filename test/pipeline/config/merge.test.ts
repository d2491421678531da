import assert from 'node:assert/strict'
import { plainValue } from '../../../pipeline/config/plain-value.ts'
import { resolveConfig } from '../../../pipeline/config/resolve-config.ts'
import { filesFromTexts } from '../../support/load-text.ts'

function merge(texts: readonly string[], options: { env?: Record<string, string>; set?: string[] } = {}) {
  const names = texts.map((_, index) => `${index}.yaml`)
  const readFile = filesFromTexts(Object.fromEntries(texts.map((text, index) => [names[index]!, text])))
  const { root, findings } = resolveConfig({ files: names, set: [], env: {}, readFile, ...options })
  assert.deepEqual(
    findings.map(({ message }) => message),
    [],
  )
  return root && plainValue(root, [])
}

const cases: [string, string[], unknown][] = [
  ['maps deeply', ['a: {b: {c: 1, d: 2}}', 'a: {b: {d: 3, e: 4}}'], { a: { b: { c: 1, d: 3, e: 4 } } }],
  ['three files from left to right', ['a: 1', 'a: 2\nb: 2', 'b: 3'], { a: 2, b: 3 }],
  ['nothing over a map as an empty map', ['a: {b: 1}', 'a:'], { a: { b: 1 } }],
  ['a map over nothing', ['a:', 'a: {b: 1}'], { a: { b: 1 } }],
  ['nothing over a value as nothing', ['a: 1', 'a:'], { a: null }],
  ['an empty map as no change', ['a: {b: 1}', 'a: {}'], { a: { b: 1 } }],
  ['a list by replacing it', ['a: [1, 2]', 'a: [3]'], { a: [3] }],
  ['an empty list by replacing what was there', ['a: [1, 2]', 'a: []'], { a: [] }],
  ['a value over a map by replacing it', ['a: {b: 1}', 'a: 2'], { a: 2 }],
  ['a map over a value by replacing it', ['a: 2', 'a: {b: 1}'], { a: { b: 1 } }],
  ['an empty file as no change', ['a: 1', '', '# nothing\n'], { a: 1 }],
  ['keys in the order of the first file', ['b: 1\na: 2', 'c: 3\na: 4'], { b: 1, a: 4, c: 3 }],
]

describe('merging of several configs', () => {
  for (const [name, texts, expected] of cases)
    it(`merges ${name}`, () => {
      const merged = merge(texts)
      assert.deepEqual(merged, expected)
      assert.deepEqual(Object.keys(merged as object), Object.keys(expected as object))
    })

  it('merges what references stand for', () => {
    const env = { LEFT: '{b: 1, c: 1}', RIGHT: '{c: 2}' }
    assert.deepEqual(merge(['a: ${env:LEFT}', 'a: {c: 2}'], { env }), { a: { b: 1, c: 2 } })
    assert.deepEqual(merge(['a: {b: 1}', 'a: ${env:RIGHT}'], { env }), { a: { b: 1, c: 2 } })
    assert.deepEqual(merge(['a: ${env:LEFT}', 'a: ${env:RIGHT}'], { env }), { a: { b: 1, c: 2 } })
  })

  it('does not look for variables in what is replaced', () => {
    assert.deepEqual(merge(['a: ${env:NOPE}', 'a: 1']), { a: 1 })
    assert.deepEqual(merge(['a: ${env:NOPE}', 'a: ${env:NOPE}', 'a: [1]']), { a: [1] })
    assert.deepEqual(merge(['a: ${env:NOPE}'], { set: ['a=1'] }), { a: 1 })
  })

  it('expands what it merged no second time', () => {
    assert.deepEqual(merge(['a: ${env:A}', 'a: {c: 1}'], { env: { A: '{b: "$${B}"}' } }), { a: { b: '${B}', c: 1 } })
  })
})

const sets: [string, string, string[], unknown][] = [
  ['a value that is there', 'a: {b: 1}', ['a.b=2'], { a: { b: 2 } }],
  ['a value that is not there', '', ['a.b=2'], { a: { b: 2 } }],
  ['a value by the separator of the Collector', 'a: {b.c: 1}', ['a::b.c=2', 'a::d=x'], { a: { 'b.c': 2, d: 'x' } }],
  ['a list', '', ['a=[1, x]'], { a: [1, 'x'] }],
  ['a text with an equals sign', '', ['a=b=c'], { a: 'b=c' }],
  ['nothing, which changes no map', 'a: {b: 1}', ['a='], { a: { b: 1 } }],
  ['a map, deeply', 'a: {b: {c: 1}}', ['a={b: {d: 2}}'], { a: { b: { c: 1, d: 2 } } }],
  ['the later of two', '', ['a=1', 'a=2'], { a: 2 }],
  ['below a key with a slash', 'x: {a/b: {c: 1}}', ['x.a/b.c=2'], { x: { 'a/b': { c: 2 } } }],
  ['below a key with dots', 'x: {a/b.c: {d: 1}, a/b: {}}', ['x.a/b.c.d=2'], { x: { 'a/b.c': { d: 2 }, 'a/b': {} } }],
  ['below a key with dots that a reference brings', 'x: "${env:X}"', ['x.b.c.d=2'], { x: { 'b.c': { d: 2 } } }],
  ['a reference', '', ['a=${env:X}'], { a: { 'b.c': { d: 1 } } }],
]

describe('--set', () => {
  for (const [name, text, set, expected] of sets)
    it(`sets ${name}`, () => {
      assert.deepEqual(merge([text], { set, env: { X: '{b.c: {d: 1}}' } }), expected)
    })
})
