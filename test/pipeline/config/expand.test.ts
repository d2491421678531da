import assert from 'node:assert/strict'
import { plainValue } from '../../../pipeline/config/plain-value.ts'
import { resolveConfig } from '../../../pipeline/config/resolve-config.ts'
import { lineAndColumn } from '../../../pipeline/config/source.ts'
import { filesFromTexts } from '../../support/load-text.ts'

type Context = { env?: Record<string, string>; texts?: Record<string, string>; set?: string[] }

function expand(text: string, { env = {}, texts = {}, set = [] }: Context = {}) {
  const readFile = filesFromTexts({ 'dir/config.yaml': text, ...texts })
  const { root, findings } = resolveConfig({ files: ['dir/config.yaml'], set, env, readFile })
  const complaints = findings.map(({ place: { source, start }, message }) => {
    const { line, column } = lineAndColumn(source, start)
    return `${source.name}:${line}:${column}: ${message}`
  })
  return { value: root && plainValue(root, []), complaints }
}

const env = { HOST: 'localhost', PORT: '80', NAME: 'HOST', EMPTY: '', LIST: '[a, "${HOST}"]', NESTED: '<${env:HOST}>' }

/** The contract's own words first; the rest of the Collector's cases run in the conformance suite. */
const values: [string, string, unknown][] = [
  ['a variable', '${env:HOST}', 'localhost'],
  ['a bare variable', '${HOST}', 'localhost'],
  ['a default', '${env:NOPE:-x}', 'x'],
  ['a default of a bare variable', '${NOPE:-x}', 'x'],
  ['an empty default as an empty text', '${env:NOPE:-}', ''],
  ['a default that is typed as YAML', '${env:NOPE:-[1, 2]}', [1, 2]],
  ['a default that is a reference', '${env:NOPE:-${env:PORT}}', 80],
  ['a default with a reference in it', '${env:NOPE:-${env:HOST}:1}', 'localhost:1'],
  ['no default where the variable is set, though the default cannot be had', '${env:HOST:-${env:NOPE}}', 'localhost'],
  ['no default where the variable is empty', '${env:EMPTY:-x}', null],
  ['two dollars as one', '$$ and $$${HOST}', '$ and $localhost'],
  ['an escaped reference', '$${HOST}', '${HOST}'],
  ['references after an escaped one', '$${A} ${HOST}', '${A} localhost'],
  ['nothing in captures', '$1 ${1} ${2}x $name', '$1 ${1} ${2}x $name'],
  ['a name made of a reference', '${env:${env:NAME}}', 'localhost'],
  ['a name with a reference in it', '${env:HO${env:NOPE:-ST}}', 'localhost'],
  ['a whole value as YAML', '${env:PORT}', 80],
  ['a part of a text as text', 'x${env:PORT}', 'x80'],
  ['references behind references', '${env:NESTED}', '<localhost>'],
  ['references in a list behind a reference', '${env:LIST}', ['a', 'localhost']],
  ['nothing without a closing brace', '${env:HOST', '${env:HOST'],
]

const mistakes: [string, string, string][] = [
  [
    'an unset variable',
    '${env:NOPE}',
    'environment variable `NOPE` is not set; give it a default: `${env:NOPE:-default}`',
  ],
  [
    'an unset bare variable, which may be a capture',
    '${NOPE}',
    'environment variable `NOPE` is not set; give it a default: `${env:NOPE:-default}`; a capture is written `$${NOPE}`',
  ],
  [
    'a variable called constructor that is not set',
    '${env:constructor:+}',
    '"constructor:+" cannot be the name of an environment variable',
  ],
  [
    'a name that is none',
    '${a.b}',
    '"a.b" cannot be the name of an environment variable; a capture is written `$${a.b}`',
  ],
  ['an unknown source', '${vault:x}', 'unknown source `vault`; there are env and file'],
  ['a file that is not there', '${file:nope.yaml}', 'dir/nope.yaml: cannot be read: no such file'],
  ['no file at all', '${file:}', '`${file:}` names no file'],
  [
    'a variable in a path that is not expanded',
    '${file:$HOME/x}',
    '"$HOME/x" is no path; an environment variable in it is `${env:NAME}`',
  ],
]

