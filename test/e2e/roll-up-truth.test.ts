/**
 * The roll-ups of gpucol beside those of a real Prometheus, which scrapes the same simulated cluster and computes them by rules of its
 * own (`roll-up-truth/rules.yaml`). Every series is equal, none is missing, none is surplus.
 */
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
  freePortsInARow,
  get,
  startGpucol,
  startProcess,
  type GpucolProcess,
} from '../support/gpucol-process.ts'
import { programOrSkip } from '../support/programs.ts'
import { prometheusConfig, truth } from './roll-up-truth/engine.ts'
import { ownersOfPods } from './roll-up-truth/owners.ts'
import { differences, samplesOf, type Sample } from './roll-up-truth/samples.ts'

const NODES = 4
const TOLERANCE = 1e-9

/** What PromQL cannot say, or not at the same moment, and who shows it instead. */
const NOT_COMPARED: Readonly<Record<string, string>> = {
  runai_project_guaranteed_gpus: 'made of custom resources, which no exporter shows: golden/roll-up-quotas',
  runai_project_info: 'the same',
  runai_queue_info: 'the same',
  runai_run_time_seconds_per_workload: 'lengths of unions of intervals: processors/roll-up',
  runai_wait_time_seconds_per_workload: 'the same',
  runai_last_gpu_utilization_time_per_gpu: 'the times of two scrapers differ: below, by what is busy',
  runai_last_gpu_utilization_time_per_workload: 'the same',
  runai_gpu_idle_seconds_per_workload: 'goes with the clock: below, by what is idle and since when',
}

/** Rates need time that goes. */
const RATES = ['runai_job_cpu_usage', 'runai_node_cpu_utilization', 'runai_cluster_cpu_utilization']

type Cluster = { readonly seed: number; readonly start: string; readonly generation: string }

const CLUSTERS: readonly Cluster[] = [
  { seed: 1, start: '2026-01-31T08:00:00Z', generation: '4.8' },
  { seed: 2, start: '2026-03-02T17:20:10Z', generation: '4.8' },
  { seed: 3, start: '2026-01-31T08:41:30Z', generation: '3.3.5' },
]

