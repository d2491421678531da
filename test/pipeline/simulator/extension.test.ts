import assert from 'node:assert/strict'
import { createVirtualClock } from '../../../pipeline/clock/virtual-clock.ts'
import { createNetwork } from '../../../pipeline/http/network.ts'
import type { ConfigOf } from '../../../pipeline/component.ts'
import { validatorFor } from '../../../pipeline/config/validator.ts'
import { simulator } from '../../../pipeline/simulator/extension.ts'
import { simulatorConfig } from '../../../pipeline/simulator/simulator-config.ts'
import { testHost } from '../../support/test-host.ts'
import { START_MS, startTestSimulation } from './test-simulation.ts'

type Config = ConfigOf<typeof simulatorConfig>

function complete(config: Record<string, unknown>): Config {
  const value = structuredClone(config)
  assert.deepEqual(validatorFor(simulatorConfig)(value), [])
  return value as unknown as Config
}

describe('the extension simulator', () => {
  it('serves everything at one address, and each node at a port of its own', async () => {
    const simulation = await startTestSimulation({ node_ports: true })
    try {
      assert.equal(simulation.nodeAddresses.length, 4)
      const text = await simulation.text('/nodes/node-2/metrics')
      assert.equal(await (await fetch(`http://${simulation.nodeAddresses[2]}/metrics`)).text(), text)
      const kubelet = await simulation.text('/nodes/node-2/metrics/resource')
      assert.equal(await (await fetch(`http://${simulation.nodeAddresses[2]}/metrics/resource`)).text(), kubelet)
      for (const path of [
        '/nodes/node-4/metrics',
        '/nodes/node-4/metrics/cadvisor',
        '/nodes/node-0',
        '/nodes/node-0/metrics/probes',
        '/nodes/node-0/node-exporter',
        '/kube-state-metrics/0',
        '/',
      ]) {
        assert.equal((await fetch(`http://${simulation.address}${path}`)).status, 404, path)
      }
      assert.equal(await simulation.text('/nodes/node-0/health'), 'OK')
      for (const face of simulation.faces)
        for (const path of face.paths()) assert.ok((await simulation.text(path)).length > 100)
    } finally {
      await simulation.end()
    }
  })

  it('answers like a Go program: text without a length', async () => {
    const simulation = await startTestSimulation()
    try {
      const exporter = await fetch(`http://${simulation.address}/nodes/node-0/metrics`)
      assert.equal(exporter.headers.get('content-type'), 'text/plain; charset=utf-8')
      assert.equal(exporter.headers.get('content-length'), null)
      assert.equal(exporter.headers.get('transfer-encoding'), 'chunked')
      const kubeState = await fetch(`http://${simulation.address}/kube-state-metrics/metrics`)
      assert.equal(kubeState.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8')
      const text = await kubeState.text()
      const accept = 'application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5'
      const openMetrics = await fetch(kubeState.url, { headers: { accept } })
      assert.equal(
        openMetrics.headers.get('content-type'),
        'application/openmetrics-text; version=1.0.0; charset=utf-8',
      )
      assert.equal(await openMetrics.text(), `${text}# EOF\n`)
      await exporter.text()
    } finally {
      await simulation.end()
    }
  })

  it('compresses where real servers do, for those who want it', async () => {
    const simulation = await startTestSimulation()
    const encodingOf = async (path: string, encoding: string): Promise<[string | null, string]> => {
      const url = `http://${simulation.address}${path}`
      const response = await fetch(url, { headers: { 'accept-encoding': encoding } })
      return [response.headers.get('content-encoding'), await response.text()]
    }
    try {
      for (const path of [
        '/nodes/node-0/metrics/resource',
        '/nodes/node-0/metrics/cadvisor',
        '/nodes/node-0/node-exporter/metrics',
        '/nodes/node-0/runai-node-exporter/metrics',
      ]) {
        const [encoding, text] = await encodingOf(path, 'gzip')
        assert.equal(encoding, 'gzip')
        assert.deepEqual(await encodingOf(path, 'identity'), [null, text])
      }
      for (const path of ['/nodes/node-0/metrics', '/kube-state-metrics/metrics'])
        assert.equal((await encodingOf(path, 'gzip'))[0], null)
    } finally {
      await simulation.end()
    }
  })

  it('has kube-state-metrics of version 1 where it is told to', async () => {
    const simulation = await startTestSimulation({ kube_state_metrics: { version: 1 } })
    try {
      const headers = { accept: 'application/openmetrics-text;version=1.0.0' }
      const response = await fetch(`http://${simulation.address}/kube-state-metrics/metrics`, { headers })
      assert.equal(response.headers.get('content-type'), 'text/plain; version=0.0.4')
      assert.match(await response.text(), /^kube_pod_container_resource_requests_cpu_cores\{/m)
    } finally {
      await simulation.end()
    }
  })

  it('gives the same bytes for the same seed and time at every path, whenever in the hour it was started', async () => {
    const config = { nodes: 3, seed: 7, generation: 'mixed', kube_state_metrics: { shards: 2 } }
    const early = await startTestSimulation(config)
    const late = await startTestSimulation(config, START_MS + 40 * 60_000)
    try {
      await early.clock.advance(40 * 60_000)
      // Only `/api` tells the address of the server.
      const paths = early.faces.flatMap(face => face.paths()).filter(path => path !== '/api')
      for (const path of [...paths, '/api/v1/pods', '/apis/apps/v1/replicasets']) {
        assert.equal(await late.text(path), await early.text(path), path)
      }
    } finally {
      await Promise.all([early.end(), late.end()])
    }
  })

  it('has a clock of its own where it is told to', async () => {
    const simulation = await startTestSimulation({ start: '2030-01-01T00:00:00Z', speed: 60 })
    try {
      await simulation.clock.advance(60_000)
      const response = await fetch(`http://${simulation.address}/nodes/node-0/metrics`)
      assert.equal(response.headers.get('date'), new Date('2030-01-01T01:00:00Z').toUTCString())
      await response.text()
    } finally {
      await simulation.end()
    }
  })

  it('shows the same for ever if its clock stands', async () => {
    const simulation = await startTestSimulation({ speed: 0 })
    try {
      const before = await simulation.text('/nodes/node-0/metrics')
      await simulation.clock.advance(3_600_000)
      assert.equal(await simulation.text('/nodes/node-0/metrics'), before)
    } finally {
      await simulation.end()
    }
  })

  it('repeats readings between two samples of DCGM, and moves on with the next', async () => {
    const simulation = await startTestSimulation({ collect_interval: '30s' })
    const power = async (): Promise<string[]> =>
      (await simulation.text('/nodes/node-0/metrics')).match(/^DCGM_FI_DEV_POWER_USAGE.*$/gm)!
    try {
      const first = await power()
      await simulation.clock.advance(29_000)
      assert.deepEqual(await power(), first)
      await simulation.clock.advance(1000)
      assert.notDeepEqual(await power(), first)
    } finally {
      await simulation.end()
    }
  })

  it('starts and stops as components do, and says where it is', async () => {
    const clock = createVirtualClock(START_MS)
    const network = createNetwork(clock)
    const host = testHost({ clock, network })
    const service = { version: '0', state: () => 'running', components: () => [] }
    const extension = simulator.create(complete({ endpoint: '127.0.0.1:0' }), { ...host, service } as never)
    await extension.stop!(0)
    await extension.start!()
    const url = extension.describe!()
    assert.match(url, /^http:\/\/127\.0\.0\.1:\d+\/nodes\/node-0\/metrics$/)
    assert.equal((await fetch(url)).status, 200)
    await extension.stop!(clock.monotonic())
    await extension.stop!(clock.monotonic())
    await assert.rejects(fetch(url))
    await network.close()
  })

  it('names every address that it listens on, and what is wrong with its config', () => {
    const addresses = (config: Record<string, unknown>): string[] =>
      simulator.listens!(complete(config)).map(({ address }) => address)
    assert.deepEqual(addresses({ nodes: 2 }), ['127.0.0.1:19400', '127.0.0.1:19401', '127.0.0.1:19402'])
    assert.deepEqual(addresses({ nodes: 17 }), ['127.0.0.1:19400'])
    const problems = (config: Record<string, unknown>): unknown => simulator.check!(complete(config))
    assert.deepEqual(problems({}), [])
    assert.deepEqual(problems({ kubernetes_api: { tokens: [{ token: 'a' }, { token: 'a' }] } }), [
      {
        path: ['kubernetes_api', 'tokens', 1, 'token'],
        message: 'token 2 is the same as token 1: whose it is could not be told',
      },
    ])
    assert.deepEqual(problems({ faults: [{ kind: 'deny' }, { kind: 'slow', verbs: ['get'] }] }), [
      {
        path: ['faults', 0, 'face'],
        message: '`deny` is a fault of the Kubernetes API: it needs `face: kubernetes_api`, not dcgm_exporter',
      },
      { path: ['faults', 1, 'verbs'], message: 'verbs are for the fault `deny`, not for `slow`' },
    ])
    assert.deepEqual(problems({ start: 'yesterday' }), [
      { path: ['start'], message: '"yesterday" is not a moment such as 2026-01-31T08:00:00Z' },
    ])
    assert.deepEqual(problems({ endpoint: '127.0.0.1:65530', nodes: 8 }), [
      { path: ['nodes'], message: '8 nodes do not all get a port after 65530' },
    ])
  })
})
