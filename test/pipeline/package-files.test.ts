import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { packageFile } from '../../pipeline/package-files.ts'

describe('packageFile', () => {
  it('finds files of the package from wherever the program was started', () => {
    const before = process.cwd()
    process.chdir('/')
    try {
      assert.ok(existsSync(packageFile('package.json')))
      assert.ok(existsSync(packageFile('pipeline', 'package-files.ts')))
    } finally {
      process.chdir(before)
    }
  })
})
