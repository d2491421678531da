/** Nodes as the API has them, with the labels of GPU feature discovery. */
import { MIG_PROFILES } from '../hardware.ts'
import type { KubernetesObject } from '../kubernetes-object.ts'
import type { SimulatedNode } from '../node.ts'
import { timestamp } from './timestamp.ts'

export function nodeObject(node: SimulatedNode): KubernetesObject {
  const resources = nodeResources(node)
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name: node.name,
      uid: node.uid,
      resourceVersion: String(node.version),
      creationTimestamp: timestamp(node.createdMs),
      labels: nodeLabels(node),
      annotations: { 'volumes.kubernetes.io/controller-managed-attach-detach': 'true' },
    },
    spec: {
      podCIDR: podCidr(node),
      providerID: `simulator://${node.name}`,
      taints: nodeTaints(node),
      ...(node.trouble.cordonedMs !== undefined && { unschedulable: true }),
    },
    status: {
      addresses: [
        { type: 'InternalIP', address: node.address },
        { type: 'Hostname', address: node.name },
      ],
      capacity: Object.fromEntries(resources.map(({ name, capacity }) => [name, capacity.text])),
      allocatable: Object.fromEntries(resources.map(({ name, allocatable }) => [name, allocatable.text])),
      conditions: nodeConditions(node),
      daemonEndpoints: { kubeletEndpoint: { Port: 10250 } },
      nodeInfo: {
        architecture: 'amd64',
        containerRuntimeVersion: 'containerd://2.1.4',
        kernelVersion: '6.8.0-64-generic',
        kubeletVersion: node.kubeletVersion,
        operatingSystem: 'linux',
        osImage: 'Ubuntu 24.04.2 LTS',
        systemUUID: node.uid,
      },
    },
  }
}

export function podCidr({ index }: SimulatedNode): string {
  return `10.${128 + (index >>> 8)}.${index & 255}.0/24`
}

/** An amount as the API writes it, and the number behind it. */
type Quantity = { readonly text: string; readonly number: number }
type Resource = {
  readonly name: string
  readonly unit: 'core' | 'byte' | 'integer'
  readonly capacity: Quantity
  readonly allocatable: Quantity
}

export function nodeResources(node: SimulatedNode): Resource[] {
  const { cpus, memoryKiB } = node.pool
  const storage = kibibytes(1_845_000_000)
  const resources: Resource[] = [
    {
      name: 'cpu',
      unit: 'core',
      capacity: { text: String(cpus), number: cpus },
      allocatable: { text: `${cpus * 1000 - 500}m`, number: cpus - 0.5 },
    },
    { name: 'memory', unit: 'byte', capacity: kibibytes(memoryKiB), allocatable: kibibytes(memoryKiB - 2_097_152) },
    { name: 'ephemeral-storage', unit: 'byte', capacity: storage, allocatable: storage },
  ]
  for (const [name, count] of Object.entries({ pods: 110, ...gpuResourceCounts(node) })) {
    const quantity = { text: String(count), number: count }
    resources.push({ name, unit: 'integer', capacity: quantity, allocatable: quantity })
  }
  return resources
}

function kibibytes(count: number): Quantity {
  return { text: `${count}Ki`, number: count * 1024 }
}

/** What the device plugin advertises: every replica of time-slicing counts, and MIG instances have resources of their own. */
export function gpuResourceCounts(node: SimulatedNode): Record<string, number> {
  const counts: Record<string, number> = { 'nvidia.com/gpu': 0 }
  if (node.pool.sharing === 'mig') for (const profile of MIG_PROFILES) counts[`nvidia.com/mig-${profile.name}`] = 0
  for (const gpu of node.gpus) {
    for (const { mig } of gpu.devices) {
      if (mig === undefined) counts['nvidia.com/gpu']! += gpu.replicas
      else counts[`nvidia.com/mig-${mig.profile.name}`]!++
    }
  }
  return counts
}

export function nodeLabels(node: SimulatedNode): Record<string, string> {
  const { pool, driverVersion } = node
  const [major, minor, revision] = driverVersion.split('.')
  const replicas = node.gpus[0]?.replicas ?? 1
  const product = pool.model.name.replaceAll(' ', '-')
  return {
    'kubernetes.io/arch': 'amd64',
    'kubernetes.io/hostname': node.name,
    'kubernetes.io/os': 'linux',
    'node.kubernetes.io/instance-type': pool.instanceType,
    'topology.kubernetes.io/zone': `zone-${'abc'[node.index % 3]}`,
    'runai/node-pool': pool.name,
    'nvidia.com/cuda.driver.major': major!,
    'nvidia.com/cuda.driver.minor': minor!,
    'nvidia.com/cuda.driver.rev': revision!,
    'nvidia.com/gpu.compute.major': String(pool.model.compute[0]),
    'nvidia.com/gpu.compute.minor': String(pool.model.compute[1]),
    'nvidia.com/gpu.count': String(node.gpus.length),
    'nvidia.com/gpu.family': pool.model.family,
    'nvidia.com/gpu.memory': String(pool.model.memoryMiB),
    'nvidia.com/gpu.present': 'true',
    'nvidia.com/gpu.product': replicas > 1 ? `${product}-SHARED` : product,
    'nvidia.com/gpu.replicas': String(replicas),
    'nvidia.com/gpu.sharing-strategy': replicas > 1 ? 'time-slicing' : 'none',
    'nvidia.com/mig.capable': String(pool.sharing === 'mig'),
    ...(pool.sharing === 'mig' && { 'nvidia.com/mig.strategy': 'mixed' }),
  }
}

export type Taint = {
  readonly key: string
  readonly value?: string
  readonly effect: string
  readonly timeAdded?: string
}

export function nodeTaints({ trouble: { cordonedMs, unreachableMs } }: SimulatedNode): Taint[] {
  const taints: Taint[] = [{ key: 'nvidia.com/gpu', value: 'present', effect: 'NoSchedule' }]
  const add = (key: string, effect: string, timeMs: number): unknown =>
    taints.push({ key: `node.kubernetes.io/${key}`, effect, timeAdded: timestamp(timeMs) })
  if (cordonedMs !== undefined) add('unschedulable', 'NoSchedule', cordonedMs)
  if (unreachableMs !== undefined) {
    add('unreachable', 'NoSchedule', unreachableMs)
    add('unreachable', 'NoExecute', unreachableMs)
  }
  return taints
}

const HEALTHY = [
  { type: 'MemoryPressure', status: 'False', reason: 'KubeletHasSufficientMemory' },
  { type: 'DiskPressure', status: 'False', reason: 'KubeletHasNoDiskPressure' },
  { type: 'PIDPressure', status: 'False', reason: 'KubeletHasSufficientPID' },
  { type: 'Ready', status: 'True', reason: 'KubeletReady' },
] as const
const UNHEARD = HEALTHY.map(({ type }) => ({ type, status: 'Unknown', reason: 'NodeStatusUnknown' }) as const)

/** Of a node that is not heard of, nothing is known. */
export function conditionsOf({ trouble }: SimulatedNode): typeof HEALTHY | typeof UNHEARD {
  return trouble.unreachableMs === undefined ? HEALTHY : UNHEARD
}

function nodeConditions(node: SimulatedNode): Record<string, unknown>[] {
  const { unreachableMs, reachableMs = node.createdMs } = node.trouble
  const lastTransitionTime = timestamp(unreachableMs ?? reachableMs)
  return conditionsOf(node).map(condition => ({
    ...condition,
    lastHeartbeatTime: timestamp(reachableMs),
    lastTransitionTime,
  }))
}
