/** What gpucol sends by remote write is what a real Prometheus and a real VictoriaMetrics then have. */
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

/** Numbers that Prometheus must have bit for bit. VictoriaMetrics keeps decimals of limited size: only the first are asked of it. */
const NUMBERS = [
  '0',
  '-1.5',
  '29',
  '123456.789',
  '0.1',
  '1e21',
  '9007199254740993',
  '1.7976931348623157e+308',
  '5e-324',
  '0.30000000000000004',
  '+Inf',
  '-Inf',
  'NaN',
]
const DECIMALS = 5

const TEXT = `# HELP requests_total Requests that were answered.
# TYPE requests_total counter
requests_total{code="200",job="own",Zone="a"} 5
requests_total{code="500",path="/a\\"b\\\\c\\n😀"} 1
# TYPE latency_seconds histogram
latency_seconds_bucket{le="0.1"} 3
latency_seconds_bucket{le="+Inf"} 4
latency_seconds_sum 0.5
latency_seconds_count 4
# TYPE DCGM_FI_DEV_GPU_UTIL gauge
DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-1",Hostname="node-a",DCGM_FI_DRIVER_VERSION="550"} 97
DCGM_FI_DEV_GPU_UTIL{gpu="1",UUID="GPU-2",Hostname="node-a",DCGM_FI_DRIVER_VERSION="550"} 3
${NUMBERS.map((number, i) => `number{i="${i}"} ${number}`).join('\n')}
`

describe('remote write to real servers', function () {
  this.timeout(120_000)
  let folder: string
  let target: Server
  let address: string
  let text: string | undefined = TEXT
  const running: GpucolProcess[] = []

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'gpucol-'))
    target = createServer((_request, response) => {
      if (text === undefined) response.writeHead(500).end()
      else response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4' }).end(text)
    })
    await new Promise<void>(resolve => target.listen(0, '127.0.0.1', resolve))
    address = `127.0.0.1:${(target.address() as AddressInfo).port}`
  })
  after(async () => {
    for (const { child } of running) child.kill('SIGKILL')
    await Promise.all(running.map(({ ended }) => ended))
    target.closeAllConnections()
    target.close()
    rmSync(folder, { recursive: true })
  })

  async function startServers(context: Mocha.Context): Promise<{ prometheus: string; victoria: string }> {
    const [prometheus, victoria] = ['prometheus', 'victoria-metrics'].map(name => programOrSkip(context, name))
    const [one, other] = (await freePorts(2)) as [number, number]
    writeFileSync(join(folder, 'prometheus.yaml'), '{}')
    running.push(
      startProcess(prometheus!, [
        `--config.file=${join(folder, 'prometheus.yaml')}`,
        `--storage.tsdb.path=${join(folder, 'prometheus')}`,
        `--web.listen-address=127.0.0.1:${one}`,
        '--web.enable-remote-write-receiver',
      ]),
      startProcess(victoria!, [
        `-storageDataPath=${join(folder, 'victoria')}`,
        `-httpListenAddr=127.0.0.1:${other}`,
        '-search.latencyOffset=0s',
        '-search.disableCache',
      ]),
    )
    const servers = { prometheus: `http://127.0.0.1:${one}`, victoria: `http://127.0.0.1:${other}` }
    await eventually(
      () => get(`${servers.prometheus}/-/ready`),
      answer => /ready/i.test(answer),
    )
    await eventually(
      () => get(`${servers.victoria}/health`),
      answer => answer === 'OK',
    )
    return servers
  }

  it('have every number, and the end of series', async function () {
    const { prometheus, victoria } = await startServers(this)
    const config = {
      receivers: {
        prometheus: {
          config: {
            global: { scrape_interval: '1s', scrape_timeout: '1s' },
            scrape_configs: [{ job_name: 'e2e', static_configs: [{ targets: [address] }] }],
          },
        },
      },
      exporters: {
        'prometheus_remote_write/prometheus': { endpoint: `${prometheus}/api/v1/write`, max_samples_per_send: 7 },
        'prometheus_remote_write/victoria': { endpoint: `${victoria}/api/v1/write` },
        // This Prometheus takes 2.0 and finds nothing in it: it must get 1.0.
        'prometheus_remote_write/newer': {
          endpoint: `${prometheus}/api/v1/write`,
          version: 2,
          external_labels: { protocol: 'newer' },
        },
      },
      service: {
        pipelines: {
          metrics: {
            receivers: ['prometheus'],
            exporters: [
              'prometheus_remote_write/prometheus',
              'prometheus_remote_write/victoria',
              'prometheus_remote_write/newer',
            ],
          },
        },
        telemetry: { metrics: { address: 'none' } },
      },
    }
    writeFileSync(join(folder, 'gpucol.yaml'), stringify(config))
    const gpucol = startGpucol(['run', '--config', join(folder, 'gpucol.yaml')])
    running.push(gpucol)

    const expected = expectedSeries(TEXT, { job: 'e2e', instance: address })
    for (const extra of [{}, { protocol: 'newer' }]) {
      const wanted = expected.map(one => ({ ...one, labels: { ...one.labels, ...extra } }))
      await eventually(
        () =>
          query(prometheus, `{job="e2e",protocol="${'protocol' in extra ? 'newer' : ''}",__name__!~"up|scrape_.*"}`),
        found => {
          if (found.length !== wanted.length) return false
          assert.deepEqual(lines(found), lines(wanted))
          return true
        },
      )
    }
    assert.match(gpucol.output(), /does not understand remote write 2\.0/)
    const isExact = ({ name, labels }: Series): boolean => name !== 'number' || Number(labels['i']) < DECIMALS
    await eventually(
      () => query(victoria, '{job="e2e",__name__!~"up|scrape_.*"}'),
      found => {
        if (found.length < expected.filter(isExact).length) return false
        assert.deepEqual(lines(found.filter(isExact)), lines(expected.filter(isExact)))
        return true
      },
    )
    const { data } = JSON.parse(await get(`${prometheus}/api/v1/query?query=up{job="e2e"}`)) as { data: unknown }
    assert.ok(JSON.stringify(data).includes('"1"'))

    // A series is gone: the others stay.
    text = TEXT.replace(/^DCGM.*gpu="1".*\n/m, '')
    for (const server of [prometheus, victoria]) {
      await eventually(
        () => query(server, 'DCGM_FI_DEV_GPU_UTIL{job="e2e",protocol=""}'),
        found => found.length === 1 && found[0]!.labels['gpu'] === '0',
      )
    }
    // The target fails: all of them are gone, at once and not after five minutes, and up is 0.
    text = undefined
    for (const server of [prometheus, victoria]) {
      await eventually(
        () => query(server, '{job="e2e",protocol=""}'),
        found => found.every(({ name }) => /^up$|^scrape_/.test(name)) && found.some(isDown),
      )
    }
    // And back.
    text = TEXT
    for (const server of [prometheus, victoria]) {
      await eventually(
        () => query(server, 'DCGM_FI_DEV_GPU_UTIL{job="e2e",protocol=""}'),
        found => found.length === 2,
      )
    }

    const selector = '{job="e2e",protocol="",__name__=~"requests_total|latency_.*|DCGM.*"}'
    await eventually(
      () => samples(prometheus, selector),
      found => found.length > 50,
    )
    gpucol.child.kill('SIGTERM')
    assert.equal(await gpucol.ended, 0)
    assert.doesNotMatch(gpucol.output(), /points are lost|rejected|out of order/)
    // Every sample of every series, with its time, is in both.
    const theirs = await samples(prometheus, selector)
    const others = await eventually(
      () => exported(victoria, selector),
      found => found.length >= theirs.length,
    )
    assert.deepEqual(others, theirs)
  })
})

