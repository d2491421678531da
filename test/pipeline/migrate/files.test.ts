/**
 * Whole files as people have them, each in a folder of its own: before, after, and what is reported, from 2.16 to 2.17. Dashboards are
 * made so that every place of Grafana's that names metrics or labels is there, and texts of other languages beside them.
 */
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { migrate } from '../../../pipeline/commands/migrate.ts'
import { resultOf } from '../../support/run-command.ts'

const folder = join(import.meta.dirname, 'files')

describe('migrating whole files', () => {
  for (const before of globSync('*/before.*', { cwd: folder }).toSorted()) {
    const [name, path] = [dirname(before), join(folder, before)]

    it(`rewrites and reports what it should in ${name}`, async () => {
      const { code, out, err } = await resultOf(migrate, ['--from', '2.16', '--to', '2.17', path])
      assert.equal(code, 0)
      assert.equal(out, readFileSync(path.replace('before.', 'after.'), 'utf8'))
      const report = err.replaceAll(path, basename(path))
      assert.equal(report, readFileSync(join(folder, name, 'report.txt'), 'utf8'))
    })

    it(`gives ${name} as it was on the way back`, async () => {
      const { out } = await resultOf(migrate, ['--from', '2.17', '--to', '2.16', path.replace('before.', 'after.')])
      // An escape that nothing needs is the one thing that does not come back.
      assert.equal(out, readFileSync(path, 'utf8').replace('\\u005f', '_'))
    })
  }
})
