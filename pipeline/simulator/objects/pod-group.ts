/** Groups of pods of Run:ai and KAI as the API has them. */
import type { KubernetesObject } from '../kubernetes-object.ts'
import type { PodPhase } from '../pod.ts'
import type { PodGroup } from '../quotas/pod-group-ledger.ts'
import { referenceTo } from './owner.ts'
import { usageStatus } from './queue.ts'
import { timestamp } from './timestamp.ts'

export function podGroupObject(group: PodGroup): KubernetesObject {
  const { name, uid, project, owner, queue, minMember, isPreemptible } = group
  const isRunai = project.tenancy === 'runai'
  return {
    apiVersion: 'scheduling.run.ai/v2alpha2',
    kind: 'PodGroup',
    metadata: {
      name,
      namespace: project.namespace,
      uid,
      resourceVersion: String(group.version),
      generation: 1,
      creationTimestamp: timestamp(group.createdMs),
      labels: isRunai
        ? { project: project.name, 'runai/queue': project.name, 'runai/node-pool': queue.pool! }
        : { 'kai.scheduler/queue': queue.name },
      ownerReferences: [{ ...referenceTo(owner), controller: false, blockOwnerDeletion: false }],
    },
    spec: {
      queue: queue.name,
      minMember,
      priorityClassName: isPreemptible ? 'train' : 'build',
      preemptibility: isPreemptible ? 'preemptible' : 'non-preemptible',
    },
    status: {
      running: countIn(group, 'Running'),
      pending: countIn(group, 'Pending'),
      succeeded: countIn(group, 'Succeeded'),
      failed: countIn(group, 'Failed'),
      resourcesStatus: usageStatus(group.usage),
    },
  }
}

function countIn({ charges }: PodGroup, phase: PodPhase): number {
  let count = 0
  for (const charge of charges.values()) if (charge.phase === phase) count++
  return count
}
