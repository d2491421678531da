/** What `otlp_http` pushes, as a real Prometheus 3 and a real OpenTelemetry Collector understand it. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stringify } from 'yaml'
import {
  eventually,
  freePorts,
  get,
  startGpucol,
  startProcess,
  type GpucolProcess,
} from '../../support/gpucol-process.ts'
import { buildServers, type Programs } from './build-servers.ts'

const METRICS = `# HELP util Share of time.
# TYPE util gauge
util{gpu="0",UUID="GPU-1",pod="train-0",namespace="team"} 29
util{gpu="1",UUID="GPU-2",pod="train-1",namespace="team"} 97.5
# TYPE energy_joules_total counter
energy_joules_total{UUID="GPU-1"} 1234567.25
# TYPE odd gauge
odd{kind="nan"} NaN
odd{kind="inf"} +Inf
# TYPE latency_seconds histogram
latency_seconds_bucket{le="0.1"} 3
latency_seconds_bucket{le="2.5"} 3
latency_seconds_bucket{le="+Inf"} 4
latency_seconds_sum 0.5
latency_seconds_count 4
# TYPE wait_seconds summary
wait_seconds{quantile="0.5"} 0.25
wait_seconds{quantile="0.99"} 1.5
wait_seconds_sum 12
wait_seconds_count 30
`
const ENDED = 'util{gpu="1"'

describe('otlp_http and real receivers', function () {
  this.timeout(1_800_000)
  const running: GpucolProcess[] = []
  let programs: Programs<'prometheus' | 'otelcol'>
  let folder: string
  let server: Server
  let address: string
  let text = METRICS

  before(async function () {
    const built = await buildServers(['prometheus', 'otelcol'], line => process.stdout.write(`  ${line}\n`))
    if (built === undefined) return this.skip()
    programs = built
    folder = mkdtempSync(join(tmpdir(), 'gpucol-'))
    server = createServer((_, response) => {
      response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4' }).end(text)
    })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    address = `127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  beforeEach(() => void (text = METRICS))
  afterEach(async () => {
    const stopped = running.splice(0)
    for (const { child } of stopped) child.kill('SIGKILL')
    await Promise.all(stopped.map(({ ended }) => ended))
  })
  after(() => {
    server?.closeAllConnections()
    server?.close()
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true })
  })

  function startPushing(exporter: object): GpucolProcess {
    const config = {
      receivers: {
        prometheus: {
          config: {
            global: { scrape_interval: '1s', scrape_timeout: '1s' },
            scrape_configs: [{ job_name: 'gpus', static_configs: [{ targets: [address] }] }],
          },
        },
      },
      exporters: { otlp_http: exporter },
      service: {
        pipelines: { metrics: { receivers: ['prometheus'], exporters: ['otlp_http'] } },
        telemetry: { metrics: { address: 'none' } },
      },
    }
    writeFileSync(join(folder, 'gpucol.yaml'), stringify(config))
    const gpucol = startGpucol(['run', '--config', join(folder, 'gpucol.yaml')])
    running.push(gpucol)
    return gpucol
  }

  async function startPrometheus(port: number, data: string): Promise<GpucolProcess> {
    writeFileSync(join(folder, 'prometheus.yaml'), stringify({ otlp: { translation_strategy: 'NoTranslation' } }))
    const prometheus = startProcess(programs.prometheus, [
      `--config.file=${join(folder, 'prometheus.yaml')}`,
      `--storage.tsdb.path=${join(folder, data)}`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--web.enable-otlp-receiver',
    ])
    running.push(prometheus)
    await prometheus.until(/Server is ready/)
    return prometheus
  }

  for (const encoding of ['proto', 'json']) {
    it(`a Prometheus has every series as it would have scraped it, and sees it end (${encoding})`, async () => {
      const [port] = (await freePorts(1)) as [number]
      const base = `http://127.0.0.1:${port}`
      await startPrometheus(port, `data-${encoding}`)
      const gpucol = startPushing({ vendor: 'prometheus', vendor_parameters: { base_url: base }, encoding })
      const expected = linesOf(METRICS)
      const isWhole = (lines: readonly string[]) => lines.length >= expected.length
      assert.deepEqual(await eventually(() => seriesIn(base), isWhole), expected)
      text = METRICS.split('\n')
        .filter(line => !line.startsWith(ENDED))
        .join('\n')
      const fewer = linesOf(text)
      assert.deepEqual(
        await eventually(
          () => seriesIn(base),
          lines => lines.length === fewer.length,
        ),
        fewer,
      )
      assert.doesNotMatch(gpucol.output(), /lost|reject|failing/i)
    })
  }

  it('a Prometheus that takes nothing late has every sample of the time when it was away', async () => {
    const [port] = (await freePorts(1)) as [number]
    const base = `http://127.0.0.1:${port}`
    const before = await startPrometheus(port, 'data-outage')
    const retries = { initial_interval: '500ms', max_interval: '1s' }
    const vendor = { vendor: 'prometheus', vendor_parameters: { base_url: base } }
    const gpucol = startPushing({ ...vendor, retry_on_failure: retries })
    await eventually(
      () => timesIn(base),
      ({ length }) => length >= 3,
    )
    before.child.kill('SIGKILL')
    await before.ended
    await new Promise(resolve => setTimeout(resolve, 20_000))
    await startPrometheus(port, 'data-outage')
    const times = await eventually(
      () => timesIn(base),
      ({ length }) => length >= 30,
    )
    const gaps = times.slice(1).map((time, i) => time - times[i]!)
    assert.ok(Math.max(...gaps) < 2.5, `gaps of ${gaps.join(', ')} seconds`)
    assert.doesNotMatch(gpucol.output(), /lost|reject/i)
  })

  /** When there is a sample of one series, in seconds. */
  async function timesIn(base: string): Promise<number[]> {
    const query = encodeURIComponent('util{gpu="0"}[5m]')
    const { data } = JSON.parse(await get(`${base}/api/v1/query?query=${query}`)) as {
      data: { result: { values: [number, string][] }[] }
    }
    return data.result[0]?.values.map(([time]) => time) ?? []
  }

  it('a Collector has every series, with all that its resource says, and sees it end', async () => {
    const [otlp, metrics] = (await freePorts(2)) as [number, number]
    const config = {
      receivers: { otlp: { protocols: { http: { endpoint: `127.0.0.1:${otlp}` } } } },
      exporters: {
        prometheus: {
          endpoint: `127.0.0.1:${metrics}`,
          resource_to_telemetry_conversion: { enabled: true },
          add_metric_suffixes: false,
        },
      },
      service: {
        pipelines: { metrics: { receivers: ['otlp'], exporters: ['prometheus'] } },
        telemetry: { metrics: { level: 'none' } },
      },
    }
    writeFileSync(join(folder, 'otelcol.yaml'), stringify(config))
    const collector = startProcess(programs.otelcol, ['--config', join(folder, 'otelcol.yaml')])
    running.push(collector)
    await collector.until(/Everything is ready/)
    const gpucol = startPushing({ endpoint: `http://127.0.0.1:${otlp}`, compression: 'zstd' })
    const shown = () => get(`http://127.0.0.1:${metrics}/metrics`)
    const page = await eventually(shown, answer => answer.includes('util{') && answer.includes('wait_seconds_sum'))
    for (const wanted of [
      /^util\{.*hw_gpu_index="1".*hw_id="GPU-2".*k8s_namespace_name="team".*k8s_pod_name="train-1".*\} 97\.5$/m,
      /^energy_joules_total\{.*hw_id="GPU-1".*\} 1\.23456725e\+06$/m,
      /^odd\{.*kind="nan".*\} NaN$/m,
      /^latency_seconds_bucket\{.*le="2\.5".*\} 3$/m,
      /^latency_seconds_bucket\{.*le="\+Inf".*\} 4$/m,
      /^wait_seconds\{.*quantile="0\.99".*\} 1\.5$/m,
      /^wait_seconds_count\{.*\} 30$/m,
      /^util\{.*service_name="gpus".*\}/m,
    ]) {
      assert.match(page, wanted)
    }
    text = METRICS.split('\n')
      .filter(line => !line.startsWith(ENDED))
      .join('\n')
    await eventually(shown, answer => answer.includes('GPU-1') && !answer.includes('GPU-2'))
    assert.doesNotMatch(gpucol.output(), /lost|reject|failing/i)
  })

  /** What is live now, but for what every scrape has. */
  async function seriesIn(base: string): Promise<string[]> {
    const query = encodeURIComponent('{job="gpus",__name__!~"up|scrape_.*"}')
    const { data } = JSON.parse(await get(`${base}/api/v1/query?query=${query}`)) as {
      data: { result: { metric: Record<string, string>; value: [number, string] }[] }
    }
    return data.result.map(({ metric, value }) => seriesText(metric, numberOf(value[1]))).sort()
  }

  function linesOf(exposition: string): string[] {
    const lines = exposition.split('\n').filter(line => line !== '' && !line.startsWith('#'))
    return lines
      .map(line => {
        const [, name = '', block = '', value = ''] = /^([^{ ]+)(?:\{(.*)\})? (.*)$/.exec(line) ?? []
        const pairs = Array.from(block.matchAll(/(\w+)="([^"]*)"/g), ([, key, one]) => [key!, one!] as const)
        const labels = { __name__: name, job: 'gpus', instance: address, ...Object.fromEntries(pairs) }
        return seriesText(labels, numberOf(value))
      })
      .sort()
  }

  function numberOf(text: string): number {
    return Number(text.replace('Inf', 'Infinity'))
  }

  function seriesText(labels: Record<string, string>, value: number): string {
    const pairs = Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1))
    return `${pairs.map(([key, one]) => `${key}=${one}`).join(' ')} = ${Number.isNaN(value) ? 'NaN' : value}`
  }
})