describe('roll-ups and rules of a real Prometheus', function () {
  this.timeout(120_000)
  let folder: string
  let owners: Server
  let kubernetes = ''
  let ownersAddress: string
  let running: GpucolProcess[] = []

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'gpucol-'))
    owners = createServer((_, response) => {
      ownersOfPods(kubernetes).then(
        text => response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4' }).end(text),
        (error: unknown) => response.writeHead(500).end(String(error)),
      )
    })
    await new Promise<void>(resolve => owners.listen(0, '127.0.0.1', resolve))
    ownersAddress = `127.0.0.1:${(owners.address() as AddressInfo).port}`
  })
  afterEach(async () => {
    for (const { child } of running) child.kill('SIGKILL')
    await Promise.all(running.map(({ ended }) => ended))
    running = []
  })
  after(() => {
    owners.closeAllConnections()
    owners.close()
    rmSync(folder, { recursive: true })
  })

  type Engines = { readonly prometheus: string; readonly api: string; readonly ksm: string }

  async function start(program: string, name: string, simulate: readonly string[], clock: 'stands' | 'goes'): Promise<Engines> {
    const port = await freePortsInARow(NODES + 1)
    const [prometheus, api, ksm] = (await freePorts(3)) as [number, number, number]
    kubernetes = `http://127.0.0.1:${port}`
    const simulator = startGpucol(['simulate', '--nodes', `${NODES}`, '--listen', `127.0.0.1:${port}`, ...simulate])
    running.push(simulator)
    await eventually(() => get(`${kubernetes}/version`), () => true)
    const file = (suffix: string, text: string): string => {
      const path = join(folder, `${name}-${suffix}`)
      writeFileSync(path, text)
      return path
    }
    const kubeconfig = file('kubeconfig', stringify(kubeconfigOf(kubernetes)))
    running.push(
      startProcess(program, [
        `--config.file=${file('prometheus.yaml', prometheusConfig({ port, nodes: NODES, owners: ownersAddress, clock }))}`,
        `--storage.tsdb.path=${join(folder, `${name}-data`)}`,
        `--web.listen-address=127.0.0.1:${prometheus}`,
      ]),
      startGpucol(['run', '--config', file('api.yaml', stringify(gpucolConfig(port, api, { kubernetes_api: { kubeconfig } })))]),
      startGpucol([
        'run',
        '--config',
        file(
          'ksm.yaml',
          stringify(
            gpucolConfig(port, ksm, {
              kube_state_metrics: { ...OFTEN, static_targets: [`${kubernetes}/kube-state-metrics/metrics`] },
            }),
          ),
        ),
      ]),
    )
    return {
      prometheus: `http://127.0.0.1:${prometheus}/api/v1`,
      api: `http://127.0.0.1:${api}/metrics`,
      ksm: `http://127.0.0.1:${ksm}/metrics`,
    }
  }

  for (const { seed, start: moment, generation } of CLUSTERS)
    it(`agree on cluster ${seed} at ${moment}, dcgm-exporter ${generation}`, async function () {
      const program = programOrSkip(this, 'prometheus')
      const simulate = ['--seed', `${seed}`, '--start', moment, '--speed', '0', '--generation', generation]
      const engines = await start(program, `cluster-${seed}`, simulate, 'stands')
      for (const source of ['ksm', 'api'] as const) {
        const isCompared = ({ name }: Sample): boolean => !(name in NOT_COMPARED) && !RATES.includes(name)
        const left = await agreement(engines, source, isCompared)
        assert.equal(left.join('\n'), '')
      }
    })

  /** How they differ in the end; it is over when they do not. */
  async function agreement(
    engines: Engines,
    source: 'ksm' | 'api',
    isCompared: (sample: Sample) => boolean,
  ): Promise<string[]> {
    let left: string[] = ['nothing was compared']
    const compare = async (): Promise<string[]> => {
      const theirs = await truth(engines.prometheus)
      if (theirs === undefined) return left
      const ours = samplesOf(await get(engines[source])).filter(isCompared)
      const expected = theirs
        .filter(({ labels }) => labels['source'] === undefined || labels['source'] === source)
        .map(({ labels: { source: _, ...labels }, ...sample }) => ({ ...sample, labels: { ...labels, clusterId: 'truth' } }))
        .filter(isCompared)
      left = differences(ours, expected, TOLERANCE)
      if (expected.length < 300) left.push(`only ${expected.length} series`)
      return left
    }
    await eventually(compare, lines => lines.length === 0).catch(() => {})
    return left
  }
})

const OFTEN = { scrape_interval: '1s', scrape_timeout: '900ms' }

function gpucolConfig(port: number, endpoint: number, cluster: object): object {
  const addresses = Array.from({ length: NODES }, (_, i) => `127.0.0.1:${port + 1 + i}`)
  const job = (job_name: string): object => ({
    job_name,
    ...OFTEN,
    honor_labels: true,
    metrics_path: `/${job_name}/metrics`,
    static_configs: addresses.map((address, i) => ({ targets: [address], labels: { node: `node-${i}` } })),
  })
  return {
    receivers: {
      dcgm: { ...OFTEN, static_targets: addresses.map(address => `http://${address}/metrics`) },
      kubelet: { ...OFTEN, static_targets: addresses.map(address => `http://${address}`) },
      prometheus: { config: { scrape_configs: [job('node-exporter'), job('runai-node-exporter')] } },
      ...cluster,
    },
    processors: {
      normalize: {},
      join_workload: {},
      roll_up: { catalog: 'runai-2.17', interval: '1s', cluster_id: 'truth' },
      relabel: { rules: [{ action: 'keep', source_labels: ['__name__'], regex: 'runai_.*_per_.*|runai_.*' }] },
    },
    exporters: { prometheus: { endpoint: `127.0.0.1:${endpoint}`, send_timestamps: true } },
    service: {
      pipelines: {
        metrics: {
          receivers: ['dcgm', 'kubelet', 'prometheus', ...Object.keys(cluster)],
          processors: ['normalize', 'join_workload', 'roll_up', 'relabel'],
          exporters: ['prometheus'],
        },
      },
      telemetry: { metrics: { address: 'none' } },
    },
  }
}

function kubeconfigOf(server: string): object {
  return {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'simulated',
    clusters: [{ name: 'simulated', cluster: { server } }],
    users: [{ name: 'nobody', user: {} }],
    contexts: [{ name: 'simulated', context: { cluster: 'simulated', user: 'nobody' } }],
  }
}
