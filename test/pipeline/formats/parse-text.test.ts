import assert from 'node:assert/strict'
import { createTextReader, type Exposition } from '../../../pipeline/formats/prometheus-text.ts'
import type { Dialect } from '../../../pipeline/formats/sample-line.ts'
import { metricAt } from '../../../pipeline/model/layout.ts'
import { createSource } from '../../support/batch-from-text.ts'
import { textFromBatch } from '../../support/text-from-batch.ts'

type Input = string | Uint8Array

function read(input: Input, dialect: Dialect = 'text'): Exposition {
  const reader = createTextReader()
  reader.begin(dialect)
  reader.push(Buffer.from(input))
  return reader.finish()
}

function textOf(exposition: Exposition): string {
  return textFromBatch({ source: createSource(), timeMs: 0, outcome: 'ok', ...exposition })
}

describe('reading the Prometheus text format', () => {
  const good: [what: string, input: Input, expected: string][] = [
    ['nothing', '', ''],
    ['blank lines', '\n\n  \n\t\na 1\n\n', 'a 1\n'],
    ['a last line without an end', 'a 1\nb 2', 'a 1\nb 2\n'],
    ['CRLF', '# TYPE a gauge\r\na{x="1"} 1\r\nb 2 3\r\n', 'a{x="1"} 1\nb 2 3\n'],
    ['labels', 'a{x="1",y="2"} 3\n', 'a{x="1",y="2"} 3\n'],
    ['labels in another order', 'a{y="2",x="1"} 3\n', 'a{x="1",y="2"} 3\n'],
    ['empty labels, which are not there', 'a{x=""} 1\n', 'a 1\n'],
    ['an empty label block', 'a{} 1\nb{,} 2\nc{  ,} 3\n', 'a 1\nb 2\nc 3\n'],
    ['a comma after the last label', 'a{x="1",} 1\nb{x="1" , } 2\n', 'a{x="1"} 1\nb{x="1"} 2\n'],
    ['blanks and tabs anywhere', ' a \t{ x\t= "1" ,y="2" }\t 4\t5 \n', 'a{x="1",y="2"} 4 5\n'],
    ['no blank before the value', 'a{x="1"}6\n', 'a{x="1"} 6\n'],
    ['escapes', String.raw`a{x="\\ \" \n"} 1` + '\n', String.raw`a{x="\\ \" \n"} 1` + '\n'],
    ['escapes that mean nothing', String.raw`a{x="\z"} 1` + '\n', String.raw`a{x="\\z"} 1` + '\n'],
    ['braces, hashes, commas in values', 'a{x="}{ # ,="} 1\n', 'a{x="}{ # ,="} 1\n'],
    ['UTF-8 in values', 'a{x="Björn 佖"} 1\n', 'a{x="Björn 佖"} 1\n'],
    ['names in quotes', '{"a.b","c d"="1"} 1\n{x="1","a.b"} 2\n', '{"a.b","c d"="1"} 1\n{"a.b",x="1"} 2\n'],
    ['a plain name in quotes', '{"a",x="1"} 1\na{"x"="2"} 2\n', 'a{x="1"} 1\na{x="2"} 2\n'],
    ['timestamps', 'a 1 1700000000000\nb 2 -5\nc 3\n', 'a 1 1700000000000\nb 2 -5\nc 3\n'],
    ['labels named like properties', 'a{__proto__="1",constructor="2"} 1\n', 'a{__proto__="1",constructor="2"} 1\n'],
    ['comments', '# hello\n#HELP\n# HELP\n#\n# EOF\na 1\n', 'a 1\n'],
    ['exemplars', 'a_bucket{le="1"} 1 # {trace="x"} 0.5\n', 'a_bucket{le="1"} 1\n'],
  ]
  for (const [what, input, expected] of good) {
    it(`understands ${what}`, () => assert.equal(textOf(read(input)), expected))
  }

  const numbers: [text: string, value: number][] = [
    ['0', 0],
    ['-0', -0],
    ['+1', 1],
    ['1.', 1],
    ['.5', 0.5],
    ['-.5e1', -5],
    ['00012', 12],
    ['1e3', 1000],
    ['1E-3', 0.001],
    ['1.2e+10', 1.2e10],
    ['0.1', 0.1],
    ['123456789012345', 123456789012345],
    ['9223372036854775807', 2 ** 63],
    ['0.013300656000000001', 0.013300656000000001],
    ['1.7976931348623157e308', Number.MAX_VALUE],
    ['5e-324', 5e-324],
    ['1e-400', 0],
    ['0.000000000000000000000001', 1e-24],
    ['100000000000000000000000', 1e23],
    ['8.41', 8.41],
    ['NaN', NaN],
    ['nan', NaN],
    ['+Inf', Infinity],
    ['inf', Infinity],
    ['-INFINITY', -Infinity],
  ]
  for (const [text, value] of numbers) {
    it(`reads the number ${text}`, () => assert.deepEqual([...read(`a ${text}\n`).values], [value]))
  }

  const bad: [line: Input, problem: RegExp][] = [
    ['a', /a value is missing/],
    ['a ', /a value is missing/],
    ['a{x="1"}', /a value is missing/],
    ['a{x="1"', /no end/],
    ['a{x="1', /quote is not closed/],
    ['a{x=1} 1', /not in quotes/],
    ['a{x} 1', /has no value/],
    ['a{x="1",,} 1', /between two commas/],
    ['a{,x="1"} 1', /before a comma/],
    ['a{x="1" y="2"} 1', /comma/],
    ['a{x="1",x="2"} 1', /"x" is there twice/],
    ['a{__name__="b"} 1', /__name__/],
    ['a{1x="1"} 1', /label name/],
    ['a{""="1"} 1', /label name is empty/],
    ['{x="1"} 1', /metric name is missing/],
    ['{} 1', /metric name is missing/],
    ['{""} 1', /metric name is empty/],
    ['{"a","b"} 1', /no value/],
    ['a{"b"} 1', /two names/],
    ['1a 1', /metric name/],
    ['a.b 1', /quotes/],
    ['a ERROR - FAILED TO CONVERT TO STRING', /not a number/],
    ['a 0x1p-3', /not a number/],
    ['a 1_000', /not a number/],
    ['a 1e', /not a number/],
    ['a 1e400', /not a number/],
    ['a --1', /not a number/],
    ['a +nan', /not a number/],
    ['a .', /not a number/],
    ['a 1 2.5', /timestamp/],
    ['a 1 2 3', /after the timestamp/],
    ['a{x="\0"} 1', /NUL/],
    ['# TYPE a nothing', /type/],
    ['# TYPE a-b gauge', /quotes/],
    ['# HELP "a', /HELP/],
    [Buffer.from('a{x="\xbd"} 1', 'latin1'), /"x" is not UTF-8/],
    [Buffer.from('{"\xbd"} 1', 'latin1'), /not UTF-8/],
  ]
  for (const [line, problem] of bad) {
    it(`skips ${JSON.stringify(String(line))} and reads on`, () => {
      const exposition = read(Buffer.concat([Buffer.from('before 1\n'), Buffer.from(line), Buffer.from('\nafter 2\n')]))
      assert.equal(textOf(exposition), 'after 2\nbefore 1\n')
      assert.equal(exposition.badLines, 1)
      assert.match(exposition.problem!, problem)
      assert.match(exposition.problem!, /^line 2: /)
    })
  }

  it('takes the first of several samples of a series', () => {
    const exposition = read('a{x="1",y="2"} 1\na{y="2",x="1"} 2\na{x="1",y="2",z=""} 3\n')
    assert.equal(textOf(exposition), 'a{x="1",y="2"} 1\n')
    assert.equal(exposition.samples, 3)
    assert.equal(exposition.duplicates, 2)
  })

  it('knows how families are described, wherever the description stands', () => {
    const { layout } = read(
      String.raw`a_bucket{le="1"} 1
# HELP a two\nlines \\ and \"
# TYPE a histogram
a_sum 1
a_other 1
# TYPE b_total counter
b_total 1
# HELP "c.d" dotted
{"c.d"} 1
# HELP a another
# TYPE e untyped
e 1
`,
    )
    const described = [0, 1, 2, 3, 4, 5].map(column => {
      const { name, family, type, help } = metricAt(layout, column)
      return [name, family, type, help].join(' | ')
    })
    assert.deepEqual(described, [
      'a_bucket | a | histogram | two\nlines \\ and \\"',
      'a_sum | a | histogram | two\nlines \\ and \\"',
      'a_other | a_other | unknown | ',
      'b_total | b_total | counter | ',
      'c.d | c.d | unknown | dotted',
      'e | e | unknown | ',
    ])
  })

  it('replaces bad bytes in help texts', () => {
    const { layout } = read(Buffer.from('# HELP a \xbd\na 1\n', 'latin1'))
    assert.equal(metricAt(layout, 0).help, '\ufffd')
  })
})
