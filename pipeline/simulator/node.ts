/** The nodes of the simulated cluster with their GPUs. */
import { startAccounting, type Accounting } from './accounting.ts'
import { migLayoutOf, poolOfNode, TIME_SLICING_REPLICAS, type NodePool, type Sharing } from './hardware.ts'
import type { Device, Gpu } from './gpu.ts'
import type { Pod } from './pod.ts'
import { hashOf, hashText, uuidOf } from './random.ts'

export type SimulatedNode = {
  readonly index: number
  readonly name: string
  readonly uid: string
  readonly pool: NodePool
  readonly address: string
  readonly driverVersion: string
  readonly createdMs: number
  readonly kubeletVersion: string
  readonly gpus: readonly Gpu[]
  /** CPU time and memory of what runs on it. */
  readonly accounting: Accounting
  readonly trouble: NodeTrouble
  /** The pod of dcgm-exporter on this node. */
  exporterPod?: Pod
  /** Grows whenever a device changes hands: what is derived from the claims is out of date. */
  claimsVersion: number
  version: number
}

/** What the control plane holds against a node. What runs on it goes on. */
export type NodeTrouble = {
  /** Since when nobody may come, because somebody said so. */
  cordonedMs?: number
  /** Since when its kubelet has not been heard of. */
  unreachableMs?: number
  /** When it was last heard of again. */
  reachableMs?: number
}

const DAY_MS = 86_400_000
/** A few nodes are one version behind. */
const KUBELET_VERSIONS = ['v1.34.1', 'v1.33.5', 'v1.34.1', 'v1.34.1']

/** Since 1.34 a kubelet tells of running pods only when it is asked who has which device. */
export function listsFinishedPods({ kubeletVersion }: SimulatedNode): boolean {
  return kubeletVersion.startsWith('v1.33.')
}

export function nodeName(index: number): string {
  return `node-${index}`
}

/** The address of the node with this name. */
export function nodeAddress(name: string): string {
  return addressOf(Number(name.slice(name.lastIndexOf('-') + 1)))
}

function addressOf(index: number): string {
  return `10.${64 + (index >>> 16)}.${(index >>> 8) & 255}.${index & 255}`
}

export function makeNode(
  index: number,
  gpuCount: number,
  seed: number,
  startMs: number,
  sharing: ReadonlySet<Sharing>,
): SimulatedNode {
  const pool = poolOfNode(index, sharing)
  const nodeSeed = hashOf(hashText('node', seed), index)
  const createdMs = startMs - (20 + (nodeSeed % 200)) * DAY_MS
  const gpus: Gpu[] = []
  for (let number = 0; number < gpuCount; number++) {
    gpus.push(makeGpu(nodeName(index), number, pool, hashOf(nodeSeed, number), startMs))
  }
  return {
    index,
    name: nodeName(index),
    uid: uuidOf(nodeSeed, 1),
    pool,
    address: addressOf(index),
    driverVersion: ['535.183.06', '550.127.08', '570.133.20', '580.95.05'][nodeSeed % 4]!,
    createdMs,
    kubeletVersion: KUBELET_VERSIONS[index % KUBELET_VERSIONS.length]!,
    gpus,
    trouble: {},
    accounting: startAccounting(pool.cpus, createdMs, startMs),
    claimsVersion: 0,
    version: 0,
  }
}

function makeGpu(node: string, index: number, pool: NodePool, seed: number, startMs: number): Gpu {
  const { model } = pool
  const devices: Device[] = []
  const gpu: Gpu = {
    nodeName: node,
    index,
    uuid: `GPU-${uuidOf(seed, 0)}`,
    pciBusId: `00000000:${(0x19 + index * 0x1a).toString(16).toUpperCase().padStart(2, '0')}:00.0`,
    model,
    devices,
    replicas: pool.sharing === 'time_slicing' ? TIME_SLICING_REPLICAS : 1,
    seed,
    // As if the driver had been up for some weeks at a usual load.
    energyJoules: (5 + (seed % 40)) * 86_400 * model.idleWatts * 3,
    settledMs: startMs,
    pcieReplays: seed % 31 === 0 ? 1 + (seed % 5) : 0,
    xid: seed % 61 === 0 ? 43 : 0,
  }
  const layout = pool.sharing === 'mig' ? migLayoutOf(index) : undefined
  if (layout === undefined) {
    devices.push({ gpu, boardShare: 1, memoryMiB: model.memoryMiB, claims: [] })
  } else {
    let position = 0
    for (const { profile, id } of layout) {
      const mig = { uuid: `MIG-${uuidOf(seed, 1 + id)}`, profile, instanceId: id, position }
      devices.push({ gpu, mig, boardShare: profile.slices / 7, memoryMiB: profile.memoryMiB, claims: [] })
      position += profile.slices
    }
  }
  return gpu
}
