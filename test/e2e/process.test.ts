import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePorts, root, startGpucol, startProcess } from '../support/gpucol-process.ts'
import { ask } from '../support/ask.ts'

describe('the process of gpucol', () => {
  let folder: string
  let config: string
  let port: number
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'gpucol-process-'))
    config = join(folder, 'config.yaml')
    ;[port] = (await freePorts(1)) as [number]
    const content = {
      receivers: { prometheus: { config: { scrape_configs: [] } } },
      exporters: { debug: {} },
      extensions: { health_check: { endpoint: `127.0.0.1:${port}` } },
      service: {
        extensions: ['health_check'],
        pipelines: { metrics: { receivers: ['prometheus'], exporters: ['debug'] } },
        telemetry: { metrics: { address: 'none' } },
      },
    }
    writeFileSync(config, JSON.stringify(content))
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  it('goes on when nobody reads its log any more, and ends when it is told to', async () => {
    const program = startGpucol(['run', '--config', config])
    await program.until(/is running/)
    program.child.stdout!.destroy()
    program.child.stderr!.destroy()
    // Each of them has something to say.
    for (let i = 0; i < 3; i++) program.child.kill('SIGHUP')
    assert.equal((await ask(`127.0.0.1:${port}`, 'GET /healthz')).status, 200)
    program.child.kill('SIGTERM')
    assert.equal(await program.ended, 0)
  })

  it('writes what fits where nobody reads to the end', async () => {
    const program = startProcess('sh', ['-c', `"${process.execPath}" pipeline/main.ts schema | head -1`])
    assert.equal(await program.ended, 0)
    assert.equal(program.output(), '{\n')
  })

  it('keeps its number and its arguments when it begins again with other settings of malloc', async function () {
    if (process.platform !== 'linux') this.skip()
    const { MALLOC_ARENA_MAX: _, MALLOC_MMAP_THRESHOLD_: __, ...env } = process.env
    const program = startGpucol(['run', '--config', config], { env, cwd: root })
    await program.until(/is running/)
    const environment = readFileSync(`/proc/${program.child.pid}/environ`, 'latin1').split('\0')
    assert.ok(environment.includes('MALLOC_ARENA_MAX=1'))
    assert.ok(environment.includes('MALLOC_MMAP_THRESHOLD_=65536'))
    assert.ok(readFileSync(`/proc/${program.child.pid}/cmdline`, 'latin1').split('\0').includes(config))
    program.child.kill('SIGINT')
    assert.equal(await program.ended, 0)
  })

  it('leaves settings of malloc as they were set', async function () {
    if (process.platform !== 'linux') this.skip()
    const program = startGpucol(['run', '--config', config], { env: { ...process.env, MALLOC_ARENA_MAX: '3' } })
    await program.until(/is running/)
    const environment = readFileSync(`/proc/${program.child.pid}/environ`, 'latin1').split('\0')
    assert.ok(environment.includes('MALLOC_ARENA_MAX=3'))
    assert.ok(environment.includes('MALLOC_MMAP_THRESHOLD_=65536'))
    program.child.kill('SIGTERM')
    assert.equal(await program.ended, 0)
  })
})
