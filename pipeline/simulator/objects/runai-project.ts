/** Projects and departments of Run:ai as the API has them. */
import type { KubernetesObject } from '../kubernetes-object.ts'
import { addTo } from '../quotas/amounts.ts'
import { newUsage, UNLIMITED, type Queue } from '../quotas/queue.ts'
import type { Department, Project } from '../tenants.ts'
import { usageStatus } from './queue.ts'
import { timestamp } from './timestamp.ts'

/** Among all queues, its own are looked for. */
export function runaiProjectObject(project: Project, queues: readonly Queue[]): KubernetesObject {
  const own = queues.filter(queue => queue.tenancy === 'runai' && queue.project === project.name)
  const total = newUsage()
  for (const { usage } of own) {
    addTo(total.allocated, usage.allocated, 1)
    addTo(total.nonPreemptible, usage.nonPreemptible, 1)
    addTo(total.requested, usage.requested, 1)
  }
  return {
    apiVersion: 'run.ai/v2',
    kind: 'Project',
    metadata: {
      name: project.name,
      uid: project.objectUid,
      resourceVersion: String(project.version),
      generation: 1,
      creationTimestamp: timestamp(project.createdMs),
    },
    spec: {
      department: project.department,
      defaultNodePools: own.map(({ pool }) => pool),
      permissions: { users: [...new Set(project.users)] },
      queues: own.map(queueEntry),
    },
    status: {
      namespace: project.namespace,
      phase: 'Ready',
      quotaStatus: usageStatus(total),
      nodePoolsQuotaStatuses: own.map(({ pool, usage }) => ({ nodePoolName: pool, queueStatus: usageStatus(usage) })),
    },
  }
}

export function departmentObject(department: Department, queues: readonly Queue[]): KubernetesObject {
  const own = queues.filter(
    queue => queue.tenancy === 'runai' && queue.project === undefined && queue.department === department.name,
  )
  const gpus = own.map(({ quota }) => quota.gpu.deserved)
  return {
    apiVersion: 'scheduling.run.ai/v2alpha2',
    kind: 'Department',
    metadata: {
      name: department.name,
      uid: department.uid,
      resourceVersion: String(department.version),
      generation: 1,
      creationTimestamp: timestamp(department.createdMs),
    },
    spec: {
      deservedGpus: gpus.includes(UNLIMITED) ? UNLIMITED : Math.round(10 * gpus.reduce((a, b) => a + b, 0)) / 10,
      queues: own.map(queueEntry),
    },
    status: {},
  }
}

function queueEntry({ name, pool, quota }: Queue): Record<string, unknown> {
  return { name, nodepool: pool, resources: quota }
}
