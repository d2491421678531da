/** Namespaces as the API has them. */
import type { KubernetesObject } from '../kubernetes-object.ts'
import type { Namespace } from '../namespaces.ts'
import { timestamp } from './timestamp.ts'

export function namespaceObject({ name, uid, version, createdMs, labels, annotations }: Namespace): KubernetesObject {
  return {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: {
      name,
      uid,
      resourceVersion: String(version),
      creationTimestamp: timestamp(createdMs),
      labels,
      annotations,
    },
    spec: { finalizers: ['kubernetes'] },
    status: { phase: 'Active' },
  }
}
