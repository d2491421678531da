import assert from 'node:assert/strict'
import fc from 'fast-check'
import { plainValue } from '../../../pipeline/config/plain-value.ts'
import { createSource, lineAndColumn } from '../../../pipeline/config/source.ts'
import { readYaml } from '../../../pipeline/config/yaml-source.ts'

function read(text: string) {
  const source = createSource('test.yaml', text)
  const { root, findings, broken } = readYaml(source)
  const complaints = findings.map(({ place, message }) => {
    const { line, column } = lineAndColumn(source, place.start)
    return `${line}:${column}: ${message}`
  })
  return { root, broken, complaints, value: plainValue(root, []) }
}

const values: [string, string, unknown][] = [
  ['scalars', 'a: 1\nb: x\nc: true\nd: 1.5\ne:\nf: "1"', { a: 1, b: 'x', c: true, d: 1.5, e: null, f: '1' }],
  ['a leading zero as octal, as the Collector does', 'a: 0644\nb: -010\nc: 089', { a: 420, b: -8, c: 89 }],
  ['hexadecimal and octal numbers', 'a: 0x1F\nb: 0o17', { a: 31, b: 15 }],
  ['yes, no and dates as texts', 'a: yes\nb: off\nc: 2020-01-01', { a: 'yes', b: 'off', c: '2020-01-01' }],
  ['keys that look like something else as texts', '8080: a\ntrue: b\nnull: c', { 8080: 'a', true: 'b', null: 'c' }],
  ['aliases', 'a: &x [1]\nb: *x', { a: [1], b: [1] }],
  [
    'merge keys, in which what stands there itself wins',
    'a: &x {b: 1, c: 2}\nd:\n  <<: *x\n  c: 3',
    { a: { b: 1, c: 2 }, d: { c: 3, b: 1 } },
  ],
  [
    'merge keys with several maps, of which the first wins',
    'a: &x {b: 1}\nc: &y {b: 2, d: 3}\ne: {<<: [*x, *y]}',
    { a: { b: 1 }, c: { b: 2, d: 3 }, e: { b: 1, d: 3 } },
  ],
  ['a quoted << as a key', 'a: {"<<": 1}', { a: { '<<': 1 } }],
  ['nothing at all', '# only a comment\n', null],
  ['a byte order mark before the first key', '\uFEFFa: 1', { a: 1 }],
  ['lines that end as on Windows', 'a: 1\r\nb: x\r\n', { a: 1, b: 'x' }],
]

const mistakes: [string, string, string[]][] = [
  ['a tab', 'a:\n\tb: 1', ['2:1: a tab cannot indent YAML; use spaces']],
  ['a duplicate key', 'a: 1\nb: 2\na: 3', ['3:1: duplicate key `a`, first in line 1']],
  ['a duplicate key deep down', 'a: {b: {c: 1, c: 2}}', ['1:15: duplicate key `c`, first in line 1']],
  ['a second document', 'a: 1\n---\nb: 2', ['2:1: a second document begins here; one file holds one']],
  ['an unclosed quote, where it opens', 'a: 1\nb: "x\nc: 2\n', ['2:4: this quote is not closed']],
  ['an unclosed list', 'a: [1, 2\nb: 3', ['2:1: a `{` or `[` before this is not closed']],
  ['a bracket too many', 'a: [1]]', ['1:7: nothing is open that `]` could close']],
  [
    'a reference without quotes in a flow map',
    'a: {b: ${env:X}}',
    ['1:9: `${...}` inside of `{ }` or `[ ]` needs quotes around it'],
  ],
  [
    'two keys in one line',
    'a: b: c',
    ['1:4: a second `key: value` in one line; indent it on a line of its own, or put the text in quotes'],
  ],
  [
    'a line indented too far',
    'a: 1\n  b: 2',
    ['2:3: this line belongs to nothing; is it indented too far, or does the line above lack a colon?'],
  ],
  [
    'a key without its colon',
    'a\n  b: 2',
    ['2:3: this line belongs to nothing; is it indented too far, or does the line above lack a colon?'],
  ],
  ['a last key without its colon', 'a: 1\nb', ['2:1: a key needs a colon and a space after it']],
  ['lines that are not indented alike', 'a:\n  b: 1\n c: 2', ['3:2: this is not indented like what it belongs to']],
  ['a reserved character', 'a: @x', ['1:4: a text cannot begin with this character unless it is in quotes']],
  ['an escape that is none', 'a: "\\d"', ['1:5: unknown escape after `\\`; in single quotes a `\\` is just that']],
  ['an unknown tag', 'a: !x 1', ['1:4: this tag is not known']],
  ['an alias without anchor', 'a: *x', ['1:4: no anchor `&x` stands before this alias']],
  ['an alias to itself', 'a: &x [*x]', ['1:8: `*x` refers to itself']],
  ['a map as a key', '? {a: 1}\n: 2', ['1:3: a key must be a text']],
  ['an empty key', ': 1', ['1:1: a key is empty']],
  ['a merge of what is no map', 'a: {<<: 5}', ['1:5: `<<` takes a map, or a list of maps']],
  [
    'two mistakes',
    'a:\n\tb: 1\nc: [1\nd: 2',
    ['2:1: a tab cannot indent YAML; use spaces', '4:1: a `{` or `[` before this is not closed'],
  ],
]

