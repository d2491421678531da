/**
 * The roll-ups of gpucol beside those of a real Prometheus, which scrapes the same simulated cluster and computes them by rules of its
 * own (`roll-up-truth/rules.yaml`). Every series is equal, none is missing, none is surplus.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse, stringify } from 'yaml'
import {
  eventually,
  freePorts,
  freePortsInARow,
  get,
  root,
  startGpucol,
  startProcess,
  type GpucolProcess,
} from '../support/gpucol-process.ts'
import { programOrSkip } from '../support/programs.ts'
import { HostPages, hostTargets, prometheusConfig, truth } from './roll-up-truth/engine.ts'
import { toldOfObjects } from './roll-up-truth/told.ts'
import { differences, lineOf, samplesOf, type Sample } from './roll-up-truth/samples.ts'

const NODES = 4
const TOLERANCE = 1e-9

/** What PromQL cannot say, or not at the same moment, and who shows it instead. */
const NOT_COMPARED: Readonly<Record<string, string>> = {
  runai_project_guaranteed_gpus: 'made of custom resources, which no exporter shows: golden/roll-up-quotas',
  runai_project_info: 'the same',
  runai_queue_info: 'the same',
  runai_run_time_seconds_per_workload: 'goes with the clock: below, by since when and until when pods ran',
  runai_wait_time_seconds_per_workload: 'the same',
  runai_last_gpu_utilization_time_per_gpu: 'the times of two scrapers differ: below, by what is busy',
  runai_last_gpu_utilization_time_per_workload: 'the same',
  runai_gpu_idle_seconds_per_workload: 'goes with the clock: below, by what is idle and since when',
}

/** Rates need time that goes. */
const RATES = ['runai_job_cpu_usage', 'runai_node_cpu_utilization', 'runai_cluster_cpu_utilization']

const METRICS = namesIn(readFileSync(join(root, 'configs/catalogs/runai-2.17.yaml'), 'utf8'))
const STARTED_MS = Date.now()

const SOURCES = ['ksm', 'api'] as const
type Source = (typeof SOURCES)[number]

type Cluster = { readonly seed: number; readonly start: string; readonly generation: string }

const CLUSTERS: readonly Cluster[] = [
  { seed: 1, start: '2026-01-31T08:00:00Z', generation: '4.8' },
  { seed: 2, start: '2026-03-02T17:20:10Z', generation: '4.8' },
  { seed: 3, start: '2026-01-31T08:41:30Z', generation: '3.3.5' },
  { seed: 4, start: '2026-06-15T12:00:00Z', generation: 'mixed' },
]

