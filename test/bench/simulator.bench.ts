/**
 * What the simulated cluster costs while it is scraped: a benchmark that uses it must know how much of the machine is left.
 *
 * The cluster runs in a process of its own; this one only reads what it sends.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { Agent, get } from 'node:http'
import { createSystemClock } from '../../pipeline/clock/system-clock.ts'
import { createNetwork } from '../../pipeline/http/network.ts'
import { startSimulation } from '../../pipeline/simulator/simulation.ts'
import { print } from './measure.ts'

const NODES = 1000
const CYCLES = 5

type Message = { address: string } | { cpuMs: number }

if (process.argv[2] === 'serve') await serve()
else await measureServer()

async function serve(): Promise<void> {
  const clock = createSystemClock()
  const everything = { pods: ['*'], nodes: ['*'], namespaces: ['*'] }
  const { address } = await startSimulation(
    {
      nodes: NODES,
      gpusPerNode: 8,
      seed: 7,
      endpoint: '127.0.0.1:0',
      nodePorts: false,
      // Fast, so that every scrape finds other values.
      speed: 15,
      dcgmExporter: { generation: '4.8', collectIntervalMs: 10_000 },
      kubeStateMetrics: { shards: 1, labels: everything, annotations: everything },
      kubernetesApi: { streamingLists: false },
      faults: [],
    },
    { clock, network: createNetwork(clock) },
  )
  process.on('message', () => process.send!({ cpuMs: cpuMs() } satisfies Message))
  process.send!({ address } satisfies Message)
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

async function measureServer(): Promise<void> {
  const server = fork(import.meta.filename, ['serve'])
  const [{ address }] = (await once(server, 'message')) as [{ address: string }]
  const serverCpuMs = async (): Promise<number> => {
    const answer = once(server, 'message') as Promise<[{ cpuMs: number }]>
    server.send('cpu')
    return (await answer)[0].cpuMs
  }
  const agent = new Agent({ keepAlive: true, maxSockets: 16 })
  const nodes = (path: string): string[] => Array.from({ length: NODES }, (_, index) => `/nodes/node-${index}${path}`)
  const cases = {
    'dcgm-exporter': nodes('/metrics'),
    'kube-state-metrics': ['/kube-state-metrics/metrics'],
    'kubelet (resource)': nodes('/metrics/resource'),
    'kubelet (cadvisor)': nodes('/metrics/cadvisor'),
    'node-exporter': nodes('/node-exporter/metrics'),
    'runai-node-exporter': nodes('/runai-node-exporter/metrics'),
  }
  for (const [name, paths] of Object.entries(cases)) {
    let bytes = 0
    let usedMs = 0
    for (let cycle = -1; cycle < CYCLES; cycle++) {
      const beforeMs = await serverCpuMs()
      const sizes = await Promise.all(paths.map(path => download(`http://${address}${path}`, agent)))
      // The first cycle warms up.
      if (cycle < 0) continue
      usedMs += (await serverCpuMs()) - beforeMs
      for (const size of sizes) bytes += size
    }
    print(`simulated ${name} of ${NODES} nodes, size`, bytes / CYCLES / 1e6, 'MB')
    print(`simulated ${name}, CPU of the server`, usedMs / (bytes / 1e6), 'ms per MB')
    print(`simulated ${name}, CPU of the server`, usedMs / CYCLES, 'ms per scrape of everything')
  }
  server.kill()
}

function download(url: string, agent: Agent): Promise<number> {
  return new Promise((resolve, reject) => {
    get(url, { agent }, response => {
      let bytes = 0
      response.on('data', (chunk: Buffer) => (bytes += chunk.length))
      response.on('end', () => resolve(bytes))
      response.on('error', reject)
    }).on('error', reject)
  })
}
