import assert from 'node:assert/strict'
import { formatId, parseId, parsePipelineId } from '../../../pipeline/config/ids.ts'

const bad: [string, string, string | undefined][] = [
  ['pull /a', 'an id has no blanks', 'pull/a'],
  [' pull', 'an id has no blanks', 'pull'],
  ['pull/a b', 'an id has no blanks', undefined],
  ['', 'an id is empty', undefined],
  ['/a', 'id `/a` has no type before the slash', undefined],
  ['pull/', 'id `pull/` has no name after the slash', undefined],
  ['1pull', '`1pull` cannot be a type: letters, digits and `_`, at most 63', undefined],
  ['pull/a+b', 'id `pull/a+b` has a name of more than 1024 characters, or with symbols in it', undefined],
]

describe('parseId', () => {
  it('takes an id apart, and formatId puts it together', () => {
    for (const text of ['pull', 'pull/a', 'pull/a.b-c', 'pull/a/b', 'pull/中文']) {
      const id = parseId(text)
      assert.ok(!('problem' in id))
      assert.equal(formatId(id), text)
    }
  })

  for (const [text, problem, suggestion] of bad)
    it(`says what is wrong with "${text}"`, () => {
      const found = parseId(text)
      assert.ok('problem' in found)
      assert.equal(found.problem, problem)
      assert.equal(found.suggestion, suggestion)
    })
})

describe('parsePipelineId', () => {
  it('takes every signal of OpenTelemetry, and nothing else', () => {
    for (const signal of ['metrics', 'traces', 'logs', 'profiles'])
      assert.deepEqual(parsePipelineId(signal), { type: signal, name: '' })
    assert.ok('problem' in parsePipelineId('metric'))
  })
})
