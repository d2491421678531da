/**
 * One gpucol whose result leaves by every way at once, to one real Prometheus 3: it scrapes the endpoint in each format and receives by
 * OTLP and by both versions of remote write. All of them say the same, series by series and sample by sample.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stringify } from 'yaml'
import {
  eventually,
  freePorts,
  freePortsInARow,
  startGpucol,
  startProcess,
  type GpucolProcess,
} from '../../support/gpucol-process.ts'
import { buildServers } from './build-servers.ts'
import { startOddTargets, type OddTargets } from './odd-targets.ts'
import { startScrapeTap, type ScrapeTap } from './scrape-tap.ts'
import { differencesAt, differentSamples, liveSeries, REFERENCE, samplesOf, SCRAPED_WAYS, WAYS } from './ways.ts'

const FORMS = [
  'application/openmetrics-text; version=0.0.1; charset=utf-8 gzip',
  'application/openmetrics-text; version=1.0.0; charset=utf-8; escaping=allow-utf-8 gzip',
  'text/plain; version=0.0.4; charset=utf-8 gzip',
  'text/plain; version=1.0.0; charset=utf-8; escaping=allow-utf-8 gzip',
]

/** Lines of the odd targets that end before their target does. */
const GONE = ['short', 'odd{', 'latency_seconds', 'wait_seconds']

