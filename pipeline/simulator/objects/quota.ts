/** The ResourceQuota of a project as the API has it. */
import type { KubernetesObject } from '../kubernetes-object.ts'
import { hardQuota, type Project } from '../tenants.ts'
import { timestamp } from './timestamp.ts'

export const QUOTA_NAME = 'gpus'
const POD_LIMIT = 500

/** What it limits, in the order of the API: by name. */
export function quotaAmounts(project: Project): readonly { resource: string; hard: number; used: number }[] {
  return [
    { resource: 'pods', hard: POD_LIMIT, used: project.podCount },
    { resource: 'requests.nvidia.com/gpu', hard: hardQuota(project), used: project.gpusRequested },
  ]
}

export function quotaObject(project: Project): KubernetesObject {
  const amounts = quotaAmounts(project)
  const hard = Object.fromEntries(amounts.map(({ resource, hard }) => [resource, String(hard)]))
  const used = Object.fromEntries(amounts.map(({ resource, used }) => [resource, String(used)]))
  return {
    apiVersion: 'v1',
    kind: 'ResourceQuota',
    metadata: {
      name: QUOTA_NAME,
      namespace: project.namespace,
      uid: project.objectUid,
      resourceVersion: String(project.version),
      creationTimestamp: timestamp(project.createdMs),
    },
    spec: { hard },
    status: { hard, used },
  }
}
