/** Everything between a pod and its workload as the API has it. */
import type { KubernetesObject, OwnerReference } from '../kubernetes-object.ts'
import { isPod, type Owner, type Pod } from '../pod.ts'
import { timestamp } from './timestamp.ts'

export function ownerObject(owner: Owner): KubernetesObject {
  const { apiVersion, kind, name, namespace, uid, labels, annotations } = owner
  return {
    apiVersion,
    kind,
    metadata: {
      name,
      namespace,
      uid,
      resourceVersion: String(owner.version),
      generation: 1,
      creationTimestamp: timestamp(owner.createdMs),
      ...(Object.keys(labels).length > 0 && { labels }),
      ...(Object.keys(annotations).length > 0 && { annotations }),
      ...(owner.owner && { ownerReferences: [referenceTo(owner.owner)] }),
    },
    spec: owner.spec,
    status: STATUS_OF_KIND[`${apiVersion}/${kind}`]?.(owner) ?? {},
  }
}

export function referenceTo(owner: Owner | Pod): OwnerReference {
  const { apiVersion, kind } = isPod(owner) ? { apiVersion: 'v1', kind: 'Pod' } : owner
  return { apiVersion, kind, name: owner.name, uid: owner.uid, controller: true, blockOwnerDeletion: true }
}

/** How many pods below it are in which state. */
export function countPods({ pods }: Owner): { active: number; ready: number; succeeded: number; failed: number } {
  const counts = { active: 0, ready: 0, succeeded: 0, failed: 0 }
  for (const pod of pods) {
    if (pod.phase === 'Succeeded') counts.succeeded++
    else if (pod.phase === 'Failed') counts.failed++
    else {
      counts.active++
      if (pod.runningMs !== undefined) counts.ready++
    }
  }
  return counts
}

function replicaStatus(owner: Owner): Record<string, unknown> {
  const { active, ready } = countPods(owner)
  return { observedGeneration: 1, replicas: active, readyReplicas: ready, availableReplicas: ready }
}

const STATUS_OF_KIND: Readonly<Record<string, (owner: Owner) => Record<string, unknown>>> = {
  'apps/v1/Deployment': replicaStatus,
  'apps/v1/ReplicaSet': replicaStatus,
  'apps/v1/StatefulSet': replicaStatus,
  'batch/v1/Job'(owner) {
    const { active, ready, succeeded, failed } = countPods(owner)
    return { startTime: timestamp(owner.createdMs), active, ready, succeeded, failed }
  },
}
