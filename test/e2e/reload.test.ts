/** Reload of a running process, by signal and by HTTP. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eventually, freePorts, get, startGpucol, type GpucolProcess } from '../support/gpucol-process.ts'

describe('a running gpucol', function () {
  this.timeout(60_000)
  const folder = mkdtempSync(join(tmpdir(), 'gpucol-'))
  const file = join(folder, 'gpucol.yaml')
  let gpucol: GpucolProcess
  let target: Server
  let scrapes = 0
  const connections = new Set<Socket>()
  let ports: number[]

  function config(parts: { debug?: boolean; interval?: string } = {}): string {
    const [metrics, own, web] = ports
    return `
receivers:
  dcgm:
    scrape_interval: ${parts.interval ?? '500ms'}
    scrape_timeout: 200ms
    static_targets: [http://127.0.0.1:${(target.address() as AddressInfo).port}/metrics]
exporters:
  prometheus: { endpoint: 127.0.0.1:${metrics} }
  ${parts.debug ? 'debug: { verbosity: basic }' : ''}
extensions:
  web: { endpoint: 127.0.0.1:${web} }
service:
  extensions: [web]
  telemetry: { metrics: { address: 127.0.0.1:${own} } }
  pipelines: { metrics: { receivers: [dcgm], exporters: [prometheus${parts.debug ? ', debug' : ''}] } }
`
  }

  const own = async (): Promise<string> => get(`http://127.0.0.1:${ports[1]}/metrics`)

  async function moreScrapes(): Promise<void> {
    const before = scrapes
    await eventually(
      () => Promise.resolve(scrapes),
      now => now >= before + 3,
    )
  }

  beforeEach(async () => {
    ports = await freePorts(3)
    scrapes = 0
    connections.clear()
    target = createServer((_request, response) => {
      scrapes++
      response.setHeader('content-type', 'text/plain; version=0.0.4')
      response.end(`DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-1"} ${scrapes % 100}\n`)
    })
    target.on('connection', (socket: Socket) => connections.add(socket))
    await new Promise<void>(resolve => target.listen(0, '127.0.0.1', resolve))
    writeFileSync(file, config())
    gpucol = startGpucol(['run', '--config', file])
    await gpucol.until(/is running/)
    await moreScrapes()
  })

  afterEach(async () => {
    gpucol.child.kill('SIGKILL')
    await gpucol.ended
    target.closeAllConnections()
    await new Promise(resolve => target.close(resolve))
  })
  after(() => rmSync(folder, { recursive: true }))

  it('goes on scraping when the new config is broken, and says what is wrong with it', async () => {
    writeFileSync(file, config().replace('receivers:', 'recievers:'))
    gpucol.child.kill('SIGHUP')
    await gpucol.until(/the one before goes on: .*gpucol\.yaml:\d+:\d+: .*recievers/)
    await moreScrapes()
    const metrics = await own()
    assert.match(metrics, /^gpucol_config_last_reload_successful 0$/m)
    assert.match(metrics, /^gpucol_config_reloads_total\{outcome="failed"\} 1$/m)
    assert.doesNotMatch(metrics, /^gpucol_receiver_scrapes_total\{.*outcome="(failed|skipped)"\} [1-9]/m)
    assert.equal(connections.size, 1, 'the receiver asked anew')
  })

  it('keeps the components that did not change when the new config is good', async () => {
    writeFileSync(file, config({ debug: true }))
    const answer = await fetch(`http://127.0.0.1:${ports[2]}/-/reload`, { method: 'POST' })
    assert.equal(answer.status, 200)
    assert.match(await answer.text(), /\+ exporter debug/)
    await gpucol.until(/exporter debug/)
    await moreScrapes()
    assert.equal(connections.size, 1, 'the receiver asked anew')
    assert.match(await get(`http://127.0.0.1:${ports[0]}/metrics`), /^DCGM_FI_DEV_GPU_UTIL/m)
    assert.match(await own(), /^gpucol_config_last_reload_successful 1$/m)
  })

  it('answers a broken config at /-/reload with what is wrong', async () => {
    writeFileSync(file, `${config()}nonsense: 1\n`)
    const answer = await fetch(`http://127.0.0.1:${ports[2]}/-/reload`, { method: 'POST' })
    assert.equal(answer.status, 400)
    assert.match(await answer.text(), /gpucol\.yaml:\d+:1: .*nonsense/)
    await moreScrapes()
  })

  it('exchanges a receiver whose config changed', async () => {
    writeFileSync(file, config({ interval: '300ms' }))
    gpucol.child.kill('SIGHUP')
    await gpucol.until(/the config was reloaded .*~ receiver dcgm/)
    await moreScrapes()
    assert.equal((await get(`http://127.0.0.1:${ports[0]}/metrics`)).match(/^DCGM_FI_DEV_GPU_UTIL/gm)!.length, 1)
  })

  it('has an exit code of 1 and a clear line where its port is taken', async () => {
    const second = startGpucol(['run', '--config', file, '--set', 'service.telemetry.metrics.address=none'])
    assert.equal(await second.ended, 1)
    assert.match(second.output(), /cannot start: (extension web|exporter prometheus): 127\.0\.0\.1:\d+ is in use/)
  })
})