describe('the ways out of one gpucol, as a real Prometheus 3 has them', function () {
  this.timeout(1_800_000)
  const running: GpucolProcess[] = []
  let folder: string
  let targets: OddTargets
  let tap: ScrapeTap
  let base: string

  before(async function () {
    const programs = await buildServers(['prometheus'], line => process.stdout.write(`  ${line}\n`))
    if (programs === undefined) return this.skip()
    folder = mkdtempSync(join(tmpdir(), 'gpucol-'))
    targets = await startOddTargets()
    const simulator = await freePortsInARow(5)
    const [port, endpoint] = (await freePorts(2)) as [number, number]
    base = `http://127.0.0.1:${port}`
    tap = await startScrapeTap(endpoint)
    writeFileSync(join(folder, 'prometheus.yaml'), stringify(prometheusConfig(tap.address)))
    const prometheus = startProcess(programs.prometheus, [
      `--config.file=${join(folder, 'prometheus.yaml')}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--web.enable-otlp-receiver',
      '--web.enable-remote-write-receiver',
    ])
    running.push(prometheus)
    await prometheus.until(/Server is ready/)
    find('failing', 'leaving')
    writeFileSync(join(folder, 'gpucol.yaml'), stringify(gpucolConfig(folder, targets, simulator, endpoint, base)))
    running.push(startGpucol(['run', '--config', join(folder, 'gpucol.yaml')]))
  })
  after(async () => {
    for (const { child } of running) child.kill('SIGKILL')
    await Promise.all(running.map(({ ended }) => ended))
    await targets?.close()
    await tap?.close()
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true })
  })

  /** The targets that a file names. */
  function find(...names: string[]): void {
    const labels = (name: string) => ({ __metrics_path__: `/${name}`, instance: name })
    const groups = names.map(name => ({ targets: [targets.address], labels: labels(name) }))
    writeFileSync(join(folder, 'found.tmp'), JSON.stringify(groups))
    renameSync(join(folder, 'found.tmp'), join(folder, 'found.json'))
  }

  /** So long ago that everything has arrived that ever will; whoever asks is patient all the same. */
  const aMomentAgo = (): number => Date.now() / 1000 - 6
  const settled = (differences: () => Promise<string[]>): Promise<unknown> =>
    eventually(differences, found => found.length === 0, 60_000)

  it('come in every form that was asked for', async () => {
    await eventually(
      async () => [...tap.forms.values()].sort(),
      forms => JSON.stringify(forms) === JSON.stringify(FORMS),
    )
  })

  it('have the same series', async () => {
    await eventually(
      async () => (await liveSeries(base, REFERENCE, aMomentAgo())).size,
      count => count > 1000,
      60_000,
    )
    // A stamp is some seconds old when it is first shown: who is pushed to has it from then on, a scraper from the next one on.
    for (const way of WAYS) {
      await eventually(
        async () => [...(await liveSeries(base, way, aMomentAgo())).keys()],
        series => series.some(one => one.includes('"stamped"')),
      )
    }
    // At some moment: where everything is slow, a pod that has just come may have been seen by one way and not yet by another.
    await settled(() => differencesAt(base, aMomentAgo()))
  })

  it('see them end: those that are gone, those of a target that fails, those of one that is removed', async () => {
    targets.gone = GONE
    targets.isFailing = true
    find('failing')
    const isEnded = (series: string): boolean =>
      series.includes('"leaving"') ||
      (series.includes('"failing"') && !/"(up|scrape_\w+)"/.test(series)) ||
      /"(short|odd)"|"(latency|wait)_seconds/.test(series)
    for (const way of WAYS) {
      const live = await eventually(
        async () => [...(await liveSeries(base, way, Date.now() / 1000)).keys()],
        series => !series.some(isEnded),
      )
      assert.ok(live.some(series => series.includes('"requests_total"')))
    }
    const timeS = Date.now() / 1000
    await settled(() => differencesAt(base, timeS))
  })

  it('see them come back', async () => {
    targets.gone = []
    targets.isFailing = false
    find('failing', 'leaving')
    for (const way of WAYS) {
      await eventually(
        async () => [...(await liveSeries(base, way, Date.now() / 1000)).keys()],
        series =>
          ['"leaving"', '"latency_seconds_sum"', '"short"'].every(part => series.some(one => one.includes(part))),
      )
    }
    const timeS = Date.now() / 1000
    await settled(() => differencesAt(base, timeS))
  })

  it('have the same samples, at the same times, while pods come and go', async () => {
    const pods = async (rangeS: number): Promise<number> => {
      const series = [...(await samplesOf(base, REFERENCE, Date.now() / 1000, rangeS)).keys()]
      return series.filter(one => one.includes('"DCGM_FI_DEV_GPU_UTIL"') && one.includes('"pod"')).length
    }
    // Some are over, and what came after them has begun.
    await eventually(
      async () => (await pods(600)) - (await pods(3)),
      count => count >= 2,
      120_000,
    )
    // Long enough that also those that are scraped have had a look at everything.
    await eventually(
      async () => Math.max(...(await samplesOf(base, REFERENCE, aMomentAgo(), 600)).values().map(({ size }) => size)),
      count => count >= 30,
      120_000,
    )
    const timeS = aMomentAgo()
    await settled(() => differentSamples(base, timeS, 600))
    assert.doesNotMatch(running[1]!.output(), /lost|reject|refused|dropped/i)
  })
})

function prometheusConfig(endpoint: string): object {
  const jobs = Object.entries(SCRAPED_WAYS).map(([way, protocol]) => ({
    job_name: `way ${way}`,
    scrape_protocols: [protocol],
    honor_labels: true,
    // So that samples of every way have the same times.
    honor_timestamps: true,
    track_timestamps_staleness: true,
    static_configs: [{ targets: [endpoint] }],
    metric_relabel_configs: [
      { target_label: 'way', replacement: way },
      // Of series that have none of their own.
      { source_labels: ['job'], regex: 'way .*', target_label: 'job', replacement: '' },
      { source_labels: ['instance'], regex: endpoint, target_label: 'instance', replacement: '' },
    ],
  }))
  return {
    global: { scrape_interval: '1s', scrape_timeout: '1s' },
    scrape_configs: jobs,
    otlp: { translation_strategy: 'NoTranslation' },
    storage: { tsdb: { out_of_order_time_window: '10m' } },
  }
}

function gpucolConfig(
  folder: string,
  { address }: OddTargets,
  simulator: number,
  endpoint: number,
  base: string,
): object {
  const nodes = [1, 2, 3, 4].map(number => `127.0.0.1:${simulator + number}`)
  const kubeconfig = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'simulated',
    clusters: [{ name: 'simulated', cluster: { server: `http://127.0.0.1:${simulator}` } }],
    users: [{ name: 'nobody', user: {} }],
    contexts: [{ name: 'simulated', context: { cluster: 'simulated', user: 'nobody' } }],
  }
  writeFileSync(join(folder, 'kubeconfig'), stringify(kubeconfig))
  const exporters = {
    prometheus: { endpoint: `127.0.0.1:${endpoint}`, send_timestamps: true },
    otlp_http: { vendor: 'prometheus', vendor_parameters: { base_url: base } },
    'prometheus_remote_write/1': {
      endpoint: `${base}/api/v1/write`,
      external_labels: { way: 'remote write 1' },
    },
    'prometheus_remote_write/2': {
      endpoint: `${base}/api/v1/write`,
      version: 2,
      external_labels: { way: 'remote write 2' },
      translation_strategy: 'NoTranslation',
    },
  }
  const pipeline = (receivers: string[], ...processors: string[]) => ({
    receivers,
    processors,
    exporters: Object.keys(exporters),
  })
  return {
    extensions: {
      simulator: {
        nodes: 4,
        gpus_per_node: 2,
        endpoint: `127.0.0.1:${simulator}`,
        // A past in which much happens, and that does not reach the present.
        start: new Date(Date.now() - 86_400_000).toISOString(),
        speed: 60,
      },
    },
    receivers: {
      dcgm: {
        scrape_interval: '1s',
        scrape_timeout: '1s',
        static_targets: nodes.map(node => `http://${node}/metrics`),
      },
      prometheus: {
        config: {
          global: { scrape_interval: '1s', scrape_timeout: '1s' },
          scrape_configs: [
            { job_name: 'text', honor_labels: true, metrics_path: '/text', static_configs: [{ targets: [address] }] },
            { job_name: 'openmetrics', metrics_path: '/openmetrics', static_configs: [{ targets: [address] }] },
            {
              job_name: 'found',
              file_sd_configs: [{ files: [join(folder, 'found.json')], refresh_interval: '1s' }],
            },
          ],
        },
      },
      kubernetes_api: { kubeconfig: join(folder, 'kubeconfig') },
    },
    processors: {
      normalize: {},
      join_workload: {},
      roll_up: { catalog: 'runai-2.17', interval: '1s', cluster_id: 'demo' },
      'relabel/roll_ups': keepNames('(runai|kube|gpucol)_.*'),
      'relabel/facts': keepNames('.*\\..*'),
    },
    exporters,
    service: {
      extensions: ['simulator'],
      pipelines: {
        'metrics/raw': pipeline(['dcgm', 'prometheus'], 'join_workload'),
        'metrics/facts': pipeline(['dcgm'], 'normalize', 'join_workload', 'relabel/facts'),
        'metrics/roll_ups': pipeline(
          ['dcgm', 'kubernetes_api'],
          'normalize',
          'join_workload',
          'roll_up',
          'relabel/roll_ups',
        ),
      },
      telemetry: { metrics: { address: 'none' } },
    },
  }
}

function keepNames(regex: string): object {
  return { rules: [{ action: 'keep', source_labels: ['__name__'], regex }] }
}
