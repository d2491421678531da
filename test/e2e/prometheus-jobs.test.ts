/** The same jobs in a real Prometheus and in gpucol: the same targets, labels and samples. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { eventually, freePorts, get, startGpucol, startProcess, type GpucolProcess } from '../support/gpucol-process.ts'
import { programOrSkip } from '../support/programs.ts'

type Labels = Record<string, string>

const METRICS = `# TYPE go_threads gauge
go_threads 8
# TYPE requests_total counter
requests_total{code="200",job="own",instance="own"} 5
requests_total{code="500",exported_job="x",job="own"} 1
requests_total{code="",method="GET"} 2
# TYPE latency_seconds histogram
latency_seconds_bucket{le="0.1"} 3
latency_seconds_bucket{le="+Inf"} 4
latency_seconds_sum 0.5
latency_seconds_count 4
`

/** Jobs with one of everything that decides which targets there are and how they are labelled. */
function jobsFor(address: string, folder: string): object[] {
  const host = address.split(':')[0]!
  return [
    { job_name: 'plain', static_configs: [{ targets: [address], labels: { rack: 'r1', empty: '' } }] },
    {
      job_name: 'honoured',
      honor_labels: true,
      metrics_path: 'no-slash',
      params: { module: ['a', 'b c'], other: ['x&y'] },
      static_configs: [{ targets: [address, address] }],
    },
    {
      job_name: 'relabelled',
      static_configs: [{ targets: [address, 'dropped:1', 'other:1'], labels: { team: 'GPU', __param_q: '1' } }],
      relabel_configs: [
        { source_labels: ['__address__'], regex: 'dropped:.*', action: 'drop' },
        { source_labels: ['__address__'], regex: 'other:.*', target_label: '__address__', replacement: address },
        { source_labels: ['__address__', '__param_q'], target_label: 'both', separator: '-' },
        { source_labels: ['team'], target_label: 'lower', action: 'lowercase' },
        { source_labels: ['__address__'], target_label: 'shard', modulus: 7, action: 'hashmod' },
        { regex: '__param_(.*)', replacement: 'parameter_$1', action: 'labelmap' },
        { target_label: '__scrape_interval__', replacement: '2s' },
      ],
      metric_relabel_configs: [
        { source_labels: ['__name__'], regex: 'go_.*', action: 'drop' },
        { source_labels: ['__name__'], regex: 'requests_(.*)', target_label: '__name__', replacement: 'asked_$1' },
        { regex: 'method', action: 'labeldrop' },
      ],
    },
    {
      job_name: 'intervals',
      static_configs: [{ targets: ['a:1', 'b:1', 'c:1'] }],
      relabel_configs: [
        { source_labels: ['__address__'], regex: 'a:1', target_label: '__scrape_interval__', replacement: 'often' },
        { source_labels: ['__address__'], regex: 'b:1', target_label: '__scrape_timeout__', replacement: '1h' },
        { source_labels: ['__address__'], regex: 'c:1', target_label: '__address__', replacement: '${1}' },
      ],
    },
    { job_name: 'files', file_sd_configs: [{ files: [join(folder, 'targets-*.yml'), join(folder, '*.json')] }] },
    { job_name: 'urls', http_sd_configs: [{ url: `http://${address}/targets` }] },
    {
      job_name: 'failing',
      static_configs: [{ targets: [`${host}:1`, address] }],
      sample_limit: 3,
    },
  ]
}

