/** What configs/testing.md shows is what happens. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { suiteFolder, type SuiteFolder } from './suite-folder.ts'

const page = readFileSync(join(import.meta.dirname, '../../../configs/testing.md'), 'utf8')

/** Files are called by the last name in backticks before them. */
function filesOf(text: string): Record<string, string> {
  const files: Record<string, string> = {}
  for (const { index, 1: content } of text.matchAll(/^```yaml\n(.*?)^```$/gms)) {
    const name = [...text.slice(0, index).matchAll(/`([\w-]+\.yaml)`/g)].at(-1)![1]!
    files[name] = content!
  }
  return files
}

describe('the page about testing', () => {
  let folder: SuiteFolder
  before(() => {
    folder = suiteFolder(filesOf(page))
  })
  after(() => folder.remove())

  const calls = [...page.matchAll(/^```console\n\$ gpucol test (.*?)\n(.*?)^```$/gms)]
  it('shows some calls', () => assert.ok(calls.length >= 5))
  for (const [, args, output] of calls) {
    it(`shows what \`gpucol test ${args}\` prints`, async () => {
      const { out, err } = await folder.run(args!)
      assert.equal(err + out, output)
    })
  }
})
