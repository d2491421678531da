/** The timeline of a made-up cluster with names of 2.16 beside those of 2.17: every roll-up is there twice, and says the same. */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { loadSuites } from '../../pipeline/config-tests/run-suites.ts'
import { runTest } from '../../pipeline/config-tests/run-test.ts'
import { renderText } from '../../pipeline/formats/render-text.ts'
import { sharedPath } from '../support/shared.ts'
import { registries } from '../support/all-components.ts'

const suite = sharedPath('conformance', 'oracle', 'api', 'test.yaml')

const RENAME = `set:
  processors.rename: { from: runai-2.17, to: runai-2.16, keep_original: true }
  service.pipelines.metrics.processors: [normalize, join_workload, roll_up, rename]
`

/** What each metric is called in 2.16, and what its values are multiplied by there. */
const OLDER: readonly (readonly [newer: string, older: string, factor: number])[] = [
  ['runai_requested_gpus_per_workload', 'runai_job_requested_gpus', 1],
  ['runai_gpu_idle_seconds_per_workload', 'runai_gpu_idle_time_per_workload', 1],
  ['runai_run_time_seconds_per_workload', 'runai_job_total_runtime', 1],
  ['runai_gpu_utilization_per_workload', 'runai_gpu_utilization_per_workload', 1],
  ['runai_gpu_memory_used_mebibytes_per_workload', 'runai_gpu_memory_used_mebibytes_per_workload', 1],
  ['runai_allocated_gpu_count_per_workload', 'runai_allocated_gpu_count_per_workload', 1],
  ['runai_gpu_memory_used_mebibytes_per_node', 'runai_node_gpu_used_memory_bytes', 1048576],
  ['runai_gpu_memory_total_mebibytes_per_node', 'runai_node_total_memory_bytes', 1048576],
]

if (suite !== undefined) {
  describe('a timeline with names of Run:ai 2.16', () => {
    const folder = mkdtempSync(join(tmpdir(), 'gpucol-'))
    after(() => rmSync(folder, { recursive: true }))

    it('has every roll-up twice, and what is expected of 2.17 as it was', async () => {
      const here = dirname(suite)
      const text = readFileSync(suite, 'utf8')
        .replaceAll(/(file: )(\S+)/g, (_, key: string, file: string) => key + join(here, file))
        .replace('config: config.yaml', `config: ${join(here, 'config.yaml')}`)
      // What is expected has the labels of 2.17 only, where a name is in both.
      const steps = `${RENAME}${text}`.replaceAll(/\n {4}expect:\n(?: {4}[- ] .*\n)+/g, '\n')
      const path = join(folder, 'test.yaml')
      writeFileSync(path, steps)
      const { tests, problems } = await loadSuites([path], { registries, env: {} })
      assert.deepEqual(
        problems.filter(({ severity }) => severity === 'error'),
        [],
      )
      const pages: string[] = []
      await runTest(tests[0]!.test, tests[0]!.subject!, {
        version: '',
        onStep: (_, { batches }) =>
          void pages.push(Array.from(batches.values(), latest => renderText(latest.values())).join('')),
      })
      assert.equal(pages.length, 21)
      pages.forEach((page, i) =>
        checkStep(page, readFileSync(join(here, 'expected', `${String(i).padStart(2, '0')}.prom`), 'utf8')),
      )
    })
  })
}

function checkStep(page: string, expected: string): void {
  const lines = page.split('\n').filter(line => line !== '' && !line.startsWith('#'))
  const series = new Set(lines.map(line => line.slice(0, line.lastIndexOf(' '))))
  for (const line of expected.split('\n')) {
    const at = sorted(line.slice(0, line.lastIndexOf(' ')))
    if (line !== '' && !line.startsWith('#')) assert.ok(series.has(at), `${at} is not there`)
  }
  for (const [newer, older, factor] of OLDER) {
    const isOld = (line: string): boolean => !line.includes('workload_id=')
    const isNew = (line: string): boolean => newer.endsWith('_per_node') || line.includes('workload_id=')
    const values = valuesOf(lines, newer, isNew).map(value => value * factor)
    assert.deepEqual(valuesOf(lines, older, isOld), values, older)
  }
}

function valuesOf(lines: readonly string[], metric: string, isMeant: (line: string) => boolean): number[] {
  return lines
    .filter(line => line.startsWith(`${metric}{`) && isMeant(line))
    .map(line => Number(line.slice(line.lastIndexOf(' '))))
    .sort((one, other) => one - other)
}

/** The labels in the order of their names. */
function sorted(series: string): string {
  const [, name, inner = ''] = /^(\w+)\{(.*)\}$/.exec(series) ?? [undefined, series]
  return `${name}{${[...inner.matchAll(/\w+="(?:[^"\\]|\\.)*"/g)]
    .map(([pair]) => pair)
    .sort()
    .join(',')}}`
}
