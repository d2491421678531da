/** The objects of Kueue as the API has them. */
import type { KubernetesObject, ObjectMetadata } from '../kubernetes-object.ts'
import { addTo, quantities, quantity } from '../quotas/amounts.ts'
import type { KueueWorkload } from '../quotas/kueue-ledger.ts'
import type { ClusterQueue, FlavorAmounts, LocalQueue, ResourceFlavor } from '../quotas/kueue.ts'
import { referenceTo } from './owner.ts'
import { timestamp } from './timestamp.ts'

const API_VERSION = 'kueue.x-k8s.io/v1beta1'

type Kept = { readonly name: string; readonly uid: string; readonly createdMs: number; readonly version: number }

function metadata({ name, uid, createdMs, version }: Kept): ObjectMetadata {
  return { name, uid, resourceVersion: String(version), generation: 1, creationTimestamp: timestamp(createdMs) }
}

export function resourceFlavorObject(flavor: ResourceFlavor): KubernetesObject {
  const { nodeLabels } = flavor
  const spec = Object.keys(nodeLabels).length > 0 ? { nodeLabels } : {}
  return { apiVersion: API_VERSION, kind: 'ResourceFlavor', metadata: metadata(flavor), spec }
}

export function clusterQueueObject(queue: ClusterQueue): KubernetesObject {
  const { mig, ...others } = queue.quota
  return {
    apiVersion: API_VERSION,
    kind: 'ClusterQueue',
    metadata: metadata(queue),
    spec: {
      cohort: 'gpus',
      namespaceSelector: {},
      queueingStrategy: 'BestEffortFIFO',
      resourceGroups: [resourceGroup(others), ...(mig === undefined ? [] : [resourceGroup({ mig })])],
    },
    status: {
      ...counts(queue),
      flavorsReservation: usage(queue, queue.quota),
      flavorsUsage: usage(queue, queue.quota),
      conditions: [active(queue)],
    },
  }
}

export function localQueueObject(queue: LocalQueue): KubernetesObject {
  const { clusterQueue, namespace } = queue
  return {
    apiVersion: API_VERSION,
    kind: 'LocalQueue',
    metadata: { ...metadata(queue), namespace },
    spec: { clusterQueue: clusterQueue.name },
    status: {
      ...counts(queue),
      flavorsReservation: usage(queue, clusterQueue.quota, false),
      flavorUsage: usage(queue, clusterQueue.quota, false),
      conditions: [active(queue)],
    },
  }
}

export function kueueWorkloadObject(workload: KueueWorkload): KubernetesObject {
  const { owner, queue, pods, amounts, end } = workload
  const name = `${owner.kind.toLowerCase()}-${owner.name}-${workload.uid.slice(0, 5)}`
  const flavors = Object.entries(amounts).flatMap(([flavor, some]) => Object.keys(some).map(key => [key, flavor]))
  const total: Record<string, number> = {}
  for (const some of Object.values(amounts)) addTo(total, some, 1)
  return {
    apiVersion: API_VERSION,
    kind: 'Workload',
    metadata: {
      ...metadata({ ...workload, name }),
      namespace: owner.namespace,
      labels: { 'kueue.x-k8s.io/job-uid': owner.uid },
      ownerReferences: [referenceTo(owner)],
    },
    spec: { active: true, priority: 0, queueName: queue.name, podSets: [{ name: 'main', count: pods }] },
    status: {
      admission: {
        clusterQueue: queue.clusterQueue.name,
        podSetAssignments: [
          { name: 'main', count: pods, flavors: Object.fromEntries(flavors), resourceUsage: quantities(total) },
        ],
      },
      conditions: [
        condition('QuotaReserved', 'QuotaReserved', workload.createdMs),
        condition('Admitted', 'Admitted', workload.createdMs),
        ...(end === undefined ? [] : [condition('Finished', end.reason, end.timeMs)]),
      ],
    },
  }
}

function resourceGroup(quota: FlavorAmounts): Record<string, unknown> {
  const [first = {}] = Object.values(quota)
  return {
    coveredResources: Object.keys(first),
    flavors: Object.entries(quota).map(([name, amounts]) => ({
      name,
      resources: Object.entries(amounts).map(([resource, amount]) => ({
        name: resource,
        nominalQuota: quantity(resource, amount),
      })),
    })),
  }
}

function counts({ admitted }: { admitted: number }): Record<string, number> {
  return { admittedWorkloads: admitted, pendingWorkloads: 0, reservingWorkloads: admitted }
}

/** Every flavor and resource of the quota, used or not. What is more than the quota is borrowed from the cohort. */
function usage(
  { usage }: { readonly usage: FlavorAmounts },
  quota: FlavorAmounts,
  saysBorrowed = true,
): Record<string, unknown>[] {
  return Object.entries(quota).map(([name, nominal]) => ({
    name,
    resources: Object.entries(nominal).map(([resource, amount]) => {
      const total = usage[name]?.[resource] ?? 0
      const borrowed = quantity(resource, Math.max(0, total - amount))
      return { name: resource, total: quantity(resource, total), ...(saysBorrowed && { borrowed }) }
    }),
  }))
}

function active({ createdMs }: { createdMs: number }): Record<string, unknown> {
  return condition('Active', 'Ready', createdMs)
}

function condition(type: string, reason: string, timeMs: number): Record<string, unknown> {
  return { type, status: 'True', reason, message: '', lastTransitionTime: timestamp(timeMs) }
}
