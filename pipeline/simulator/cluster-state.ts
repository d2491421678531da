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
import { quotaObject } from './objects/quota.ts'
import type { Owner, Pod } from './pod.ts'
import { makeProjects, type Project } from './tenants.ts'

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
  readonly namespaces: readonly Namespace[]
  readonly pods: Set<Pod>
  readonly owners: Set<Owner>
  readonly changes: Changes
}

export function makeClusterState({ seed, nodes, gpusPerNode, startMs, sharing }: ClusterSize): ClusterState {
  const projects = makeProjects(nodes * gpusPerNode, seed, startMs)
  const made = Array.from({ length: nodes }, (_, index) => makeNode(index, gpusPerNode, seed, startMs, sharing))
  const state: ClusterState = {
    nodes: made,
    pools: [...new Map(made.map(({ pool }) => [pool.name, pool])).values()],
    projects,
    namespaces: makeNamespaces(projects, seed, startMs),
    pods: new Set(),
    owners: new Set(),
    changes: new Changes(),
  }
  for (const node of state.nodes) state.changes.record('ADDED', node, nodeObject)
  for (const namespace of state.namespaces) state.changes.record('ADDED', namespace, namespaceObject)
  for (const project of state.projects) if (hasQuota(project)) state.changes.record('ADDED', project, quotaObject)
  return state
}

export function hasQuota(project: Project): boolean {
  return project.tenancy === 'plain'
}

/** The whole cluster as the API lists it. */
export function* objectsOf(state: ClusterState): Iterable<KubernetesObject> {
  for (const namespace of state.namespaces) yield namespaceObject(namespace)
  for (const node of state.nodes) yield nodeObject(node)
  for (const project of state.projects) if (hasQuota(project)) yield quotaObject(project)
  for (const owner of state.owners) yield ownerObject(owner)
  for (const pod of state.pods) yield podObject(pod)
}
