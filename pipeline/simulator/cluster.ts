/** The simulated cluster: what it is at a moment depends on the seed, the size and that moment, and on nothing else. */
import type { Device } from './gpu.ts'
import type { Sharing } from './hardware.ts'
import { makeNode, type SimulatedNode } from './node.ts'
import type { Pod } from './pod.ts'
import { createRandom, type Random } from './random.ts'
import { makeProfile } from './utilisation.ts'

export type ClusterOptions = {
  readonly seed: number
  readonly nodes: number
  readonly gpusPerNode: number
  readonly startMs: number
}

export type SimulatedCluster = {
  readonly nodes: readonly SimulatedNode[]
  readonly timeMs: number
  /** Lets time pass. It does not go back. */
  advance(timeMs: number): void
}

const ALL_SHARING: ReadonlySet<Sharing> = new Set(['whole', 'mig', 'time_slicing'])

export function createSimulatedCluster(options: ClusterOptions): SimulatedCluster {
  const { seed, startMs } = options
  const random = createRandom(seed)
  const nodes: SimulatedNode[] = []
  for (let index = 0; index < options.nodes; index++) {
    nodes.push(makeNode(index, options.gpusPerNode, seed, startMs, ALL_SHARING))
  }
  for (const node of nodes) {
    for (const gpu of node.gpus) for (const device of gpu.devices) occupy(node, device, random, startMs)
  }
  let now = startMs
  return {
    nodes,
    get timeMs() {
      return now
    },
    advance(timeMs) {
      if (timeMs < now) throw new RangeError('the simulated cluster does not go back in time')
      now = timeMs
    },
  }
}

function occupy(node: SimulatedNode, device: Device, random: Random, startMs: number): void {
  if (random.chance(0.15)) return
  for (let replica = 0; replica < device.gpu.replicas; replica++) {
    const pod: Pod = {
      name: `trainer-${random.suffix(5)}`,
      namespace: 'research',
      uid: random.uuid(),
      labels: {},
      annotations: {},
      container: 'main',
      image: 'registry.example/trainer:1',
      schedulerName: 'default-scheduler',
      restartPolicy: 'Never',
      request: { kind: 'whole', count: 1 },
      cpuMillis: 4000,
      memoryMiB: 32768,
      createdMs: startMs,
      phase: 'Running',
      nodeName: node.name,
      claims: [],
      restarts: 0,
      version: 0,
    }
    const share = 1 / device.gpu.replicas
    const memoryMiB = Math.floor(device.memoryMiB * share * random.between(0.3, 0.9))
    const profile = makeProfile(random.pick(['training', 'inference', 'notebook', 'batch']), random)
    const claim = { pod, device, share, replica, seenByKubelet: true, memoryMiB, profile, seed: random.below(2 ** 31) }
    device.claims.push({ ...claim, busySinceMs: startMs })
  }
}
