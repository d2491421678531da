/**
 * What projects, departments and queues may use: one row for each queue, whoever tells of it, in base units.
 *
 * Several may tell of one quota: Run:ai makes queues of its projects, and a namespace with a queue may have a ResourceQuota beside it.
 * `effectiveQuotas` has the rows that count, so that a sum over them has nothing twice.
 */

export type QuotaOrigin =
  | 'project.run.ai'
  | 'department.scheduling.run.ai'
  | 'queue.scheduling.run.ai'
  | 'clusterqueue.kueue.x-k8s.io'
  | 'localqueue.kueue.x-k8s.io'
  | 'resourcequota'

export type Quota = QuotaAmounts & {
  readonly origin: QuotaOrigin
  /** Of the queue; of a ResourceQuota the name of that. */
  readonly name: string
  /** '' for what belongs to no namespace. */
  readonly namespace: string
  /** Undefined for departments, and for what several projects share. */
  readonly project: string | undefined
  readonly department: string | undefined
  readonly nodepool: string | undefined
  /** What stands above: the parent of a queue, the ClusterQueue of a LocalQueue. */
  readonly parent: string | undefined
}

/** Infinity is unlimited, undefined is not told. */
export type QuotaAmounts = {
  readonly gpus: number | undefined
  readonly cpuCores: number | undefined
  readonly memoryBytes: number | undefined
}

/** An object of the API that tells of quotas. */
export type QuotaObject = {
  readonly kind: 'Quota'
  readonly origin: QuotaOrigin
  readonly namespace: string
  readonly name: string
  readonly uid: string
  readonly rows: readonly Quota[]
  /** Only of a ResourceQuota: all that it limits, by resource, and what is used of it. */
  readonly hard?: ReadonlyMap<string, number>
  readonly used?: ReadonlyMap<string, number>
}

export function quotaKey(origin: QuotaOrigin, namespace: string, name: string): string {
  return `${origin}/${namespace}/${name}`
}

export type EffectiveQuotas = {
  /** What each project may use: rows of one project are its queues, and add up. */
  readonly projects: readonly Quota[]
  /** What each department may use, where something tells it: less or more than its projects together. */
  readonly departments: readonly Quota[]
  /** What several projects share, so that it is none of them. */
  readonly shared: readonly Quota[]
}

/** `projectOf` is the project of a namespace, for what only knows that. */
export function effectiveQuotas(quotas: Iterable<Quota>, projectOf: (namespace: string) => string): EffectiveQuotas {
  const byOrigin = Map.groupBy(quotas, ({ origin }) => origin)
  const of = (origin: QuotaOrigin): readonly Quota[] => byOrigin.get(origin) ?? []
  // Run:ai names in projects and departments the queues that it makes of them.
  const madeOf = new Set([...of('project.run.ai'), ...of('department.scheduling.run.ai')].map(({ name }) => name))
  const queues = of('queue.scheduling.run.ai').filter(({ name }) => !madeOf.has(name))
  const parents = new Set(of('queue.scheduling.run.ai').map(({ parent }) => parent))
  const isLeaf = ({ name, parent }: Quota): boolean => parent !== undefined && !parents.has(name)
  const clusterQueues = clusterQueuesByProject(
    of('clusterqueue.kueue.x-k8s.io'),
    of('localqueue.kueue.x-k8s.io'),
    projectOf,
  )
  // Who comes first counts, for each project.
  const ranks = [
    of('project.run.ai'),
    queues.filter(isLeaf),
    clusterQueues.filter(({ project }) => project !== undefined),
    tightest(of('resourcequota'), projectOf),
  ]
  return {
    projects: firstOfEach(ranks, ({ project }) => project),
    departments: firstOfEach(
      [of('department.scheduling.run.ai'), queues.filter(queue => !isLeaf(queue)).map(asDepartment)],
      ({ department }) => department,
    ),
    shared: clusterQueues.filter(({ project }) => project === undefined),
  }
}

/** The rows of the first rank that has any of a project. */
function firstOfEach(
  ranks: readonly (readonly Quota[])[],
  keyOf: (quota: Quota) => string | undefined,
): readonly Quota[] {
  const counted: Quota[] = []
  for (const rank of ranks) {
    const keys = new Set(counted.map(keyOf))
    counted.push(...rank.filter(row => !keys.has(keyOf(row))))
  }
  return counted
}

function asDepartment(queue: Quota): Quota {
  return { ...queue, project: undefined, department: queue.name }
}

/** A ClusterQueue is a project's if all namespaces that use it are of that project. One that nobody uses is nobody's. */
function clusterQueuesByProject(
  clusterQueues: readonly Quota[],
  localQueues: readonly Quota[],
  projectOf: (namespace: string) => string,
): readonly Quota[] {
  const users = Map.groupBy(localQueues, ({ parent }) => parent)
  return clusterQueues.map(queue => {
    const projects = new Set((users.get(queue.name) ?? []).map(({ namespace }) => projectOf(namespace)))
    return projects.size === 1 ? { ...queue, project: [...projects][0] } : queue
  })
}

/** Of several that limit one namespace the tightest counts, resource by resource. */
function tightest(resourceQuotas: readonly Quota[], projectOf: (namespace: string) => string): readonly Quota[] {
  const byNamespace = Map.groupBy(resourceQuotas, ({ namespace }) => namespace)
  return Array.from(byNamespace, ([namespace, rows]) => ({
    ...rows[0]!,
    project: projectOf(namespace),
    gpus: smallest(rows.map(({ gpus }) => gpus)),
    cpuCores: smallest(rows.map(({ cpuCores }) => cpuCores)),
    memoryBytes: smallest(rows.map(({ memoryBytes }) => memoryBytes)),
  }))
}

function smallest(amounts: readonly (number | undefined)[]): number | undefined {
  const told = amounts.filter(amount => amount !== undefined)
  return told.length === 0 ? undefined : Math.min(...told)
}
