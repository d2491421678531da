/** The package as it is published: packed, installed elsewhere, run from there. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { root } from '../support/gpucol-process.ts'

describe('the published package', function () {
  this.timeout(180_000)
  const folder = mkdtempSync(join(tmpdir(), 'gpucol-'))
  after(() => rmSync(folder, { recursive: true }))

  function npm(args: readonly string[], cwd: string): string {
    const { status, stdout, stderr } = spawnSync('npm', args, { cwd, encoding: 'utf8' })
    assert.equal(status, 0, `npm ${args.join(' ')}:\n${stdout}${stderr}`)
    return stdout
  }

  it('validates a config where it was installed', () => {
    // Packing builds, too, but then npm writes what the build says into its JSON.
    npm(['run', 'build'], root)
    const packed = JSON.parse(npm(['pack', '--json', '--ignore-scripts', '--pack-destination', folder], root)) as
      | { filename: string; files: { path: string }[] }[]
      | Record<string, { filename: string; files: { path: string }[] }>
    const [{ filename, files }] = Object.values(packed) as [{ filename: string; files: { path: string }[] }]
    const paths = files.map(({ path }) => path)
    assert.ok(paths.includes('dist/pipeline/main.js') && paths.includes('configs/schema.json'))
    assert.deepEqual(
      paths.filter(path => /^(test|dist\/test|node_modules)\//.test(path) || /(?<!\.d)\.ts$/.test(path)),
      [],
    )

    writeFileSync(join(folder, 'package.json'), '{ "private": true }')
    npm(['install', '--prefer-offline', '--no-audit', '--no-fund', join(folder, filename)], folder)
    writeFileSync(
      join(folder, 'gpucol.yaml'),
      `receivers: { dcgm: { static_targets: ['http://10.0.0.1:9400/metrics'] } }
exporters: { prometheus: {} }
service: { pipelines: { metrics: { receivers: [dcgm], exporters: [prometheus] } } }
`,
    )
    const gpucol = (...args: string[]) =>
      spawnSync(process.execPath, [join(folder, 'node_modules/gpucol/dist/pipeline/main.js'), ...args], {
        cwd: folder,
        encoding: 'utf8',
      })
    const good = gpucol('validate', '--config', 'gpucol.yaml')
    assert.deepEqual([good.status, good.stderr], [0, ''])
    const bad = gpucol('validate', '--config', 'gpucol.yaml', '--set', 'exporters.prometheus.endpont=x')
    assert.equal(bad.status, 2)
    assert.match(bad.stderr, /unknown key/)
  })
})
