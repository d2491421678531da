/** The queues of Run:ai and KAI: one of each project, in Run:ai one in each node pool, below one of its department. */
import type { NodePool } from '../hardware.ts'
import type { SimulatedNode } from '../node.ts'
import { hashText, uuidOf } from '../random.ts'
import type { Project } from '../tenants.ts'

export type Queue = {
  readonly name: string
  readonly uid: string
  readonly tenancy: 'runai' | 'kai'
  readonly department: string
  /** Whose it is; that of a department has none. */
  readonly project?: string
  /** The pool whose nodes it hands out; KAI's queues have all. */
  readonly pool?: string
  readonly parent?: Queue
  readonly quota: Quota
  readonly usage: Usage
  readonly createdMs: number
  version: number
}

/** GPUs, thousandths of CPUs, megabytes (of a million bytes). */
export type Quota = { readonly gpu: Share; readonly cpu: Share; readonly memory: Share }

/** What is deserved is the owner's own; up to the limit there may be more, shared out by weight. -1 means without end. */
export type Share = { readonly deserved: number; readonly limit: number; readonly overQuotaWeight: number }

export type Usage = {
  readonly allocated: Record<string, number>
  readonly nonPreemptible: Record<string, number>
  readonly requested: Record<string, number>
}

export const UNLIMITED = -1
const CPU_MILLIS_PER_GPU = 12_000
const MEMORY_MB_PER_GPU = 96_000

export function newUsage(): Usage {
  return { allocated: {}, nonPreemptible: {}, requested: {} }
}

export function makeQueues(
  projects: readonly Project[],
  nodes: readonly SimulatedNode[],
  pools: readonly NodePool[],
  seed: number,
): Queue[] {
  const own = hashText('queues', seed)
  const queues: Queue[] = []

  function add(queue: Omit<Queue, 'uid' | 'usage' | 'version'>): Queue {
    const made = { ...queue, uid: uuidOf(own, queues.length), usage: newUsage(), version: 0 }
    queues.push(made)
    return made
  }

  for (const tenancy of ['runai', 'kai'] as const) {
    const tenants = projects.filter(project => project.tenancy === tenancy)
    for (const [department, members] of Map.groupBy(tenants, project => project.department)) {
      const createdMs = Math.min(...members.map(project => project.createdMs))
      for (const pool of tenancy === 'runai' ? pools : [undefined]) {
        const name = (of: string): string => (pool === undefined ? of : `${of}-${pool.name}`)
        const shares = members.map(project => quotaOf(project, pool && shareOfPool(pool, nodes)))
        const common = { tenancy, department, ...(pool && { pool: pool.name }) }
        const parent = add({ ...common, name: name(department), createdMs, quota: sumOf(shares) })
        for (const [at, { name: project, createdMs: since }] of members.entries()) {
          add({ ...common, name: name(project), project, parent, createdMs: since, quota: shares[at]! })
        }
      }
    }
  }
  return queues
}

/** Of all GPUs, those in a pool. */
function shareOfPool(pool: NodePool, nodes: readonly SimulatedNode[]): number {
  return nodes.filter(node => node.pool.name === pool.name).length / nodes.length
}

/** In tenths of a GPU. Some projects may have all there is, some are held to twice their own, some have no word on CPUs and memory. */
function quotaOf({ gpuQuota, number }: Project, share = 1): Quota {
  const gpus = Math.round(10 * gpuQuota * share) / 10
  const others = (amountPerGpu: number): Share => ({
    deserved: number % 2 === 1 ? UNLIMITED : Math.round(gpus * amountPerGpu),
    limit: UNLIMITED,
    overQuotaWeight: 1,
  })
  return {
    gpu: {
      deserved: number % 8 === 7 ? UNLIMITED : gpus,
      limit: number % 8 === 3 ? 2 * gpus : UNLIMITED,
      overQuotaWeight: 1 + (number % 3),
    },
    cpu: others(CPU_MILLIS_PER_GPU),
    memory: others(MEMORY_MB_PER_GPU),
  }
}

/** Of a department: what its projects deserve together, without a limit of its own. */
function sumOf(quotas: readonly Quota[]): Quota {
  const sum = (resource: keyof Quota): Share => {
    const deserved = quotas.map(quota => quota[resource].deserved)
    const total = deserved.reduce((a, b) => a + b, 0)
    return {
      deserved: deserved.includes(UNLIMITED) ? UNLIMITED : Math.round(10 * total) / 10,
      limit: UNLIMITED,
      overQuotaWeight: 1,
    }
  }
  return { gpu: sum('gpu'), cpu: sum('cpu'), memory: sum('memory') }
}
