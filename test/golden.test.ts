/** The golden scenarios are gpucol test files. */
import { globSync } from 'node:fs'
import { join, relative } from 'node:path'
import { describeSuites } from './support/describe-suites.ts'

const files = globSync('golden/*/test.yaml', { cwd: import.meta.dirname })
  .sort()
  .map(file => relative('.', join(import.meta.dirname, file)))

await describeSuites('golden scenarios', files, 5)
