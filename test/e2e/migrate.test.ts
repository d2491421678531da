/** `gpucol migrate` as users start it, between pipes. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { root } from '../support/gpucol-process.ts'

describe('gpucol migrate between pipes', () => {
  it('hands on everything, however large', () => {
    const panel = '{ "targets": [{ "expr": "runai_job_requested_gpus" }] }'
    const input = `{ "panels": [\n${Array(5000).fill(panel).join(',\n')}\n] }\n`
    const command = `"$0" "$1" migrate --from 2.16 --to 2.17 | cat`
    const args = ['-c', command, process.execPath, join(root, 'pipeline/main.ts')]
    const { stdout } = spawnSync('sh', args, { input, encoding: 'utf8', maxBuffer: 10_000_000 })
    assert.ok(stdout === input.replaceAll('runai_job_requested_gpus', 'runai_requested_gpus_per_workload'))
  })
})
