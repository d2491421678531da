/** Everything that the cluster is at a moment. The lifecycle changes it, the faces read it. */
import { Changes } from './changes.ts'
import type { KubernetesObject } from './kubernetes-object.ts'
import { makeNamespaces, type Namespace } from './namespaces.ts'
import { makeNode, type SimulatedNode } from './node.ts'
import type { NodePool, Sharing } from './hardware.ts'
import { namespaceObject } from './objects/namespace.ts'
import { nodeObject } from './objects/node.ts'
import { ownerObject } from './objects/owner.ts'
import { podObject } from './objects/pod.ts'
import { clusterQueueObject, kueueWorkloadObject, localQueueObject, resourceFlavorObject } from './objects/kueue.ts'
import { podGroupObject } from './objects/pod-group.ts'
import { queueObject } from './objects/queue.ts'
import { quotaObject } from './objects/quota.ts'
import { departmentObject, runaiProjectObject } from './objects/runai-project.ts'
import type { Owner, Pod } from './pod.ts'
import type { KueueWorkload } from './quotas/kueue-ledger.ts'
import { makeKueue, type Kueue } from './quotas/kueue.ts'
import type { PodGroup } from './quotas/pod-group-ledger.ts'
import { makeQueues, type Queue } from './quotas/queue.ts'
import { makeDepartments, makeProjects, type Department, type Project } from './tenants.ts'

export type ClusterSize = {
  readonly seed: number
  readonly nodes: number
  readonly gpusPerNode: number
  readonly startMs: number
  readonly sharing: ReadonlySet<Sharing>
}

export type ClusterState = {
  readonly nodes: readonly SimulatedNode[]
  /** Of the nodes, in the order of the first of each. */
  readonly pools: readonly NodePool[]
  readonly projects: readonly Project[]
  readonly departments: readonly Department[]
  readonly namespaces: readonly Namespace[]
  /** Of Run:ai and KAI, with the groups of pods that stand in them. */
  readonly queues: readonly Queue[]
  readonly podGroups: Set<PodGroup>
  readonly kueue: Kueue
  readonly kueueWorkloads: Set<KueueWorkload>
  readonly pods: Set<Pod>
  readonly owners: Set<Owner>
  readonly changes: Changes
}

export function makeClusterState({ seed, nodes, gpusPerNode, startMs, sharing }: ClusterSize): ClusterState {
  const projects = makeProjects(nodes * gpusPerNode, seed, startMs)
  const made = Array.from({ length: nodes }, (_, index) => makeNode(index, gpusPerNode, seed, startMs, sharing))
  const pools = [...new Map(made.map(({ pool }) => [pool.name, pool])).values()]
  const state: ClusterState = {
    nodes: made,
    pools,
    projects,
    departments: makeDepartments(projects, seed),
    namespaces: makeNamespaces(projects, seed, startMs),
    queues: makeQueues(projects, made, pools, seed),
    podGroups: new Set(),
    kueue: makeKueue(projects, pools, seed),
    kueueWorkloads: new Set(),
    pods: new Set(),
    owners: new Set(),
    changes: new Changes(),
  }
  for (const [subject, build] of standingObjects(state)) state.changes.record('ADDED', subject, () => build())
  return state
}

type Standing = readonly [subject: { version: number }, build: () => KubernetesObject]

/** What neither comes nor goes, with what shows it. */
function* standingObjects(state: ClusterState): Iterable<Standing> {
  const { queues, kueue } = state
  for (const namespace of state.namespaces) yield [namespace, () => namespaceObject(namespace)]
  for (const node of state.nodes) yield [node, () => nodeObject(node)]
  for (const project of state.projects) {
    if (hasQuota(project)) yield [project, () => quotaObject(project)]
    if (project.tenancy === 'runai') yield [project, () => runaiProjectObject(project, queues)]
  }
  for (const department of state.departments) yield [department, () => departmentObject(department, queues)]
  for (const queue of queues) yield [queue, () => queueObject(queue)]
  for (const flavor of kueue.flavors) yield [flavor, () => resourceFlavorObject(flavor)]
  for (const queue of kueue.clusterQueues) yield [queue, () => clusterQueueObject(queue)]
  for (const queue of kueue.localQueues) yield [queue, () => localQueueObject(queue)]
}

export function hasQuota(project: Project): boolean {
  return project.tenancy === 'plain'
}

/** The whole cluster as the API lists it. */
export function* objectsOf(state: ClusterState): Iterable<KubernetesObject> {
  for (const [, build] of standingObjects(state)) yield build()
  for (const owner of state.owners) yield ownerObject(owner)
  for (const group of state.podGroups) yield podGroupObject(group)
  for (const workload of state.kueueWorkloads) yield kueueWorkloadObject(workload)
  for (const pod of state.pods) yield podObject(pod)
}
