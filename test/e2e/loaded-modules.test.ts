/** What a config does not need is not loaded: it would take memory as long as the process runs. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { stringify } from 'yaml'
import { root, startProcess } from '../support/gpucol-process.ts'

describe('a process', function () {
  this.timeout(60_000)
  const folder = mkdtempSync(join(tmpdir(), 'gpucol-'))
  let server: Server
  let address = ''
  let pushed: () => void = () => {}

  before(async () => {
    // A target, and who takes what comes out of it.
    server = createServer((request, response) => {
      if (request.method === 'POST') request.resume().on('end', () => pushed())
      response.setHeader('content-type', 'text/plain; version=0.0.4')
      response.end(request.method === 'GET' ? 'DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-1"} 29\n' : undefined)
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    address = `127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  after(() => {
    server.close().closeAllConnections()
    rmSync(folder, { recursive: true })
  })

  /** What it has loaded when it has scraped and pushed once: packages, files of ours, and Node's own modules. */
  async function loadedBy(ownMetrics: string): Promise<string[]> {
    const file = join(folder, 'gpucol.yaml')
    const pipeline = { receivers: ['dcgm'], exporters: ['prometheus', 'otlp_http'] }
    const config = {
      receivers: { dcgm: { static_targets: [address], scrape_interval: '1s', scrape_timeout: '1s' } },
      exporters: {
        prometheus: { endpoint: '127.0.0.1:0' },
        otlp_http: { endpoint: `http://${address}`, compression: 'none' },
      },
      service: { pipelines: { metrics: pipeline }, telemetry: { metrics: { address: ownMetrics } } },
    }
    writeFileSync(file, stringify(config))
    const list = join(folder, 'modules.txt')
    const hook = join(root, 'test/support/list-modules.ts')
    const hasPushed = new Promise<void>(resolve => (pushed = resolve))
    const { child, ended, output } = startProcess(
      process.execPath,
      ['--import', hook, join(root, 'pipeline/main.ts'), 'run', '--config', file],
      { env: { ...process.env, LOADED_MODULES: list } },
    )
    const code = await Promise.race([hasPushed, ended])
    assert.equal(code, undefined, output())
    child.kill('SIGTERM')
    await ended
    return readFileSync(list, 'utf8').split('\n').map(nameOf)
  }

  it('loads the components, libraries and parts of Node that its config needs, and no others', async () => {
    const loaded = await loadedBy('none')
    const places = /^(receivers|processors|exporters)\/[^/]+\.ts$/
    assert.deepEqual(loaded.filter(name => places.test(name)).sort(), [
      'exporters/otlp-http.ts',
      'exporters/prometheus.ts',
      'exporters/registry.ts',
      'processors/registry.ts',
      'receivers/dcgm.ts',
      'receivers/registry.ts',
    ])
    const packages = new Set(loaded.flatMap(name => /^package (.*)$/.exec(name)?.[1] ?? []))
    for (const needed of ['ajv', 'yaml']) assert.ok(packages.delete(needed), needed)
    // What ajv brings along, and regular expressions.
    for (const name of packages) assert.match(name, /^(fast-|json-schema-traverse|re2js)/)
    const unwanted = /^pipeline\/simulator\/|^built in (https|tls|http2|crypto|sqlite|.*undici.*)$/
    assert.deepEqual(
      loaded.filter(name => unwanted.test(name)),
      [],
    )
  })

  it('loads the SDK of OpenTelemetry where own metrics are served', async () => {
    assert.ok((await loadedBy('127.0.0.1:0')).includes('package @opentelemetry/sdk-metrics'))
  })
})

function nameOf(module: string): string {
  const packageName = /\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(module)?.[1]
  if (packageName !== undefined) return `package ${packageName}`
  return module.startsWith('file:') ? relative(root, fileURLToPath(module)) : module
}
