import assert from 'node:assert/strict'
import { checkValue } from '../../../pipeline/config/check-value.ts'
import type { Schema } from '../../../pipeline/config/schema-walk.ts'
import { createSource } from '../../../pipeline/config/source.ts'
import { readYaml } from '../../../pipeline/config/yaml-source.ts'

/** `column: message` for each thing that is wrong. */
function complaints(text: string, schema: object): string[] {
  const source = createSource('test.yaml', `it: ${text}`)
  const { root } = readYaml(source)
  assert.ok(root.kind === 'map')
  const { findings } = checkValue(root.entries.get('it')!, 'it', schema as Schema)
  return findings.map(({ place, message }) => `${place.start + 1}: ${message}`)
}

const property = (schema: object) => ({ type: 'object', properties: { a: schema } })
const strings = { a: { type: 'string' }, b: { type: 'string' }, c: { type: 'string' } }
const either = { type: 'object', properties: strings, anyOf: [{ required: ['a'] }, { required: ['b'] }] }
const oneOnly = { type: 'object', properties: strings, oneOf: [{ required: ['a'] }, { required: ['b'] }] }
const nested = property({
  anyOf: [
    { type: 'string' },
    {
      type: 'object',
      properties: { b: { anyOf: [{ type: 'integer' }, { type: 'array', items: { type: 'integer' } }] } },
    },
  ],
})

const cases: [string, object, string, string[]][] = [
  ['one key of several that is needed', either, '{ c: x }', ['1: one of `a` and `b` is needed in `it`']],
  ['nothing where one of them is there', either, '{ b: x }', []],
  ['two keys of which one may be there', oneOnly, '{ a: x, b: y }', ['1: only one of `a` and `b` may stand in `it`']],
  ['none of them', oneOnly, '{}', ['1: one of `a` and `b` is needed in `it`']],
  ['what fits no alternative', nested, '{ a: 5 }', ['10: `a` must be a text or a map, found 5']],
  [
    'an unknown key in the alternative that was meant',
    nested,
    '{ a: { c: 1 } }',
    ['12: unknown key `c` in `a`; it takes b'],
  ],
  [
    'what fits no alternative within one',
    nested,
    '{ a: { b: x } }',
    ['15: `a.b` must be a whole number or a list, found "x"'],
  ],
  [
    'an entry in an alternative within one',
    nested,
    '{ a: { b: [x] } }',
    ['16: `a.b[0]` must be a whole number, found "x"'],
  ],
  [
    'a number that must be above',
    property({ type: 'number', exclusiveMinimum: 0 }),
    '{ a: 0 }',
    ['10: `a` must be more than 0, found 0'],
  ],
  [
    'a number that must be below',
    property({ type: 'number', exclusiveMaximum: 1 }),
    '{ a: 1 }',
    ['10: `a` must be less than 1, found 1'],
  ],
  [
    'a number that is no multiple',
    property({ type: 'integer', multipleOf: 8 }),
    '{ a: 9 }',
    ['10: `a` must be a multiple of 8, found 9'],
  ],
  [
    'a list that is too long',
    property({ type: 'array', items: {}, maxItems: 1 }),
    '{ a: [1, 2] }',
    ['10: `a` must have at most 1 entries'],
  ],
  [
    'a list that is too short',
    property({ type: 'array', items: {}, minItems: 2 }),
    '{ a: [1] }',
    ['10: `a` must have at least 2 entries'],
  ],
  [
    'a map that is empty',
    property({ type: 'object', additionalProperties: {}, minProperties: 1 }),
    '{ a: {} }',
    ['10: `a` must not be empty'],
  ],
  [
    'a text of the wrong form',
    property({ type: 'string', pattern: '^x+$' }),
    '{ a: y }',
    ['10: `a` must match ^x+$, found "y"'],
  ],
  [
    'a text that is too long',
    property({ type: 'string', maxLength: 2 }),
    '{ a: abc }',
    ['10: `a` must have at most 2 characters'],
  ],
  ['a version that is not the one', property({ const: 1 }), '{ a: 2 }', ['10: `a` must be 1, found 2']],
  [
    'a key that cannot be one',
    property({ type: 'object', additionalProperties: {}, propertyNames: { pattern: '^x' } }),
    '{ a: { y: 1 } }',
    ['12: `y` cannot be a key of `a`'],
  ],
  [
    'a long text, cut off',
    property({ type: 'integer' }),
    `{ a: ${'x'.repeat(200)} }`,
    [`10: \`a\` must be a whole number, found "${'x'.repeat(78)}…`],
  ],
  [
    'a map where a duration belongs',
    property({ type: 'string', format: 'duration' }),
    '{ a: { toString: x } }',
    ['10: `a` must be a duration such as 15s or 1h30m, found a map'],
  ],
  [
    'keys that look like numbers',
    property({ type: 'object', additionalProperties: { type: 'string' } }),
    '{ a: { 1: 2 } }',
    ['15: `a.1` must be a text, found 2; put it in quotes'],
  ],
]

describe('checkValue', () => {
  for (const [name, schema, text, expected] of cases)
    it(`finds ${name}`, () => {
      assert.deepEqual(complaints(text, schema), expected)
    })
})
