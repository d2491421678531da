/** The golden scenarios are gpucol test files, and run by the code that runs those of users. */
import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { join, relative } from 'node:path'
import { exporters } from '../exporters/registry.ts'
import { createSystemClock } from '../pipeline/clock/system-clock.ts'
import { formatProblems } from '../pipeline/config/config-error.ts'
import { textReport } from '../pipeline/config-tests/report-text.ts'
import { isOk } from '../pipeline/config-tests/report.ts'
import { loadSuites, runSuites } from '../pipeline/config-tests/run-suites.ts'
import { extensions } from '../pipeline/extensions.ts'
import { processors } from '../processors/registry.ts'
import { receivers } from '../receivers/registry.ts'

const files = globSync('golden/*/test.yaml', { cwd: import.meta.dirname })
  .sort()
  .map(file => relative('.', join(import.meta.dirname, file)))
const { tests, problems } = await loadSuites(files, {
  registries: { receivers, processors, exporters, extensions },
  env: {},
})

describe('golden scenarios', () => {
  it('have nothing wrong with them, and none is without tests', () => {
    assert.equal(formatProblems(problems), '')
    assert.ok(files.length >= 5)
    for (const file of files)
      assert.ok(
        tests.some(({ suite }) => suite.file === file),
        file,
      )
  })

  for (const loaded of tests) {
    const { suite, test } = loaded
    it(`${suite.file.split('/').at(-2)}: ${test.name}`, async () => {
      const { tests: reports } = await runSuites([loaded], { version: 'test', clock: createSystemClock() })
      const [report] = reports
      assert.ok(isOk(report!), `\n${textReport(report!, true)}`)
      assert.equal(formatProblems(report!.warnings), '')
    })
  }
})
