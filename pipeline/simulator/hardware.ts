/** The machines there are: GPU models as their data sheets and exporters describe them, and the kinds of node they sit in. */

export type GpuModel = {
  /** As NVML reports it; node labels have dashes for the blanks. */
  readonly name: string
  readonly family: string
  readonly compute: readonly [major: number, minor: number]
  /** Used, free and reserved together. */
  readonly memoryMiB: number
  readonly reservedMiB: number
  readonly idleWatts: number
  readonly fullWatts: number
  readonly smClockMhz: readonly [idle: number, busy: number]
  readonly memoryClockMhz: readonly [idle: number, busy: number]
  /** Boards with GDDR memory have no sensor there, and say 0. */
  readonly memorySensor: boolean
  readonly nvlink: boolean
}

/** How the GPUs of a node are handed out. Fractions need no preparation: Run:ai makes them of whole GPUs. */
export type Sharing = 'whole' | 'mig' | 'time_slicing'

export type NodePool = {
  readonly name: string
  readonly model: GpuModel
  readonly sharing: Sharing
  readonly instanceType: string
  readonly cpus: number
  readonly memoryKiB: number
}

export type MigProfile = { readonly name: string; readonly slices: number; readonly memoryMiB: number }

const H100: GpuModel = {
  name: 'NVIDIA H100 80GB HBM3',
  family: 'hopper',
  compute: [9, 0],
  memoryMiB: 81559,
  reservedMiB: 551,
  idleWatts: 71,
  fullWatts: 690,
  smClockMhz: [345, 1980],
  memoryClockMhz: [2619, 2619],
  memorySensor: true,
  nvlink: true,
}

const A100: GpuModel = {
  name: 'NVIDIA A100-SXM4-80GB',
  family: 'ampere',
  compute: [8, 0],
  memoryMiB: 81920,
  reservedMiB: 697,
  idleWatts: 62,
  fullWatts: 396,
  smClockMhz: [210, 1410],
  memoryClockMhz: [1593, 1593],
  memorySensor: true,
  nvlink: true,
}

const L40S: GpuModel = {
  name: 'NVIDIA L40S',
  family: 'ada-lovelace',
  compute: [8, 9],
  memoryMiB: 46068,
  reservedMiB: 608,
  idleWatts: 35,
  fullWatts: 342,
  smClockMhz: [210, 2520],
  memoryClockMhz: [405, 9001],
  memorySensor: false,
  nvlink: false,
}

const TRAINING: NodePool = {
  name: 'training',
  model: H100,
  sharing: 'whole',
  instanceType: 'hgx-h100-8',
  cpus: 192,
  memoryKiB: 2_113_392_640,
}
const RESEARCH: NodePool = {
  name: 'research',
  model: A100,
  sharing: 'mig',
  instanceType: 'hgx-a100-8',
  cpus: 128,
  memoryKiB: 1_056_759_808,
}
const SERVING: NodePool = {
  name: 'serving',
  model: L40S,
  sharing: 'time_slicing',
  instanceType: 'pcie-l40s-8',
  cpus: 96,
  memoryKiB: 528_446_464,
}

/** Pools by number of node, again and again: the four nodes of the default cluster show everything, larger ones are mostly for training. */
const POOL_OF_NODE = [TRAINING, TRAINING, RESEARCH, SERVING, TRAINING, TRAINING, TRAINING, TRAINING]

/** Where a way of sharing is not wanted, the node has whole GPUs instead. */
export function poolOfNode(index: number, sharing: ReadonlySet<Sharing>): NodePool {
  const pool = POOL_OF_NODE[index % POOL_OF_NODE.length]!
  return sharing.has(pool.sharing) ? pool : { ...pool, sharing: 'whole' }
}

export const TIME_SLICING_REPLICAS = 4

const ONE_SLICE: MigProfile = { name: '1g.10gb', slices: 1, memoryMiB: 9728 }
const TWO_SLICES: MigProfile = { name: '2g.20gb', slices: 2, memoryMiB: 19968 }
const THREE_SLICES: MigProfile = { name: '3g.40gb', slices: 3, memoryMiB: 40192 }

export const MIG_PROFILES: readonly MigProfile[] = [ONE_SLICE, TWO_SLICES, THREE_SLICES]

/** The instances of one board with the ids that the driver gives them: each size has a range of its own. */
export type MigLayout = readonly { readonly profile: MigProfile; readonly id: number }[]

const MIXED_LAYOUT: MigLayout = [
  { profile: THREE_SLICES, id: 2 },
  { profile: TWO_SLICES, id: 3 },
  { profile: ONE_SLICE, id: 9 },
  { profile: ONE_SLICE, id: 10 },
]
const SMALL_LAYOUT: MigLayout = [7, 8, 9, 10, 11, 12, 13].map(id => ({ profile: ONE_SLICE, id }))

/** Some boards of a MIG node are partitioned; the others are whole, as in a cluster that moves to MIG. */
const LAYOUT_OF_GPU = [MIXED_LAYOUT, undefined, undefined, undefined, MIXED_LAYOUT, undefined, SMALL_LAYOUT, undefined]

export function migLayoutOf(gpuIndex: number): MigLayout | undefined {
  return LAYOUT_OF_GPU[gpuIndex % LAYOUT_OF_GPU.length]
}