type Series = { readonly name: string; readonly labels: Labels; readonly value: number }

function isDown({ name, value }: Series): boolean {
  return name === 'up' && value === 0
}

function labelsText(labels: Labels): string {
  return JSON.stringify(Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1)))
}

function lines(series: readonly Series[]): string[] {
  return series.map(({ name, labels, value }) => `${name} ${labelsText(labels)} ${value}`).sort()
}

async function query(api: string, selector: string): Promise<Series[]> {
  const { data } = JSON.parse(await get(`${api}/api/v1/query?query=${encodeURIComponent(selector)}`)) as {
    data: { result: { metric: Labels; value: [number, string] }[] }
  }
  return data.result.map(({ metric: { __name__, ...labels }, value }) => ({
    name: __name__!,
    labels,
    value: numberOf(value[1]),
  }))
}

function numberOf(text: string): number {
  return text === '+Inf' ? Infinity : text === '-Inf' ? -Infinity : Number(text)
}

/** `series time value` of everything in the last minutes, markers left out. */
async function samples(api: string, selector: string): Promise<string[]> {
  const { data } = JSON.parse(await get(`${api}/api/v1/query?query=${encodeURIComponent(`${selector}[10m]`)}`)) as {
    data: { result: { metric: Labels; values: [number, string][] }[] }
  }
  return data.result
    .flatMap(({ metric, values }) =>
      values.map(([seconds, value]) => sampleLine(metric, Math.round(seconds * 1000), Number(value))),
    )
    .sort()
}

/** The same of VictoriaMetrics, as it is stored. */
async function exported(api: string, selector: string): Promise<string[]> {
  const text = await get(`${api}/api/v1/export?match[]=${encodeURIComponent(selector)}`)
  type Line = { metric: Labels; values: (number | null)[]; timestamps: number[] }
  return text
    .split('\n')
    .filter(line => line !== '')
    .flatMap(line => {
      const { metric, values, timestamps } = JSON.parse(line) as Line
      return values.flatMap((value, i) => (value === null ? [] : [sampleLine(metric, timestamps[i]!, value)]))
    })
    .sort()
}

function sampleLine(metric: Labels, timeMs: number, value: number): string {
  return `${labelsText(metric)} ${timeMs} ${value}`
}

/** What the text says, with the labels of the target, by a reader of the test's own. */
function expectedSeries(exposition: string, target: Labels): Series[] {
  return exposition
    .split('\n')
    .filter(line => line !== '' && !line.startsWith('#'))
    .map(line => {
      const [, name, block = '', value] = /^(\w+)(?:\{(.*)\})? (\S+)$/u.exec(line)!
      const own = Array.from(block.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/gu), ([, label, text]): [string, string] => [
        label === 'job' || label === 'instance' ? `exported_${label}` : label!,
        text!.replace(/\\(.)/gu, (_, character: string) => (character === 'n' ? '\n' : character)),
      ])
      return { name: name!, labels: { ...Object.fromEntries(own), ...target }, value: numberOf(value!) }
    })
}
