/** Mocha tests of `gpucol test` files, run by the code that runs those of users. */
import assert from 'node:assert/strict'
import { basename, dirname } from 'node:path'
import { createSystemClock } from '../../pipeline/clock/system-clock.ts'
import { formatProblems } from '../../pipeline/config/config-error.ts'
import { textReport } from '../../pipeline/config-tests/report-text.ts'
import { isOk } from '../../pipeline/config-tests/report.ts'
import { loadSuites, runSuites } from '../../pipeline/config-tests/run-suites.ts'
import { registries } from './all-components.ts'

/** Suites are loaded before mocha asks for tests: call it at the top of a file, and await it. */
export async function describeSuites(name: string, files: readonly string[], least: number): Promise<void> {
  const { tests, problems } = await loadSuites(files, { registries, env: {} })

  describe(name, () => {
    it('have nothing wrong with them, and none is without tests', () => {
      assert.equal(formatProblems(problems), '')
      assert.ok(files.length >= least)
      for (const file of files) {
        assert.ok(
          tests.some(({ suite }) => suite.file === file),
          file,
        )
      }
    })

    for (const loaded of tests) {
      const { suite, test } = loaded
      it(`${nameOf(suite.file)}: ${test.name}`, async () => {
        const { tests: reports } = await runSuites([loaded], { version: 'test', clock: createSystemClock() })
        const [report] = reports
        assert.ok(isOk(report!), `\n${textReport(report!, true)}`)
        assert.equal(formatProblems(report!.warnings), '')
      })
    }
  })
}

/** A file that is called like all others is told by its folder. */
function nameOf(file: string): string {
  const name = basename(file, '.yaml')
  return name === 'test' ? basename(dirname(file)) : name
}
