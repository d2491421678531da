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

export type PodPhase = 'Pending' | 'Running' | 'Succeeded' | 'Failed' | 'Unknown'

/** What is kept of a pod. Times are in milliseconds since 1970; undefined is not yet, or not known. */
export type Pod = KubernetesMetadata & {
  /** '' while it is bound to none. */
  readonly node: string
  readonly phase: PodPhase | undefined
  readonly podIp: string
  readonly createdMs: number | undefined
  /** When it was bound to its node. */
  readonly scheduledMs: number | undefined
  /** When the kubelet took it. */
  readonly startedMs: number | undefined
  /** When the first container that is still told of started; undefined where only the kubelet's time is known. */
  readonly runningMs: number | undefined
  /** When the last container ended, of a pod that has finished. */
  readonly finishedMs: number | undefined
  /** When it was asked to go. A pod that is gone altogether is not in the table of pods any more. */
  readonly deletingMs: number | undefined
  readonly containers: readonly Container[]
  /** Names of the claims that it uses, where there are any. */
  readonly claims?: readonly string[]
}

export type Container = {
  readonly name: string
  /** As it was asked for; missing where the source does not say. */
  readonly image?: string
  /** By the name that Kubernetes has for the resource (`cpu`, `nvidia.com/mig-1g.5gb`), in base units: cores, bytes, pieces. */
  readonly requests: ReadonlyMap<string, number>
  readonly limits: ReadonlyMap<string, number>
}

export type Node = KubernetesMetadata & {
  readonly addresses: readonly string[]
  readonly capacity: ReadonlyMap<string, number>
  readonly allocatable: ReadonlyMap<string, number>
  /** By type: `Ready` is `True`, `False` or `Unknown`. */
  readonly conditions: ReadonlyMap<string, string>
  readonly schedulable: boolean
}
