/** Queues of Run:ai and KAI as the API has them. */
import type { KubernetesObject } from '../kubernetes-object.ts'
import { quantities } from '../quotas/amounts.ts'
import type { Queue, Share, Usage } from '../quotas/queue.ts'
import { timestamp } from './timestamp.ts'

export function queueObject(queue: Queue): KubernetesObject {
  const { name, uid, tenancy, pool, parent, project, quota, usage } = queue
  return {
    apiVersion: 'scheduling.run.ai/v2',
    kind: 'Queue',
    metadata: {
      name,
      uid,
      resourceVersion: String(queue.version),
      generation: 1,
      creationTimestamp: timestamp(queue.createdMs),
      ...(tenancy === 'runai' && {
        labels: { 'runai/node-pool': pool!, department: queue.department, ...(project !== undefined && { project }) },
      }),
    },
    spec: {
      displayName: project ?? queue.department,
      ...(parent && { parentQueue: parent.name }),
      resources: { gpu: queueShare(quota.gpu), cpu: queueShare(quota.cpu), memory: queueShare(quota.memory) },
    },
    status: usageStatus(usage),
  }
}

export function usageStatus({ allocated, nonPreemptible, requested }: Usage): Record<string, unknown> {
  return {
    allocated: quantities(allocated),
    allocatedNonPreemptible: quantities(nonPreemptible),
    requested: quantities(requested),
  }
}

/** A queue calls quota what a project calls deserved. */
function queueShare({ deserved, limit, overQuotaWeight }: Share): Record<string, number> {
  return { quota: deserved, limit, overQuotaWeight }
}
