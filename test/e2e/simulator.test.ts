/** The simulated cluster in front of programs that know nothing of it: a real Prometheus and an independent Kubernetes client. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
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

/** What of the independent client is used here. Its own types do not compile without those of packages that nobody needs. */
type Client = { KubeConfig: new () => KubeConfig; CoreV1Api: unknown; Watch: new (config: KubeConfig) => Watch }
type KubeConfig = {
  loadFromClusterAndUser(
    cluster: { name: string; server: string; skipTLSVerify: boolean },
    user: { name: string },
  ): void
  makeApiClient(api: unknown): Record<'listNode' | 'listPodForAllNamespaces', (parameters?: object) => Promise<List>>
}
type Watch = {
  watch(
    path: string,
    query: Record<string, string>,
    event: (type: string) => void,
    done: () => void,
  ): Promise<AbortController>
}
type List = {
  items: { metadata: { uid: string } }[]
  metadata: { resourceVersion: string; _continue?: string }
}

const CLIENT: string = '@kubernetes/client-node'

type Target = { readonly lastError: string; readonly health: string; readonly scrapeUrl: string }

const NODES = 8

describe('the simulated cluster', function () {
  this.timeout(60_000)
  const processes: GpucolProcess[] = []
  const folder = mkdtempSync(join(tmpdir(), 'gpucol-'))
  let address: string

  beforeEach(async () => {
    // Every node has a port of its own behind the common one.
    const port = await freePortsInARow(1 + NODES)
    address = `127.0.0.1:${port}`
    const args = [
      '--nodes',
      String(NODES),
      '--seed',
      '7',
      '--listen',
      address,
      '--generation',
      'mixed',
      '--shards',
      '2',
    ]
    const simulator = startGpucol(['simulate', ...args, '--speed', '60'])
    processes.push(simulator)
    await simulator.until(/To collect from it/)
  })
  afterEach(async () => {
    for (const { child } of processes) child.kill('SIGKILL')
    await Promise.all(processes.splice(0).map(({ ended }) => ended))
  })
  after(() => rmSync(folder, { recursive: true }))

  it('is scraped by a real Prometheus without a complaint', async function () {
    const program = programOrSkip(this, 'prometheus')
    const paths = [
      ...Array.from({ length: NODES }, (_, node) => `/nodes/node-${node}/metrics`),
      '/kube-state-metrics/0/metrics',
      '/kube-state-metrics/1/metrics',
      '/nodes/node-0/metrics/resource',
      '/nodes/node-0/metrics/cadvisor',
      '/nodes/node-0/node-exporter/metrics',
      '/nodes/node-0/runai-node-exporter/metrics',
    ]
    const jobs = paths.map(
      (path, at) =>
        // The clock of the cluster runs fast: what it stamps would soon be too far in the future.
        `  - { job_name: j${at}, honor_labels: true, honor_timestamps: false, metrics_path: ${path}, static_configs: [{ targets: ['${address}'] }] }\n`,
    )
    const config = join(folder, 'prometheus.yml')
    writeFileSync(config, `global: { scrape_interval: 1s, scrape_timeout: 1s }\nscrape_configs:\n${jobs.join('')}`)
    const [port] = await freePorts(1)
    const prometheus = startProcess(program, [
      `--config.file=${config}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ])
    processes.push(prometheus)
    const api = `http://127.0.0.1:${port}/api/v1`
    const targets = await eventually(
      async () => (JSON.parse(await get(`${api}/targets`)) as { data: { activeTargets: Target[] } }).data.activeTargets,
      active => active.length === paths.length && active.every(({ health }) => health === 'up'),
    )
    assert.deepEqual(new Set(targets.map(({ lastError }) => lastError)), new Set(['']))
    const query = async (text: string): Promise<number> => {
      const answer = JSON.parse(await get(`${api}/query?query=${encodeURIComponent(text)}`)) as {
        data: { result: { value: [number, string] }[] }
      }
      return Number(answer.data.result[0]?.value[1] ?? 0)
    }
    await eventually(
      () =>
        query(
          'count(count by (uuid) (label_replace({__name__=~"DCGM_FI_DEV_(POWER_USAGE|BOARD_POWER_WATTS)|dcgm_power_usage"}, "uuid", "$1", "UUID", "(.+)")))',
        ),
      gpus => gpus === 8 * NODES,
    )
    assert.ok((await query('count(kube_pod_info)')) > NODES)
    await eventually(
      () => query('rate(node_cpu_usage_seconds_total[10s])'),
      rate => rate > 0,
    )
    assert.ok((await query('count(node_cpu_seconds_total)')) > 100)
    assert.doesNotMatch(prometheus.output(), /level=(?:WARN|ERROR|warn|error).*(?:scrape|sample|append|ingest)/i)
  })

  it('is listed, page by page, and watched by an independent Kubernetes client', async () => {
    const { KubeConfig, CoreV1Api, Watch } = (await import(CLIENT)) as Client
    const kubeConfig = new KubeConfig()
    kubeConfig.loadFromClusterAndUser(
      { name: 'simulated', server: `http://${address}`, skipTLSVerify: true },
      { name: 'anybody' },
    )
    const core = kubeConfig.makeApiClient(CoreV1Api)
    assert.equal((await core.listNode()).items.length, NODES)
    const pods = new Set<string>()
    let page = await core.listPodForAllNamespaces({ limit: 10 })
    const version = page.metadata.resourceVersion
    for (;;) {
      for (const pod of page.items) pods.add(pod.metadata.uid)
      const { _continue: token } = page.metadata
      if (token === undefined || token === '') break
      page = await core.listPodForAllNamespaces({ limit: 10, _continue: token })
    }
    assert.ok(pods.size > 2 * NODES)

    const seen: string[] = []
    const abort = await new Watch(kubeConfig).watch(
      '/api/v1/pods',
      { resourceVersion: version },
      type => void seen.push(type),
      () => {},
    )
    await eventually(
      () => Promise.resolve(new Set(seen)),
      types => types.has('ADDED') && types.has('MODIFIED') && types.has('DELETED'),
    )
    abort.abort()
  })
})