describe('readYaml', () => {
  for (const [name, text, value] of values)
    it(`reads ${name}`, () => {
      const { value: found, complaints } = read(text)
      assert.deepEqual(complaints, [])
      assert.deepEqual(found, value)
    })

  for (const [name, text, expected] of mistakes)
    it(`reports ${name}`, () => {
      assert.deepEqual(read(text).complaints, expected)
    })

  it('knows the place of every key and value', () => {
    const { root } = read('a:\n  - b: "x"')
    assert.ok(root.kind === 'map')
    const { keyPlace, value: list } = root.entries.get('a')!
    assert.deepEqual([keyPlace.start, keyPlace.end], [0, 1])
    assert.ok(list.kind === 'list' && list.items[0]!.kind === 'map')
    const { place } = list.items[0]!.entries.get('b')!.value
    assert.deepEqual(lineAndColumn(place.source, place.start), { line: 2, column: 8 })
    assert.equal(place.source.text.slice(place.start, place.end), '"x"')
  })

  it('refuses aliases that make much of little, once and quickly', () => {
    const lines = ['a0: &a0 [x, x, x, x, x, x, x, x, x]']
    for (let i = 1; i < 30; i++)
      lines.push(
        `a${i}: &a${i} [${Array(9)
          .fill(`*a${i - 1}`)
          .join(', ')}]`,
      )
    assert.deepEqual(read(lines.join('\n')).complaints, ['5:15: aliases make more than 20000 values of this file'])
  })

  it('refuses what is nested too deeply, however deeply', () => {
    for (const depth of [200, 5000])
      assert.match(
        read('['.repeat(depth) + ']'.repeat(depth)).complaints.join(),
        /nested (more than 100 levels|too) deep/,
      )
  })

  it('takes keys that every object has for keys like any other', () => {
    const { value } = read('__proto__: {polluted: 1}\nconstructor: 2\ntoString: 3')
    assert.deepEqual(Object.keys(value as object), ['__proto__', 'constructor', 'toString'])
    assert.equal(Object.getPrototypeOf(value), Object.prototype)
    assert.equal(({} as { polluted?: number }).polluted, undefined)
  })

  it('never throws, and points into the text, whatever the text is', () => {
    const text = fc.array(
      fc.constantFrom(
        'a',
        ':',
        ' ',
        '\n',
        '-',
        '{',
        '}',
        '[',
        ']',
        '"',
        "'",
        '\t',
        '#',
        '&',
        '*',
        '!',
        '|',
        '>',
        '%',
        '@',
        '$',
        ',',
        '?',
        '<<',
      ),
    )
    fc.assert(
      fc.property(text, pieces => {
        const source = createSource('x', pieces.join(''))
        const { findings } = readYaml(source)
        for (const { place } of findings) assert.ok(place.start >= 0 && place.start <= source.text.length)
      }),
      { numRuns: 500 },
    )
  })
})
