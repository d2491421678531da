/** Kubernetes objects as the API has them in JSON: what the simulated cluster is made of, and how it changes. */

export type KubernetesObject = {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: ObjectMetadata
  readonly spec?: unknown
  readonly status?: unknown
  readonly [field: string]: unknown
}

export type ObjectMetadata = {
  readonly name: string
  /** Absent in objects of the whole cluster (Node, Namespace). */
  readonly namespace?: string
  readonly uid: string
  /** A decimal number that grows with every change of any object of the cluster. */
  readonly resourceVersion: string
  readonly creationTimestamp?: string
  readonly deletionTimestamp?: string
  readonly deletionGracePeriodSeconds?: number
  readonly generateName?: string
  readonly generation?: number
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  readonly ownerReferences?: readonly OwnerReference[]
  readonly [field: string]: unknown
}

export type OwnerReference = {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly uid: string
  readonly controller?: boolean
  readonly blockOwnerDeletion?: boolean
}

/** One watch event. In a DELETED one the object is its last state, with the resourceVersion of the deletion. */
export type ObjectChange = {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
  readonly object: KubernetesObject
}

/** Whoever has objects and can tell how they change; the simulated cluster is one. */
export type ObjectSource = {
  /** The resourceVersion of the newest change. */
  readonly resourceVersion: string
  /** All objects as they are now. */
  objects(): Iterable<KubernetesObject>
  /** Calls the listener for every change from now on, in the order of resourceVersions, until the returned function is called. */
  watch(listener: (change: ObjectChange) => void): () => void
}
