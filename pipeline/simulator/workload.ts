/** What people submit: owners and pods that belong together. */
import type { Owner, Pod, GpuRequest } from './pod.ts'
import type { Random } from './random.ts'
import type { Project, Tenancy } from './tenants.ts'
import type { Profile, ProfileKind } from './utilisation.ts'

/**
 * How a workload ends: a task is over when its work is done, and is there to be seen for a while; a service or a session is
 * deleted by somebody.
 */
export type Lasting = 'task' | 'session' | 'service'

export type WorkloadKind = {
  /** Of the object at the top of the owner chain. */
  readonly name: string
  /** How often it is submitted, compared with the others. */
  readonly weight: number
  readonly tenancies: readonly Tenancy[]
  readonly profile: ProfileKind
  readonly lasting: Lasting
  readonly minutes: readonly [shortest: number, longest: number]
  /** What happens to pods that failed: the controller makes others beside them, or makes them anew under the same name. */
  readonly retry?: 'replace' | 'recreate'
  readonly size: (random: Random, limits: SizeLimits) => Size
  /** Sizes that a cluster is to show from the beginning, beside one at random. */
  readonly examples?: readonly Size[]
  readonly build: (draft: Draft) => void
}

/** How large a workload may be in a cluster of this size. */
export type SizeLimits = {
  readonly gpusPerPod: number
  readonly gpus: number
  readonly mig: boolean
  readonly timeSlicing: boolean
}
export type Size = { readonly pods: number; readonly request: GpuRequest }

export type OwnerTemplate = {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly owner?: Owner | Pod
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  readonly spec?: Readonly<Record<string, unknown>>
}

export type PodTemplate = {
  /** A name, or the part before a random tail. */
  readonly name?: string
  readonly generateName?: string
  readonly owner?: Owner | Pod
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  readonly container?: string
  readonly image: string
  readonly request: GpuRequest
  readonly restartPolicy?: Pod['restartPolicy']
}

/** What a kind builds a workload with. */
export type Draft = Size & {
  readonly name: string
  readonly project: Project
  readonly user: string
  readonly random: Random
  /** What submits it, where that is not a person. */
  readonly parent?: Owner
  readonly createdMs: number
  /** Where it is to run, as long as nothing else is known. */
  readonly nodePool: string
  /** Labels that say in which queue it stands, for the object at the top; pods get theirs by themselves. */
  readonly queueLabels: Readonly<Record<string, string>>
  /** Makes an object; the first one is the top of the chain. */
  owner(template: OwnerTemplate): Owner
  pod(template: PodTemplate): Pod
  /** Annotations for all pods that are made from now on. */
  annotatePods(annotations: Readonly<Record<string, string>>): void
}

export type Workload = {
  readonly kind: WorkloadKind
  readonly name: string
  readonly project: Project
  readonly random: Random
  /** What all of its pods do. */
  readonly profile: Profile
  readonly owners: Owner[]
  readonly templates: Map<Pod, PodTemplate>
  /** All that are listed, the finished ones too. */
  readonly pods: Set<Pod>
  durationMs: number
  retriesLeft: number
  startedPods: number
  /** Whether it is settled what becomes of it. */
  restPlanned: boolean
}
