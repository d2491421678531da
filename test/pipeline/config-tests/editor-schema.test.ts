import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import { parse } from 'yaml'
import { testEditorSchema } from '../../../pipeline/config-tests/editor-schema.ts'
import { exporters, extensions, processors, receivers } from '../../support/all-components.ts'

const root = join(import.meta.dirname, '../../..')
const schema = testEditorSchema({ receivers, processors, exporters, extensions })
const validate = new Ajv({ strict: false, allErrors: true }).compile(schema)

describe('the schema of test files', () => {
  it('is as configs/test-schema.json has it', () => {
    const written = readFileSync(join(root, 'configs/test-schema.json'), 'utf8')
    assert.equal(written, `${JSON.stringify(schema, undefined, 2)}\n`, 'not up to date: npm run generate')
  })

  it('accepts all golden scenarios', () => {
    for (const file of globSync('test/golden/*/test.yaml', { cwd: root })) {
      assert.ok(validate(parse(readFileSync(join(root, file), 'utf8'))), `${file}: ${JSON.stringify(validate.errors)}`)
    }
  })

  const test = { name: 'it', steps: [{ at: '0s' }] }
  const cases: [name: string, file: unknown, isGood: boolean][] = [
    ['a file without tests', { config: 'a.yaml' }, false],
    ['an unknown key', { tests: [{ ...test, stesp: [] }] }, false],
    ['a time without unit', { tests: [{ ...test, steps: [{ at: '5' }] }] }, false],
    ['the time 0', { tests: [{ ...test, steps: [{ at: 0 }] }] }, true],
    ['a config as a list', { config: ['a.yaml', 'b.yaml'], tests: [test] }, true],
    ['processors', { processors: [{ relabel: { rules: [] } }, { 'relabel/b': null }], tests: [test] }, true],
    ['a processor with an unknown key', { tests: [{ ...test, processors: [{ relabel: { ruels: [] } }] }] }, false],
    ['a processor that does not exist', { processors: [{ relabl: {} }], tests: [test] }, false],
  ]
  for (const [name, file, isGood] of cases) {
    it(`${isGood ? 'accepts' : 'refuses'} ${name}`, () => {
      assert.equal(validate(file), isGood, JSON.stringify(validate.errors))
    })
  }
})
