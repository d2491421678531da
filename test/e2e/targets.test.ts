/** The pulling receivers in front of a simulated cluster, as `/targets` shows them. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stringify } from 'yaml'
import {
  eventually,
  freePorts,
  freePortsInARow,
  get,
  startGpucol,
  type GpucolProcess,
} from '../support/gpucol-process.ts'

type Target = { receiver: string; url: string; state: string; labels: Record<string, string>; error?: string }
type Answer = { targets: Target[]; dropped: { receiver: string; reason: string }[]; dropped_count: number }

describe('targets of a simulated cluster', function () {
  this.timeout(60_000)
  let gpucol: GpucolProcess | undefined
  const folder = mkdtempSync(join(tmpdir(), 'gpucol-'))

  after(async () => {
    gpucol?.child.kill('SIGKILL')
    await gpucol?.ended
    rmSync(folder, { recursive: true })
  })

  it('are scraped by dcgm, kube_state_metrics and kubelet, and come and go with a file', async () => {
    const simulator = await freePortsInARow(3)
    const [web, metrics] = (await freePorts(2)) as [number, number]
    const nodes = [1, 2].map(node => `127.0.0.1:${simulator + node}`)
    const list = join(folder, 'nodes.yml')
    const write = (...targets: string[]): void => writeFileSync(list, stringify([{ targets, labels: { rack: 'r1' } }]))
    write(...nodes, '127.0.0.1:1', 'spare:1')
    const times = { scrape_interval: '1s', scrape_timeout: '1s' }
    const config = {
      receivers: {
        dcgm: {
          ...times,
          file_sd: { files: [list], refresh_interval: '500ms' },
          relabel_configs: [{ source_labels: ['__address__'], regex: 'spare:.*', action: 'drop' }],
        },
        kube_state_metrics: { ...times, static_targets: [`127.0.0.1:${simulator}/kube-state-metrics/metrics`] },
        kubelet: { ...times, scheme: 'http', static_targets: nodes },
      },
      exporters: { prometheus: { endpoint: `127.0.0.1:${metrics}` } },
      extensions: {
        web: { endpoint: `127.0.0.1:${web}` },
        simulator: { nodes: 2, endpoint: `127.0.0.1:${simulator}` },
      },
      service: {
        extensions: ['simulator', 'web'],
        pipelines: { metrics: { receivers: ['dcgm', 'kube_state_metrics', 'kubelet'], exporters: ['prometheus'] } },
        telemetry: { metrics: { address: 'none' } },
      },
    }
    writeFileSync(join(folder, 'gpucol.yaml'), stringify(config))
    gpucol = startGpucol(['run', '--config', join(folder, 'gpucol.yaml')])
    await gpucol.until(/is running/)

    const targets = async (): Promise<Answer> => JSON.parse(await get(`http://127.0.0.1:${web}/targets`)) as Answer
    const first = await eventually(targets, answer => answer.targets.every(({ state }) => state !== 'unknown'))
    const [a, b] = nodes
    assert.deepEqual(
      first.targets.map(({ receiver, url, state }) => `${receiver} ${url} ${state}`),
      [
        `dcgm http://${a}/metrics up`,
        `dcgm http://${b}/metrics up`,
        'dcgm http://127.0.0.1:1/metrics down',
        `kube_state_metrics http://127.0.0.1:${simulator}/kube-state-metrics/metrics up`,
        `kubelet http://${a}/metrics/resource up`,
        `kubelet http://${a}/metrics/cadvisor up`,
        `kubelet http://${b}/metrics/resource up`,
        `kubelet http://${b}/metrics/cadvisor up`,
      ],
    )
    assert.equal(first.targets[2]!.error, 'connection refused by 127.0.0.1:1')
    assert.deepEqual(first.targets[0]!.labels, { instance: a, job: 'dcgm', rack: 'r1' })
    assert.deepEqual(
      first.dropped.map(({ receiver, reason }) => [receiver, reason]),
      [['dcgm', 'relabel_configs drop it']],
    )

    const text = await get(`http://127.0.0.1:${metrics}/metrics`)
    assert.match(text, /^DCGM_FI_DEV_GPU_TEMP\{.*rack="r1".*\} /m)
    assert.match(text, /^kube_pod_status_phase\{/m)
    assert.doesNotMatch(text, /^kube_pod_container_status_/m)
    assert.match(
      text,
      /^container_memory_working_set_bytes\{container="[^"]+",id=.*metrics_path="\/metrics\/cadvisor"/m,
    )
    assert.doesNotMatch(text, /^container_memory_working_set_bytes\{id=/m)

    write(a!)
    const second = await eventually(targets, answer => answer.targets.length === 6)
    assert.deepEqual([second.targets[0]!.state, second.dropped_count], ['up', 0])
    const after = await get(`http://127.0.0.1:${metrics}/metrics`)
    assert.ok(!after.includes(`up{instance="${b}",job="dcgm"`))
    assert.ok(!after.includes('127.0.0.1:1"'))
  })
})
