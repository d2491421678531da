import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadWorkloadsCatalog, workloadsCatalogProblems, createCatalogs } from '../../../pipeline/catalog/catalogs.ts'
import { packageFile } from '../../../pipeline/package-files.ts'

describe('catalogs of workloads', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gpucol-'))
  after(() => rmSync(folder, { recursive: true }))

  it('has one that is right, and in which no kind has two types', () => {
    const catalog = loadWorkloadsCatalog(createCatalogs(packageFile('configs', 'catalogs')), 'workloads')
    const kinds = Object.values(catalog.types).flat()
    assert.ok(kinds.length > 20)
    assert.equal(new Set(kinds).size, kinds.length)
  })

  it('fills in what a file leaves out', () => {
    const path = join(folder, 'small.yaml')
    writeFileSync(path, 'kind: workloads\nabout: Nothing.\n')
    const { max_depth, wrappers, guesses, look_up } = loadWorkloadsCatalog(createCatalogs(folder), path)
    assert.deepEqual([max_depth, wrappers, guesses, look_up.project], [16, [], [], []])
  })

  // A line more in a good catalog, and what must be said about it.
  for (const [line, message] of [
    ['wrappers: [pod]', /:3:12: .*must match/],
    ['look_up: { project: [namespace] }', /:3:22: .*must match/],
    ['look_up: { team: [] }', /:3:12: unknown key `team`/],
    ['max_depth: 0', /:3:12:/],
    ['guesses: [{ from: [Job], to: CronJob }]', /:3:11: a guess has either `label` or `pattern`/],
    ['guesses: [{ from: [Job], to: CronJob, label: a, pattern: (b) }]', /:3:11: a guess has either/],
    ["guesses: [{ from: [Job], to: CronJob, pattern: 'a(' }]", /:3:48: no regular expression/],
    ['guesses: [{ from: [Job], to: CronJob, pattern: abc }]', /:3:48: the pattern needs a group/],
  ] as const) {
    it(`say what is wrong with ${line}`, () => {
      const path = join(folder, 'bad.yaml')
      writeFileSync(path, `kind: workloads\nabout: A test.\n${line}\n`)
      const problems = workloadsCatalogProblems(path)
      assert.equal(problems.length, 1, problems.join('\n'))
      assert.match(problems[0]!, message)
    })
  }
})
