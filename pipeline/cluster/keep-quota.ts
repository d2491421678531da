/** What is kept of objects that tell of quotas: projects, departments and queues of Run:ai, KAI and Kueue, and ResourceQuotas. */
import { getLabel } from '../model/labels.ts'
import { isGpuResource } from './gpu-resources.ts'
import { isRecord, shareText, textOf, type SentObject } from './keep-metadata.ts'
import { isSameAmounts } from './keep-pod.ts'
import { parseQuantities, parseQuantity } from './quantity.ts'
import type { Quota, QuotaAmounts, QuotaObject, QuotaOrigin } from './quotas.ts'
import type { SeenObject } from './seen-object.ts'

/** What the rows of an object differ in from this. */
type Row = Partial<Omit<Quota, 'origin' | 'namespace'>>

const NODE_POOL_LABELS = ['runai/node-pool', 'kai.scheduler/node-pool']

/** One row for each queue, that is, each node pool. Before v2 there is one number for all. */
export function keepProject(object: SentObject): QuotaObject {
  const spec = recordAt(object, 'spec')
  const { name } = object.metadata
  const common = { project: name, department: optionalText(spec['department']) }
  return quotaObject('project.run.ai', object, rowsOfQueues(spec, name, common))
}

export function keepDepartment(object: SentObject): QuotaObject {
  const { name } = object.metadata
  return quotaObject(
    'department.scheduling.run.ai',
    object,
    rowsOfQueues(recordAt(object, 'spec'), name, { department: name }),
  )
}

/** A queue with a parent is a project, the parent is its department; a queue that Run:ai made of a project says of which. */
export function keepQueue(object: SentObject): QuotaObject {
  const { name } = object.metadata
  const spec = recordAt(object, 'spec')
  const parent = optionalText(spec['parentQueue'])
  const nodepool = nodePoolOf(object)
  const project = parent === undefined ? undefined : (ownerProject(object) ?? withoutPool(name, nodepool))
  const department = parent ?? name
  return quotaObject('queue.scheduling.run.ai', object, [
    { name, project, department, nodepool, parent, ...amountsAt(recordAt(spec, 'resources'), 'quota') },
  ])
}

/**
 * What it may use at any time, over all flavors; instances of GPUs do not add up with GPUs. The cohort, whose members may borrow from
 * each other, is the department.
 */
export function keepClusterQueue(object: SentObject): QuotaObject {
  const spec = recordAt(object, 'spec')
  const cohort = optionalText(spec['cohort']) ?? optionalText(spec['cohortName'])
  const resources = records(spec['resourceGroups'])
    .flatMap(group => records(group['flavors']))
    .flatMap(flavor => records(flavor['resources']))
    .map(({ name, nominalQuota }) => [textOf(name), parseQuantity(nominalQuota)] as const)
  const sumOf = (isMeant: (resource: string) => boolean): number | undefined =>
    sum(resources.filter(([resource]) => isMeant(resource)).map(([, amount]) => amount))
  return quotaObject('clusterqueue.kueue.x-k8s.io', object, [
    {
      department: cohort,
      parent: cohort,
      gpus: sumOf(isGpuResource),
      cpuCores: sumOf(resource => resource === 'cpu'),
      memoryBytes: sumOf(resource => resource === 'memory'),
    },
  ])
}

/** It has no amounts of its own: it says which ClusterQueue a namespace uses. */
export function keepLocalQueue(object: SentObject): QuotaObject {
  const parent = optionalText(recordAt(object, 'spec')['clusterQueue'])
  return quotaObject('localqueue.kueue.x-k8s.io', object, [{ parent }])
}

/** One with a scope limits some pods only, so that its numbers are not those of the namespace. */
export function keepResourceQuota(object: SentObject): QuotaObject {
  const spec = recordAt(object, 'spec')
  const status = recordAt(object, 'status')
  const hard = parseQuantities(status['hard'] ?? spec['hard'])
  const isScoped = records(recordAt(spec, 'scopeSelector')['matchExpressions']).length > 0 || hasItems(spec['scopes'])
  const kept = quotaObject('resourcequota', object, isScoped ? [] : [resourceQuotaAmounts(hard)])
  return { ...kept, hard, used: parseQuantities(status['used']) }
}

const seenQuotas = new WeakMap<SeenObject, Quota>()

/** A ResourceQuota as kube-state-metrics tells it. Of scopes it says nothing. */
export function quotaFromSeen(object: SeenObject): Quota {
  let known = seenQuotas.get(object)
  if (known === undefined) seenQuotas.set(object, (known = readSeen(object)))
  return known
}

function readSeen({ namespace = '', name, facts }: SeenObject): Quota {
  const hard = new Map<string, number>()
  for (const { name: fact, labels, value } of facts) {
    const isHard = fact === 'kube_resourcequota' && getLabel(labels, 'type') === 'hard'
    if (isHard) hard.set(getLabel(labels, 'resource') ?? '', value)
  }
  return row('resourcequota', namespace, name, resourceQuotaAmounts(hard))
}