describe('jobs of a Prometheus config', function () {
  this.timeout(60_000)
  let folder: string
  let server: Server
  let address: string
  const running: GpucolProcess[] = []

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'gpucol-'))
    server = createServer(({ url }, response) => {
      const isList = url === '/targets'
      response.writeHead(200, { 'content-type': isList ? 'application/json' : 'text/plain; version=0.0.4' })
      response.end(isList ? JSON.stringify([{ targets: [address], labels: { from: 'url' } }]) : METRICS)
    })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    address = `127.0.0.1:${(server.address() as AddressInfo).port}`
    writeFileSync(join(folder, 'targets-a.yml'), `- targets: ['${address}']\n  labels: { rack: 7, __scheme__: http }\n`)
    writeFileSync(join(folder, 'b.json'), `[{"targets":["${address}"],"labels":{"rack":"8"}}]`)
  })
  after(async () => {
    for (const { child } of running) child.kill('SIGKILL')
    await Promise.all(running.map(({ ended }) => ended))
    server.closeAllConnections()
    server.close()
    rmSync(folder, { recursive: true })
  })

  it('are the same here and there', async function () {
    const program = programOrSkip(this, 'prometheus')
    const [prometheusPort, web, metrics] = (await freePorts(3)) as [number, number, number]
    const jobs = { global: { scrape_interval: '1s', scrape_timeout: '1s' }, scrape_configs: jobsFor(address, folder) }
    writeFileSync(join(folder, 'prometheus.yaml'), stringify(jobs))
    const config = {
      receivers: { prometheus: { config: jobs } },
      exporters: { prometheus: { endpoint: `127.0.0.1:${metrics}` } },
      extensions: { web: { endpoint: `127.0.0.1:${web}` } },
      service: {
        extensions: ['web'],
        pipelines: { metrics: { receivers: ['prometheus'], exporters: ['prometheus'] } },
        telemetry: { metrics: { address: 'none' } },
      },
    }
    writeFileSync(join(folder, 'gpucol.yaml'), stringify(config).replaceAll('${1}', '$${1}'))
    running.push(
      startProcess(program, [
        `--config.file=${join(folder, 'prometheus.yaml')}`,
        `--storage.tsdb.path=${join(folder, 'data')}`,
        `--web.listen-address=127.0.0.1:${prometheusPort}`,
      ]),
      startGpucol(['run', '--config', join(folder, 'gpucol.yaml')]),
    )
    const theirs = await eventually(
      () => theirTargets(`http://127.0.0.1:${prometheusPort}`),
      ({ active }) => active.length === 8 && active.every(({ state }) => state !== 'unknown'),
    )
    const ours = await eventually(
      () => ourTargets(`http://127.0.0.1:${web}`),
      ({ active }) => active.length === 8 && active.every(({ state }) => state !== 'unknown'),
    )
    assert.deepEqual(ours.active, theirs.active)
    assert.deepEqual(ours.dropped, theirs.dropped)

    const selector = '{__name__=~"up|scrape_samples_.*|asked_.*|requests_.*|latency_.*|go_.*"}'
    const expected = await theirSeries(`http://127.0.0.1:${prometheusPort}`, selector)
    assert.ok(expected.length > 50)
    const found = await eventually(
      async () => ourSeries(await get(`http://127.0.0.1:${metrics}/metrics`)),
      series => series.length === expected.length,
    )
    assert.deepEqual(found, expected)
  })
})

type Found = { active: { url: string; labels: Labels; state: string }[]; dropped: Labels[] }

async function theirTargets(api: string): Promise<Found> {
  type Target = { scrapeUrl: string; labels: Labels; health: string; discoveredLabels: Labels }
  const { data } = JSON.parse(await get(`${api}/api/v1/targets`)) as {
    data: { activeTargets: Target[]; droppedTargets: Target[] }
  }
  return sorted({
    active: data.activeTargets.map(({ scrapeUrl, labels, health }) => ({ url: scrapeUrl, labels, state: health })),
    dropped: data.droppedTargets.map(({ discoveredLabels }) => discoveredLabels),
  })
}

async function ourTargets(api: string): Promise<Found> {
  type Target = { url: string; labels: Labels; state: string }
  const { targets, dropped } = JSON.parse(await get(`${api}/targets`)) as {
    targets: Target[]
    dropped: { labels: Labels; reason: string }[]
  }
  return sorted({
    active: targets.map(({ url, labels, state }) => ({ url, labels, state })),
    // Prometheus does not show targets whose labels make no sense.
    dropped: dropped.filter(({ reason }) => reason === 'relabel_configs drop it').map(({ labels }) => labels),
  })
}

function sorted({ active, dropped }: Found): Found {
  const byText = (a: object, b: object): number => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)
  const ordered = (labels: Labels): Labels => Object.fromEntries(pairsOf(labels))
  return {
    active: active.map(target => ({ ...target, labels: ordered(target.labels) })).sort(byText),
    dropped: dropped.map(ordered).sort(byText),
  }
}

async function theirSeries(api: string, selector: string): Promise<string[]> {
  const { data } = JSON.parse(await get(`${api}/api/v1/query?query=${encodeURIComponent(selector)}`)) as {
    data: { result: { metric: Labels; value: [number, string] }[] }
  }
  return data.result.map(({ metric: { __name__, ...labels }, value }) => line(__name__!, labels, value[1])).sort()
}

function ourSeries(text: string): string[] {
  const wanted = /^(up|scrape_samples_\w+|asked_\w+|requests_\w+|latency_\w+|go_\w+)(?:\{(.*)\})? (\S+)$/gm
  return Array.from(text.matchAll(wanted), ([, name, block = '', value]) => {
    const labels = Object.fromEntries(Array.from(block.matchAll(/(\w+)="([^"]*)"/g), ([, key, text]) => [key!, text!]))
    return line(name!, labels, value!)
  }).sort()
}

function line(name: string, labels: Labels, value: string): string {
  return `${name} ${JSON.stringify(pairsOf(labels))} ${Number(value)}`
}

function pairsOf(labels: Labels): [string, string][] {
  return Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1))
}