describe('roll-ups and rules of a real Prometheus', function () {
  this.timeout(180_000)
  let folder: string
  let own: Server
  let clock: 'stands' | 'goes' = 'stands'
  const hosts = new HostPages()
  let kubernetes = ''
  let ownAddress: string
  let running: GpucolProcess[] = []

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'gpucol-'))
    own = createServer(({ url }, response) => {
      const asked = `${kubernetes}${url}`
      const page = url === '/metrics' ? toldOfObjects(kubernetes) : clock === 'goes' ? hosts.page(asked) : get(asked)
      page.then(
        text => response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4' }).end(text),
        (error: unknown) => response.writeHead(500).end(String(error)),
      )
    })
    await new Promise<void>(resolve => own.listen(0, '127.0.0.1', resolve))
    ownAddress = `127.0.0.1:${(own.address() as AddressInfo).port}`
  })
  afterEach(async () => {
    for (const { child } of running) child.kill('SIGKILL')
    await Promise.all(running.map(({ ended }) => ended))
    running = []
  })
  after(() => {
    own.closeAllConnections()
    own.close()
    rmSync(folder, { recursive: true })
  })

  type Engines = Readonly<Record<Source | 'prometheus', string>>

  async function start(program: string, name: string, simulate: readonly string[]): Promise<Engines> {
    const port = await freePortsInARow(NODES + 1)
    const [prometheus, api, ksm] = (await freePorts(3)) as [number, number, number]
    kubernetes = `http://127.0.0.1:${port}`
    const simulator = startGpucol(['simulate', '--nodes', `${NODES}`, '--listen', `127.0.0.1:${port}`, ...simulate])
    running.push(simulator)
    await eventually(
      () => get(`${kubernetes}/version`),
      () => true,
    )
    const file = (suffix: string, text: string): string => {
      const path = join(folder, `${name}-${suffix}`)
      writeFileSync(path, text)
      return path
    }
    const kubeconfig = file('kubeconfig', stringify(kubeconfigOf(kubernetes)))
    running.push(
      startProcess(program, [
        `--config.file=${file('prometheus.yaml', prometheusConfig({ port, nodes: NODES, own: ownAddress, clock }))}`,
        `--storage.tsdb.path=${join(folder, `${name}-data`)}`,
        `--web.listen-address=127.0.0.1:${prometheus}`,
      ]),
      startGpucol([
        'run',
        '--config',
        file('api.yaml', stringify(gpucolConfig(port, api, ownAddress, { kubernetes_api: { kubeconfig } }))),
      ]),
      startGpucol([
        'run',
        '--config',
        file(
          'ksm.yaml',
          stringify(
            gpucolConfig(port, ksm, ownAddress, {
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
      clock = 'stands'
      const simulate = ['--seed', `${seed}`, '--start', moment, '--speed', '0', '--generation', generation]
      const engines = await start(program, `cluster-${seed}`, simulate)
      for (const source of SOURCES) {
        await agreement(
          engines,
          source,
          name => !RATES.includes(name),
          ({ ours, theirs }) => {
            checkTimes(ours, theirs)
            checkPhases(ours, theirs)
          },
        )
      }
    })

  it('agree on rates while time goes', async function () {
    const program = programOrSkip(this, 'prometheus')
    clock = 'goes'
    const engines = await start(program, 'moving', ['--seed', '5'])
    for (const source of SOURCES) {
      await agreement(
        engines,
        source,
        () => true,
        ({ ours }) => {
          for (const name of RATES)
            assert.ok(
              ours.some(sample => sample.name === name && sample.value > 0),
              name,
            )
        },
      )
    }
  })

  type Both = { readonly ours: readonly Sample[]; readonly theirs: readonly Sample[] }

  /** Waits until both say the same, and `check` likes it: rules are evaluated one after the other, so that the last may be behind. */
  async function agreement(
    engines: Engines,
    source: Source,
    isCompared: (name: string) => boolean,
    check: (both: Both) => void,
  ): Promise<void> {
    let left = ['nothing was compared']
    async function compare(): Promise<boolean> {
      const all = await truth(engines.prometheus)
      if (all === undefined) return false
      const theirs = all
        .filter(({ labels }) => labels['source'] === undefined || labels['source'] === source)
        .map(sample => ({ ...sample, labels: { ...sample.labels, source: '', clusterId: 'truth' } }))
      const ours = samplesOf(await get(engines[source]))
      const wanted = ({ name }: Sample): boolean =>
        name.startsWith('runai_') && !(name in NOT_COMPARED) && isCompared(name)
      const expected = theirs.filter(wanted)
      left = differences(ours.filter(wanted), expected, TOLERANCE)
      // A cluster of which the rules see little would agree with anything.
      for (const name of METRICS) {
        const isExempt = name in NOT_COMPARED || !isCompared(name)
        if (!isExempt && !expected.some(sample => sample.name === name)) left.push(`no rule makes ${name}`)
      }
      if (left.length > 0) return false
      try {
        check({ ours, theirs })
        return true
      } catch (error) {
        left = [(error as Error).message]
        return false
      }
    }
    const error = await eventually(compare, agrees => agrees, 60_000).catch((error: Error) => error)
    if (error instanceof Error) assert.fail(`${source}: ${error.message}\n${left.join('\n')}`)
  }
})

/** When something was last busy is when it was looked at; that it was is the same for everybody. */
function checkTimes(ours: readonly Sample[], theirs: readonly Sample[]): void {
  const named = (samples: readonly Sample[], name: string): Map<string, Sample> =>
    new Map(samples.filter(sample => sample.name === name).map(sample => [lineOf({ ...sample, name: '' }), sample]))
  const busyWorkloads = named(theirs, 'workload:busy')
  for (const [metric, busy] of [
    ['runai_last_gpu_utilization_time_per_gpu', named(theirs, 'gpu:busy')],
    ['runai_last_gpu_utilization_time_per_workload', busyWorkloads],
  ] as const) {
    const found = named(ours, metric)
    assert.deepEqual([...found.keys()].sort(), [...busy.keys()].sort(), metric)
    for (const { value, timeMs } of found.values()) assert.ok(value * 1000 <= timeMs! && value * 1000 > STARTED_MS)
  }
  const started = named(theirs, 'workload:started')
  const idle = named(ours, 'runai_gpu_idle_seconds_per_workload')
  assert.deepEqual([...idle.keys()].sort(), [...started.keys()].sort(), 'runai_gpu_idle_seconds_per_workload')
  for (const [line, { value, timeMs }] of idle) {
    const seconds = Math.floor((timeMs! / 1000 - started.get(line)!.value) / 30) * 30
    assert.equal(value, busyWorkloads.has(line) ? 0 : seconds, line)
  }
}

/** The time in which any pod of a workload was in a phase, up to the moment at which we say so. */
function checkPhases(ours: readonly Sample[], theirs: readonly Sample[]): void {
  for (const [metric, phase] of [
    ['runai_run_time_seconds_per_workload', 'ran'],
    ['runai_wait_time_seconds_per_workload', 'waited'],
  ] as const) {
    const found = ours.filter(({ name }) => name === metric)
    const nowSeconds = found[0]!.timeMs! / 1000
    const ends = new Map(
      theirs.filter(({ name }) => name === `pod:${phase}_to`).map(({ labels, value }) => [labels['pod_uuid'], value]),
    )
    const begins = theirs.filter(({ name }) => name === `pod:${phase}_from`)
    const expected = Array.from(Map.groupBy(begins, ofWorkload), ([line, pods]) => ({
      line,
      value: covered(pods.map(({ labels, value }) => [value, ends.get(labels['pod_uuid']) ?? nowSeconds])),
    })).filter(({ value }) => value > 0)
    assert.ok(expected.length > 5, `${metric}: ${expected.length} workloads`)
    assert.ok(
      expected.some(({ line }) => begins.filter(pod => ofWorkload(pod) === line).length > 1),
      `${metric}: no workload has several pods`,
    )
    const values = new Map(found.map(sample => [ofWorkload(sample), sample.value]))
    assert.deepEqual([...values.keys()].sort(), expected.map(({ line }) => line).sort(), metric)
    for (const { line, value } of expected) {
      assert.ok(
        Math.abs(values.get(line)! - value) <= TOLERANCE * value,
        `${metric}${line}: ${values.get(line)}, not ${value}`,
      )
    }
  }
}

function ofWorkload({ labels: { clusterId = '', workload_id = '', workload_name = '' } }: Sample): string {
  return lineOf({ name: '', labels: { clusterId, workload_id, workload_name }, value: 0 })
}

/** How long at least one of these lasts. */
function covered(stretches: readonly (readonly [from: number, to: number])[]): number {
  const edges = [...new Set(stretches.flat())].sort((a, b) => a - b)
  const isCovered = (from: number, to: number): boolean => stretches.some(([a, b]) => a <= from && to <= b)
  return edges.slice(1).reduce((sum, to, i) => sum + (isCovered(edges[i]!, to) ? to - edges[i]! : 0), 0)
}

const OFTEN = { scrape_interval: '1s', scrape_timeout: '900ms' }

function gpucolConfig(port: number, endpoint: number, own: string, cluster: object): object {
  const addresses = Array.from({ length: NODES }, (_, i) => `127.0.0.1:${port + 1 + i}`)
  const scrape_configs = [
    { job_name: 'node-exporter', ...OFTEN, static_configs: hostTargets(own, NODES) },
    {
      job_name: 'runai-node-exporter',
      ...OFTEN,
      honor_labels: true,
      metrics_path: '/runai-node-exporter/metrics',
      static_configs: [{ targets: addresses }],
    },
  ]
  return {
    receivers: {
      dcgm: { ...OFTEN, static_targets: addresses.map(address => `http://${address}/metrics`) },
      kubelet: { ...OFTEN, static_targets: addresses.map(address => `http://${address}`) },
      prometheus: { config: { scrape_configs } },
      ...cluster,
    },
    processors: {
      normalize: {},
      join_workload: {},
      roll_up: { catalog: 'runai-2.17', interval: '1s', cluster_id: 'truth' },
      relabel: { rules: [{ action: 'keep', source_labels: ['__name__'], regex: 'runai_.*' }] },
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

function namesIn(catalog: string): string[] {
  const { metrics } = parse(catalog) as { metrics: { metric: string }[] }
  return metrics.map(({ metric }) => metric)
}
