/** Objects of the Kubernetes API, as far as the simulated cluster and its API look into them. */

export type OwnerReference = {
  apiVersion: string
  kind: string
  name: string
  uid: string
  controller?: boolean
  blockOwnerDeletion?: boolean
}

export type KubernetesObject = {
  apiVersion: string
  kind: string
  metadata: {
    name: string
    namespace?: string
    uid?: string
    resourceVersion?: string
    labels?: Record<string, string>
    annotations?: Record<string, string>
    ownerReferences?: OwnerReference[]
    creationTimestamp?: string
    deletionTimestamp?: string
    [key: string]: unknown
  }
  [key: string]: unknown
}

export type ObjectChange = { type: 'ADDED' | 'MODIFIED' | 'DELETED'; object: KubernetesObject }