describe('expansion of references', () => {
  for (const [name, text, expected] of values)
    it(`gives ${name}`, () => {
      const { value, complaints } = expand(`key: ${JSON.stringify(text)}`, { env })
      assert.deepEqual(complaints, [])
      assert.deepEqual(value, { key: expected })
    })

  for (const [name, text, message] of mistakes)
    it(`reports ${name} where it stands`, () => {
      const { complaints } = expand(`a: 1\nkey: ${JSON.stringify(`x ${text}`)}`, { env })
      assert.deepEqual(complaints, [`dir/config.yaml:2:9: ${message}`])
    })

  it('reports every reference that cannot be followed', () => {
    const { complaints } = expand('a: ${A}-${B}\nc: [x, "${C}"]')
    assert.deepEqual(
      complaints.map(line => line.slice(0, line.indexOf(' not set'))),
      ['A', 'B', 'C'].map(
        (name, i) => `dir/config.yaml:${['1:4', '1:9', '2:9'][i]}: environment variable \`${name}\` is`,
      ),
    )
  })

  it('says whose value is to blame', () => {
    const { complaints } = expand('a: ${env:A}', { env: { A: 'x ${env:B}' } })
    assert.match(
      complaints.join(),
      /^dir\/config.yaml:1:4: environment variable `B` is not set; .* \(in \$\{env:A\}\)$/,
    )
  })

  it('does not look for variables among what every object has', () => {
    assert.match(expand('a: ${env:constructor}').complaints.join(), /`constructor` is not set/)
    assert.match(expand('a: ${env:__proto__}').complaints.join(), /`__proto__` is not set/)
  })

  it('does not expand keys', () => {
    assert.deepEqual(expand('"${HOST}": 1', { env }).value, { '${HOST}': 1 })
  })

  describe('from files', () => {
    it('takes paths relative to the file that names them', () => {
      const texts = {
        'dir/sub/b.yaml': 'x: ${file:c.yaml}',
        'dir/sub/c.yaml': 'y: ${file:../d.txt}',
        'dir/d.txt': 'deep\n',
      }
      assert.deepEqual(expand('a: ${file:sub/b.yaml}', { texts }).value, { a: { x: { y: 'deep' } } })
    })

    it('leaves out the line break at the end, and only that', () => {
      const texts = { 'dir/token': 'abc\n\n' }
      assert.deepEqual(expand('a: Bearer ${file:token}', { texts }).value, { a: 'Bearer abc\n' })
    })

    it('takes a file that is no YAML as a text', () => {
      const texts = { 'dir/ca.pem': '-----BEGIN: {\nx' }
      assert.deepEqual(expand('a: ${file:ca.pem}', { texts }).value, { a: '-----BEGIN: {\nx' })
    })

    it('reports mistakes in a YAML file at their place in that file', () => {
      const texts = { 'dir/b.yaml': 'x: 1\nx: 2\ny: ${env:NOPE}', 'dir/c.yml': 'x: [1' }
      const { complaints } = expand('a: ${file:b.yaml}\nb: ${file:c.yml}', { texts })
      assert.deepEqual(complaints, [
        'dir/b.yaml:2:1: duplicate key `x`, first in line 1',
        'dir/b.yaml:3:4: environment variable `NOPE` is not set; give it a default: `${env:NOPE:-default}`',
        'dir/c.yml:1:5: a `{` or `[` before this is not closed',
      ])
    })

    it('names the files of a cycle', () => {
      const texts = { 'dir/b.yaml': 'x: ${file:c.yaml}', 'dir/c.yaml': 'y: ${file:b.yaml}' }
      assert.deepEqual(expand('a: ${file:b.yaml}', { texts }).complaints, [
        'dir/c.yaml:1:4: dir/b.yaml refers to itself: dir/b.yaml -> dir/c.yaml -> dir/b.yaml',
      ])
    })

    it('notices a config that takes itself in', () => {
      assert.deepEqual(expand('a: x ${file:config.yaml}').complaints, [
        'dir/config.yaml:1:6: dir/config.yaml refers to itself: dir/config.yaml -> dir/config.yaml',
      ])
    })
  })

  it('notices variables that refer to each other', () => {
    const { complaints } = expand('a: ${env:A}', { env: { A: '${env:B}', B: '${env:A}' } })
    assert.deepEqual(complaints, [
      'dir/config.yaml:1:4: ${env:A} refers to itself: ${env:A} -> ${env:B} -> ${env:A} (in ${env:B})',
    ])
  })

  it('follows references over 49 steps, and not over 51', () => {
    const chain = (steps: number) =>
      Object.fromEntries(Array.from({ length: steps }, (_, i) => [`V${i}`, `\${env:V${i + 1}}`]))
    assert.deepEqual(expand('a: ${V0}', { env: { ...chain(49), V49: 'end' } }).value, { a: 'end' })
    assert.match(expand('a: ${V0}', { env: { ...chain(51), V51: 'end' } }).complaints.join(), /more than 50 steps/)
  })

  it('stops where variables make far too much text of little, and says so once', () => {
    const env = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`V${i}`, `\${V${i + 1}}\${V${i + 1}}`]))
    const { complaints } = expand('a: ${V0}', { env: { ...env, V40: 'x'.repeat(1000) } })
    assert.deepEqual(complaints, ['dir/config.yaml:1:4: references make far more text than a config needs'])
  })
})
