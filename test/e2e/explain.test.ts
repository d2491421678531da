/** `gpucol explain` against a running gpucol that reads a simulated cluster over real HTTP: it says what the metrics show. */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eventually, freePorts, get, root, startGpucol, type GpucolProcess } from '../support/gpucol-process.ts'

type Answer = {
  outcome: string
  devices: { id: string }[]
  joined: { pipelines: string[]; labels: { name: string; value: string | null; because: string }[] }[]
}

describe('gpucol explain and a simulated cluster', function () {
  this.timeout(60_000)
  let gpucol: GpucolProcess | undefined
  const folder = mkdtempSync(join(tmpdir(), 'gpucol-'))

  after(async () => {
    gpucol?.child.kill('SIGKILL')
    await gpucol?.ended
    rmSync(folder, { recursive: true })
  })

  it('names the labels and devices that the metrics have', async () => {
    const [simulator, web, prometheus] = (await freePorts(3)) as [number, number, number]
    const kubeconfig = join(folder, 'kubeconfig')
    const example = readFileSync(join(root, 'configs/examples/demo.kubeconfig'), 'utf8')
    writeFileSync(kubeconfig, example.replace('127.0.0.1:19400', `127.0.0.1:${simulator}`))
    const config = join(folder, 'config.yaml')
    writeFileSync(
      config,
      `extensions:
  simulator: { nodes: 1, gpus_per_node: 8, endpoint: 127.0.0.1:${simulator}, node_ports: false }
  web: { endpoint: 127.0.0.1:${web} }
receivers:
  dcgm:
    scrape_interval: 1s
    scrape_timeout: 900ms
    static_targets: [http://127.0.0.1:${simulator}/nodes/node-0/metrics]
  kubernetes_api: { kubeconfig: ${JSON.stringify(kubeconfig)} }
processors: { normalize: , join_workload: }
exporters: { prometheus: { endpoint: 127.0.0.1:${prometheus} } }
service:
  extensions: [simulator, web]
  telemetry: { metrics: { address: none } }
  pipelines:
    metrics: { receivers: [dcgm, kubernetes_api], processors: [normalize, join_workload], exporters: [prometheus] }
`,
    )
    gpucol = startGpucol(['run', '--config', config])
    await gpucol.until(/is running/)
    const [row] = await eventually(
      async () =>
        (await get(`http://127.0.0.1:${prometheus}/metrics`)).match(/^hw_gpu_utilization\{.*workload_name=.*$/gm) ?? [],
      rows => rows.length > 0,
    )
    const labels = new Map(Array.from(row!.matchAll(/(\w+)="([^"]*)"/g), ([, name, value]) => [name!, value!]))

    const pod = `${labels.get('namespace')}/${labels.get('pod')}`
    const address = `127.0.0.1:${web}`
    const asked = startGpucol(['explain', pod, '--address', address, '--output', 'json'])
    assert.equal(await asked.ended, 0, asked.output())
    const { outcome, devices, joined } = JSON.parse(asked.output()) as Answer
    assert.equal(outcome, 'found')
    assert.ok(devices.some(({ id }) => id === labels.get('UUID')))
    assert.deepEqual(joined[0]!.pipelines, ['metrics'])
    for (const { name, value } of joined[0]!.labels) assert.equal(value ?? undefined, labels.get(name), name)

    const told = startGpucol(['explain', pod, '--address', address])
    assert.equal(await told.ended, 0, told.output())
    assert.ok(told.output().startsWith(`Pod ${pod}\n  known from the Kubernetes API: uid ${labels.get('pod_uuid')}`))
  })
})
