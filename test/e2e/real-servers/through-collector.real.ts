/** What one gpucol scraped goes by OTLP to a real Collector, and from there to another gpucol: it comes out as it went in. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { eventually, freePorts, startGpucol, startProcess, type GpucolProcess } from '../../support/gpucol-process.ts'
import { buildServers } from './build-servers.ts'
import { startOddTargets, type OddTargets } from './odd-targets.ts'

const COMBINATIONS = ['proto', 'json'].flatMap(encoding =>
  ['gzip', 'zstd'].map(compression => ({ encoding, compression })),
)

describe('through a real Collector, from one gpucol to another', function () {
  this.timeout(1_800_000)
  const running: GpucolProcess[] = []
  let folder: string
  let targets: OddTargets
  let first: number
  let last: readonly number[]

  before(async function () {
    const programs = await buildServers(['otelcol'], line => process.stdout.write(`  ${line}\n`))
    if (programs === undefined) return this.skip()
    folder = mkdtempSync(join(tmpdir(), 'gpucol-'))
    targets = await startOddTargets()
    const ports = await freePorts(1 + 3 * COMBINATIONS.length)
    const take = (): number[] => ports.splice(0, COMBINATIONS.length)
    const [toCollector, fromCollector] = [take(), take()]
    last = take()
    first = ports[0]!
    const written = (name: string, config: object): string => {
      const path = join(folder, `${name}.yaml`)
      writeFileSync(path, stringify(config))
      return path
    }
    running.push(startGpucol(['run', '--config', written('last', lastConfig(fromCollector, last))]))
    await running[0]!.until(/is running/)
    running.push(
      startProcess(programs.otelcol, ['--config', written('collector', collectorConfig(toCollector, fromCollector))]),
    )
    await running[1]!.until(/Everything is ready/)
    running.push(startGpucol(['run', '--config', written('first', firstConfig(targets.address, first, toCollector))]))
  })
  after(async () => {
    for (const { child } of running) child.kill('SIGKILL')
    await Promise.all(running.map(({ ended }) => ended))
    await targets?.close()
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true })
  })

  /** Resolves when all are the same. */
  async function agree(isWanted: (page: string) => boolean): Promise<void> {
    for (const [i, { encoding, compression }] of COMBINATIONS.entries()) {
      const pages = (): Promise<string[]> => Promise.all([pageOf(first), pageOf(last[i]!)])
      const isSame = ([before, after]: string[]): boolean => isWanted(before!) && before === after
      const [before, after] = await eventually(pages, isSame).catch(pages)
      assert.equal(after, before, `${encoding} ${compression}`)
    }
  }

  it('come all series, with their types and descriptions', async () => {
    targets.isStill = true
    await agree(page => page.includes('jobs_total') && page.includes('requests_total'))
  })

  it('come their ends', async () => {
    targets.gone = ['short', 'odd{kind="exact"', 'latency_seconds', 'wait_seconds', 'jobs']
    await agree(page => !/^(short|latency|wait|jobs_total)/m.test(page))
    targets.gone = []
    await agree(page => page.includes('latency_seconds_sum'))
    for (const { output } of running) assert.doesNotMatch(output(), /lost|reject|refused|dropp|\berror/i)
  })
})

/** A page of each, as far as both can have it. */
async function pageOf(port: number): Promise<string> {
  const headers = { accept: 'text/plain;version=1.0.0;escaping=allow-utf-8' }
  const response = await fetch(`http://127.0.0.1:${port}/metrics`, { headers })
  const lines = (await response.text()).split('\n').filter(line => !NOT_THE_SAME.test(line))
  return lines
    .map(line => line.replace(',otel_scope_name="gpucol"', '').replace('le="1e+06"', 'le="1000000"'))
    .sort()
    .join('\n')
}

/** Each scrape has a duration and changes of its own, and gauge histograms leave as gauges (`exporters/README.md`). */
const NOT_THE_SAME = /^scrape_(duration_seconds|series_added|samples_\w+|body_size_bytes)|^# TYPE sizes/

function firstConfig(address: string, endpoint: number, toCollector: readonly number[]): object {
  const exporters = {
    prometheus: { endpoint: `127.0.0.1:${endpoint}` },
    ...numbered('otlp_http', i => ({
      endpoint: `http://127.0.0.1:${toCollector[i]}`,
      resource: 'target',
      ...COMBINATIONS[i]!,
    })),
  }
  return {
    receivers: {
      prometheus: {
        config: {
          global: { scrape_interval: '1s', scrape_timeout: '1s' },
          scrape_configs: ['text', 'openmetrics'].map(name => ({
            job_name: name,
            honor_labels: true,
            metrics_path: `/${name}`,
            static_configs: [{ targets: [address] }],
          })),
        },
      },
    },
    exporters,
    service: {
      pipelines: { metrics: { receivers: ['prometheus'], exporters: Object.keys(exporters) } },
      telemetry: { metrics: { address: 'none' } },
    },
  }
}

function collectorConfig(inPorts: readonly number[], outPorts: readonly number[]): object {
  return {
    receivers: numbered('otlp', i => ({ protocols: { http: { endpoint: `127.0.0.1:${inPorts[i]}` } } })),
    exporters: numbered('otlp_http', i => ({ endpoint: `http://127.0.0.1:${outPorts[i]}`, ...COMBINATIONS[i]! })),
    service: {
      pipelines: numbered('metrics', i => ({ receivers: [`otlp/${i}`], exporters: [`otlp_http/${i}`] })),
      telemetry: { metrics: { level: 'none' } },
    },
  }
}

function lastConfig(inPorts: readonly number[], endpoints: readonly number[]): object {
  return {
    receivers: numbered('otlp', i => ({ endpoint: `127.0.0.1:${inPorts[i]}` })),
    exporters: numbered('prometheus', i => ({
      endpoint: `127.0.0.1:${endpoints[i]}`,
      translation_strategy: 'NoTranslation',
    })),
    service: {
      pipelines: numbered('metrics', i => ({ receivers: [`otlp/${i}`], exporters: [`prometheus/${i}`] })),
      telemetry: { metrics: { address: 'none' } },
    },
  }
}

function numbered<T>(name: string, one: (i: number) => T): Record<string, T> {
  return Object.fromEntries(COMBINATIONS.map((_, i) => [`${name}/${i}`, one(i)]))
}
