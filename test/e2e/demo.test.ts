/** The demo as a newcomer meets it, and a real Prometheus in front of it. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
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

/** The demo on ports of its own, so that the tests run beside a demo. */
async function demo(
  folder: string,
): Promise<{ args: string[]; metrics: string; own: string; health: string; web: string }> {
  const simulator = await freePortsInARow(5)
  const [prometheus, own, health, web] = (await freePorts(4)) as [number, number, number, number]
  const config = join(folder, `demo-${simulator}.yaml`)
  const text = readFileSync(join(root, 'configs/examples/demo.yaml'), 'utf8')
  writeFileSync(
    config,
    text
      .replaceAll(/127\.0\.0\.1:194(\d\d)/g, (_, port) => `127.0.0.1:${simulator + Number(port)}`)
      .replaceAll('interval: 5s', 'interval: 1s')
      .replaceAll('scrape_timeout: 4s', 'scrape_timeout: 900ms'),
  )
  const kubeconfig = join(folder, `kubeconfig-${simulator}`)
  const example = readFileSync(join(root, 'configs/examples/demo.kubeconfig'), 'utf8')
  writeFileSync(kubeconfig, example.replace('127.0.0.1:19400', `127.0.0.1:${simulator}`))
  const settings = {
    'receivers.kubernetes_api.kubeconfig': kubeconfig,
    'exporters.prometheus.endpoint': `127.0.0.1:${prometheus}`,
    'extensions.health_check.endpoint': `127.0.0.1:${health}`,
    'extensions.web.endpoint': `127.0.0.1:${web}`,
    'extensions.simulator.endpoint': `127.0.0.1:${simulator}`,
    'service.telemetry.metrics.address': `127.0.0.1:${own}`,
  }
  const set = Object.entries(settings).flatMap(([key, value]) => ['--set', `${key}=${value}`])
  return {
    args: ['run', '--config', config, ...set],
    metrics: `http://127.0.0.1:${prometheus}/metrics`,
    own: `http://127.0.0.1:${own}/metrics`,
    health: `http://127.0.0.1:${health}`,
    web: `http://127.0.0.1:${web}`,
  }
}

/** The metrics that the demo's catalog publishes. */
function publishedNames(): string[] {
  const catalog = readFileSync(join(root, 'configs/catalogs/runai-2.17.yaml'), 'utf8')
  return Array.from(catalog.matchAll(/^ {2}- metric: (\w+)$/gm), ([, name]) => name!)
}

