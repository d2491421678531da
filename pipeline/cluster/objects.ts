/** What is kept of Kubernetes objects: a few fields, with label sets that are shared. */
import type { Labels } from '../model/labels.ts'

/** A reference to an owner, as an object has it. */
export type OwnerReference = {
  /** The API group, '' for core. kube-state-metrics does not know it: then it is undefined. */
  readonly group: string | undefined
  readonly kind: string
  readonly name: string
  /** '' where the source does not know it. */
  readonly uid: string
  readonly controller: boolean
}

/** What every object has in common: enough to follow owners and to look up a project. */
export type KubernetesMetadata = {
  readonly group: string | undefined
  readonly kind: string
  /** '' for what belongs to no namespace. */
  readonly namespace: string
  readonly name: string
  readonly uid: string
  readonly labels: Labels
  readonly annotations: Labels
  readonly owners: readonly OwnerReference[]
}
