import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { generatedFiles } from '../pipeline/commands/generated-files.ts'
import { registries } from './support/all-components.ts'

const files = await generatedFiles(registries)

describe('generated files', () => {
  for (const [name, content] of files) {
    it(`configs/${name} is what npm run generate writes`, () => {
      const path = join(import.meta.dirname, '../configs', name)
      assert.equal(readFileSync(path, 'utf8'), content, `configs/${name} is out of date: npm run generate`)
    })
  }
})