function gpusIn(text: string): number {
  return new Set(Array.from(text.matchAll(/^DCGM_.*[{,]UUID="([^"]+)"/gm), ([, uuid]) => uuid)).size
}

describe('the demo', function () {
  this.timeout(60_000)
  let gpucol: GpucolProcess | undefined
  let prometheus: GpucolProcess | undefined
  const folder = mkdtempSync(join(tmpdir(), 'gpucol-'))

  afterEach(async () => {
    gpucol?.child.kill('SIGKILL')
    prometheus?.child.kill('SIGKILL')
    await Promise.all([gpucol?.ended, prometheus?.ended])
  })
  after(() => rmSync(folder, { recursive: true }))

  it('shows the metrics of 32 GPUs, says where, and ends cleanly at Ctrl-C', async () => {
    const { args, metrics, own, health } = await demo(folder)
    gpucol = startGpucol(args)
    await gpucol.until(/is running/)
    assert.match(
      gpucol.output(),
      /dcgm \(4 targets every 1s\), kubelet .* kubernetes_api \(.*\) -> normalize -> join_workload -> roll_up .* prometheus \(http:\/\/127\.0\.0\.1:\d+\/metrics\)/,
    )
    await eventually(
      () => get(metrics),
      text => gpusIn(text) === 32,
    )
    // Every GPU whose row names a pod knows the workload of that pod, or that it only reserves the GPU for others. A pod that has just
    // come may lack what its owner decides.
    await eventually(
      async () => (await get(metrics)).match(/^DCGM_FI_DEV_POWER_USAGE\{.*[{,]pod=".*$/gm) ?? [],
      found =>
        found.length > 10 &&
        found.every(row =>
          /namespace="(runai|kai-resource)-reservation".*nodepool="\w|project="\w.*workload_name="\w/.test(row),
        ),
    )
    await eventually(
      () => get(metrics),
      shown => publishedNames().every(name => shown.includes(`\n${name}{`)),
    )
    assert.match(await get(own), /gpucol_exporter_sent_metric_points_total/)
    assert.equal((await fetch(`${health}/readyz`)).status, 200)
    gpucol.child.kill('SIGINT')
    assert.equal(await gpucol.ended, 0)
    assert.match(gpucol.output(), /stopped\n$/)
  })

  it('ends at once at the second Ctrl-C', async () => {
    const { args } = await demo(folder)
    gpucol = startGpucol(args)
    await gpucol.until(/is running/)
    gpucol.child.kill('SIGINT')
    gpucol.child.kill('SIGINT')
    assert.ok([0, 130].includes((await gpucol.ended) as number))
  })

  it('is scraped by a real Prometheus without a complaint', async function () {
    const program = programOrSkip(this, 'prometheus')
    const promtool = programOrSkip(this, 'promtool')
    const { args, metrics, own } = await demo(folder)
    gpucol = startGpucol(args)
    await gpucol.until(/is running/)
    // All that the demo shows, so that it does not depend on the speed of the machine what promtool sees.
    const text = await eventually(
      () => get(metrics),
      shown => gpusIn(shown) === 32 && publishedNames().every(name => shown.includes(`\n${name}{`)),
    )

    const [port] = await freePorts(1)
    const config = join(folder, 'prometheus.yml')
    writeFileSync(
      config,
      `global: { scrape_interval: 1s, scrape_timeout: 1s }
scrape_configs:
  - { job_name: gpucol, honor_labels: true, static_configs: [{ targets: ['${new URL(metrics).host}'] }] }
  - { job_name: own, static_configs: [{ targets: ['${new URL(own).host}'] }] }
`,
    )
    prometheus = startProcess(program, [
      `--config.file=${config}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ])
    const api = `http://127.0.0.1:${port}/api/v1`
    const targets = await eventually(
      async () => (JSON.parse(await get(`${api}/targets`)) as Targets).data.activeTargets,
      active => active.length === 2 && active.every(target => target.health === 'up'),
    )
    assert.deepEqual(
      targets.map(target => target.lastError),
      ['', ''],
    )
    const count = await eventually(
      () => query(api, 'count(count by (UUID) ({__name__=~"DCGM_.*",UUID!=""}))'),
      value => value === '32',
    )
    assert.equal(count, '32')
    assert.equal(await query(api, 'min(up{job=~"own|dcgm"})'), '1')

    assert.deepEqual(complaints(promtool, await get(own)), [])
    assert.deepEqual(
      complaints(promtool, text).filter(line => !SOURCE_FIXES.some(known => known.test(line))),
      [],
    )
  })
})

/** What promtool says about names and labels that dcgm-exporter and Run:ai fix. */
const SOURCE_FIXES = [
  /^(DCGM|runai)_\w+ label names should be written in 'snake_case' not 'camelCase'$/,
  /^DCGM_FI_DEV_(UN)?CORRECTABLE_REMAPPED_ROWS counter metrics should have "_total" suffix$/,
  /^DCGM_FI_DEV_(NVLINK_BANDWIDTH_TOTAL|TOTAL_ENERGY_CONSUMPTION|PCIE_REPLAY_COUNTER) counter metrics should have "_total" suffix$/,
  /^DCGM_FI_DEV_PCIE_REPLAY_COUNTER metric name should not include type 'counter'$/,
  /^runai_mig_mode_gpu_count non-histogram and non-summary metrics should not have "_count" suffix$/,
  /^runai_requested_gpu_memory_mb_per_workload metric names should not contain abbreviated units$/,
]

type Targets = { data: { activeTargets: { health: string; lastError: string }[] } }

async function query(api: string, expression: string): Promise<string | undefined> {
  const answer = JSON.parse(await get(`${api}/query?query=${encodeURIComponent(expression)}`)) as {
    data: { result: { value: [number, string] }[] }
  }
  return answer.data.result[0]?.value[1]
}

function complaints(promtool: string, text: string): string[] {
  const { stdout, stderr } = spawnSync(promtool, ['check', 'metrics'], { input: text, encoding: 'utf8' })
  return `${stdout}${stderr}`.split('\n').filter(line => line !== '')
}