/** Whether nothing has changed that is kept. */
export function isSameQuota(one: QuotaObject, other: QuotaObject): boolean {
  return (
    one.uid === other.uid &&
    one.rows.length === other.rows.length &&
    one.rows.every((quota, i) => isSameRow(quota, other.rows[i]!)) &&
    isSameAmounts(one.hard ?? NOTHING, other.hard ?? NOTHING) &&
    isSameAmounts(one.used ?? NOTHING, other.used ?? NOTHING)
  )
}

const NOTHING: ReadonlyMap<string, number> = new Map()

function isSameRow(one: Quota, other: Quota): boolean {
  return (Object.keys(one) as (keyof Quota)[]).every(field => one[field] === other[field])
}

function quotaObject(origin: QuotaOrigin, { metadata }: SentObject, rows: readonly Row[]): QuotaObject {
  const { namespace = '', uid = '' } = metadata
  const name = shareText(metadata.name)
  return {
    kind: 'Quota',
    origin,
    namespace: shareText(namespace),
    name,
    uid,
    rows: rows.map(one => row(origin, namespace, name, one)),
  }
}

function row(origin: QuotaOrigin, namespace: string, name: string, given: Row): Quota {
  return {
    origin,
    namespace: shareText(namespace),
    name: given.name ?? name,
    project: given.project,
    department: given.department,
    nodepool: given.nodepool,
    parent: given.parent,
    gpus: given.gpus,
    cpuCores: given.cpuCores,
    memoryBytes: given.memoryBytes,
  }
}

function rowsOfQueues(spec: Record<string, unknown>, object: string, common: Row): readonly Row[] {
  const queues = records(spec['queues'])
  if (queues.length === 0) return [{ ...common, gpus: limitless(spec['deservedGpus']) }]
  return queues.map(queue => ({
    ...common,
    name: optionalText(queue['name']) ?? object,
    nodepool: optionalText(queue['nodepool']),
    ...amountsAt(recordAt(queue, 'resources'), 'deserved'),
  }))
}

/** GPUs, thousandths of cores and millions of bytes, as Run:ai and KAI count. */
function amountsAt(resources: Record<string, unknown>, field: 'deserved' | 'quota'): QuotaAmounts {
  const amount = (resource: string): number | undefined => limitless(recordAt(resources, resource)[field])
  const [cpu, memory] = [amount('cpu'), amount('memory')]
  return { gpus: amount('gpu'), cpuCores: cpu && cpu / 1000, memoryBytes: memory && memory * 1e6 }
}

function limitless(value: unknown): number | undefined {
  const amount = parseQuantity(value)
  return amount !== undefined && amount < 0 ? Infinity : amount
}

/** What may be requested counts; where only that is limited, what may be used. */
function resourceQuotaAmounts(hard: ReadonlyMap<string, number>): QuotaAmounts {
  const gpus = (prefix: string): number | undefined =>
    sum(
      Array.from(hard, ([resource, amount]) =>
        resource.startsWith(prefix) && isGpuResource(resource.slice(prefix.length)) ? amount : undefined,
      ),
    )
  return {
    gpus: gpus('requests.') ?? gpus('limits.'),
    cpuCores: hard.get('requests.cpu') ?? hard.get('cpu') ?? hard.get('limits.cpu'),
    memoryBytes: hard.get('requests.memory') ?? hard.get('memory') ?? hard.get('limits.memory'),
  }
}

function nodePoolOf({ metadata }: SentObject): string | undefined {
  const labels = isRecord(metadata.labels) ? metadata.labels : {}
  return NODE_POOL_LABELS.map(label => optionalText(labels[label])).find(pool => pool !== undefined)
}

function ownerProject({ metadata }: SentObject): string | undefined {
  const owner = records(metadata.ownerReferences).find(({ kind }) => kind === 'Project')
  return owner && optionalText(owner['name'])
}

/** Queues of node pools are called `<project>-<node pool>`. */
function withoutPool(name: string, nodepool: string | undefined): string {
  return nodepool !== undefined && name.endsWith(`-${nodepool}`) ? name.slice(0, -nodepool.length - 1) : name
}

/** Undefined if none of them is told. */
function sum(amounts: readonly (number | undefined)[]): number | undefined {
  const told = amounts.filter(amount => amount !== undefined)
  return told.length === 0 ? undefined : told.reduce((total, amount) => total + amount, 0)
}

function recordAt(value: Readonly<Record<string, unknown>>, key: string): Record<string, unknown> {
  const found = value[key]
  return isRecord(found) ? found : {}
}

function records(list: unknown): Record<string, unknown>[] {
  return Array.isArray(list) ? list.filter(isRecord) : []
}

function hasItems(list: unknown): boolean {
  return Array.isArray(list) && list.length > 0
}

function optionalText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? shareText(value) : undefined
}
