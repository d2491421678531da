/** The queues of Kueue: one of the cluster for each department, and one in the namespace of each project. */
import { MIG_PROFILES, type NodePool } from '../hardware.ts'
import { hashText, uuidOf } from '../random.ts'
import type { Project } from '../tenants.ts'
import type { Amounts } from './amounts.ts'

/** Which GPUs are meant where several kinds have the same resource. */
export type Flavor = 'exclusive' | 'shared' | 'mig'

export type ResourceFlavor = {
  readonly name: Flavor
  readonly uid: string
  readonly nodeLabels: Readonly<Record<string, string>>
  readonly createdMs: number
  version: number
}

/** By flavor, amounts by resource. */
export type FlavorAmounts = Readonly<Record<string, Amounts>>

/** A queue of the cluster, or the one of a namespace that leads to it. */
export type ClusterQueue = QueueBase & { readonly quota: FlavorAmounts }
export type LocalQueue = QueueBase & { readonly namespace: string; readonly clusterQueue: ClusterQueue }

type QueueBase = {
  readonly name: string
  readonly uid: string
  readonly createdMs: number
  readonly usage: Record<string, Record<string, number>>
  admitted: number
  version: number
}

export type Kueue = {
  readonly flavors: readonly ResourceFlavor[]
  readonly clusterQueues: readonly ClusterQueue[]
  readonly localQueues: readonly LocalQueue[]
}

const CPU_MILLIS_PER_GPU = 12_000
const MEMORY_MIB_PER_GPU = 98_304

const NODE_LABELS: Readonly<Record<Flavor, Readonly<Record<string, string>>>> = {
  exclusive: {},
  shared: { 'nvidia.com/gpu.sharing-strategy': 'time-slicing' },
  mig: { 'nvidia.com/mig.strategy': 'mixed' },
}

export function makeKueue(projects: readonly Project[], pools: readonly NodePool[], seed: number): Kueue {
  const own = hashText('kueue', seed)
  let number = 0
  const base = (createdMs: number) => ({ uid: uuidOf(own, number++), createdMs, version: 0 })
  const tenants = projects.filter(({ tenancy }) => tenancy === 'kueue')
  const clusterQueues: ClusterQueue[] = []
  const localQueues: LocalQueue[] = []
  const flavors = flavorsOf(pools)
  const oldestMs = Math.min(...tenants.map(({ createdMs }) => createdMs))
  for (const [department, members] of Map.groupBy(tenants, project => project.department)) {
    const gpus = members.reduce((sum, { gpuQuota }) => sum + gpuQuota, 0)
    const createdMs = Math.min(...members.map(project => project.createdMs))
    const quota = Object.fromEntries(flavors.map(flavor => [flavor, quotaOf(flavor, gpus)]))
    const clusterQueue = { ...base(createdMs), name: department, quota, usage: {}, admitted: 0 }
    clusterQueues.push(clusterQueue)
    for (const { name, namespace, createdMs: since } of members) {
      localQueues.push({ ...base(since), name: `${name}-queue`, namespace, clusterQueue, usage: {}, admitted: 0 })
    }
  }
  return {
    flavors: flavors.map(name => ({ ...base(oldestMs), name, nodeLabels: NODE_LABELS[name] })),
    clusterQueues,
    localQueues,
  }
}

function flavorsOf(pools: readonly NodePool[]): Flavor[] {
  const has = (sharing: NodePool['sharing']): boolean => pools.some(pool => pool.sharing === sharing)
  return ['exclusive', ...(has('time_slicing') ? (['shared'] as const) : []), ...(has('mig') ? (['mig'] as const) : [])]
}

function quotaOf(flavor: Flavor, gpus: number): Amounts {
  if (flavor === 'mig') {
    const each = 1000 * Math.max(1, Math.floor(gpus / 4))
    return Object.fromEntries(MIG_PROFILES.map(({ name }) => [`nvidia.com/mig-${name}`, each]))
  }
  return { cpu: gpus * CPU_MILLIS_PER_GPU, memory: gpus * MEMORY_MIB_PER_GPU, 'nvidia.com/gpu': 1000 * gpus }
}
