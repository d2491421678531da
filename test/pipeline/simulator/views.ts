/** What the outside sees of a simulated cluster at one moment. */
import { byName, samplesIn, type Sample } from './samples.ts'
import type { TestSimulation } from './test-simulation.ts'

export type PodObject = {
  metadata: {
    name: string
    namespace: string
    uid: string
    labels: Record<string, string>
    annotations: Record<string, string>
  }
  spec: { nodeName?: string; containers: { name: string; resources: { limits?: Record<string, string> } }[] }
  status: { phase: string; containerStatuses?: { state: { running?: unknown } }[] }
}
export type NodeObject = {
  metadata: { name: string; labels: Record<string, string> }
  spec: { unschedulable?: boolean }
  status: {
    capacity: Record<string, string>
    allocatable: Record<string, string>
    nodeInfo: { kubeletVersion: string }
    conditions: { type: string; status: string }[]
  }
}

export type Views = {
  readonly dcgm: readonly Sample[]
  readonly kubeState: Map<string, Sample[]>
  readonly pods: readonly PodObject[]
  readonly nodes: readonly NodeObject[]
}

/** Of a cluster with two shards of kube-state-metrics. */
export async function look(simulation: TestSimulation, nodes: number): Promise<Views> {
  const dcgm = []
  for (let node = 0; node < nodes; node++) dcgm.push(...samplesIn(await simulation.text(`/nodes/node-${node}/metrics`)))
  const shards = [
    await simulation.text('/kube-state-metrics/0/metrics'),
    await simulation.text('/kube-state-metrics/1/metrics'),
  ]
  const list = async <T>(path: string): Promise<T[]> =>
    (JSON.parse(await simulation.text(path)) as { items: T[] }).items
  return {
    dcgm,
    kubeState: byName(samplesIn(shards.join(''))),
    pods: await list<PodObject>('/api/v1/pods'),
    nodes: await list<NodeObject>('/api/v1/nodes'),
  }
}

export function isReservation({ metadata }: PodObject): boolean {
  return ['runai-reservation', 'kai-resource-reservation'].includes(metadata.namespace)
}

/** The groups of the GPUs that a pod has parts of: one in a label of a fixed name, or several with one each. */
export function gpuGroupsOf({ metadata }: PodObject): string[] {
  return Object.entries(metadata.labels).flatMap(([key, group]) =>
    key === 'runai-gpu-group' || key === `runai-gpu-group/${group}` ? [group] : [],
  )
}

/** Whether it has a place on a node. */
export function isHolding({ spec, status }: PodObject): boolean {
  return spec.nodeName !== undefined && status.phase !== 'Succeeded' && status.phase !== 'Failed'
}

/** The GPUs among them. */
export function limitsOf({ spec }: PodObject): [resource: string, count: number][] {
  return Object.entries(spec.containers[0]!.resources.limits ?? {})
    .filter(([resource]) => resource.startsWith('nvidia.com/'))
    .map(([resource, count]) => [resource, Number(count)])
}
