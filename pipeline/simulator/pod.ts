/** The pods of the simulated cluster, and the objects that own them. */
import type { Claim } from './gpu.ts'
import type { MigProfile } from './hardware.ts'

export type QosClass = 'BestEffort' | 'Burstable'
export type PodPhase = 'Pending' | 'Running' | 'Succeeded' | 'Failed'

/** What a pod wants of GPUs. Replicas of time-slicing are asked for as whole GPUs, of nodes that have them. */
export type GpuRequest =
  | { readonly kind: 'none' }
  | { readonly kind: 'whole'; readonly count: number }
  | { readonly kind: 'time_slicing'; readonly count: number }
  | { readonly kind: 'mig'; readonly profile: MigProfile }
  | FractionRequest

/** Parts of GPUs that a scheduler makes. */
export type FractionRequest = {
  readonly kind: 'fraction'
  /** Whose scheduler: no GPU is shared between two of them. */
  readonly sharedBy: Sharer
  /** Of how many GPUs the pod wants a part each. */
  readonly devices: number
  /** How large each part is: of the whole, or so much memory. */
  readonly part: { readonly fraction: number } | { readonly memoryMiB: number }
}
export type Sharer = 'runai' | 'kai'

/** An object that owns others: everything between a pod and its workload. */
export type Owner = {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly namespace: string
  readonly uid: string
  readonly owner?: Owner | Pod
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
  readonly createdMs: number
  readonly spec: Readonly<Record<string, unknown>>
  /** The pods below it, for a status that counts them. */
  readonly pods: Set<Pod>
  version: number
}

export type Termination = {
  readonly reason: string
  readonly exitCode: number
  readonly startedMs: number
  readonly finishedMs: number
}

export type Pod = {
  readonly name: string
  readonly namespace: string
  readonly uid: string
  /** Undefined for a bare pod. Another pod owns the workers of a LeaderWorkerSet. */
  readonly owner?: Owner | Pod
  readonly generateName?: string
  labels: Readonly<Record<string, string>>
  annotations: Readonly<Record<string, string>>
  readonly container: string
  readonly image: string
  readonly schedulerName: string
  readonly restartPolicy: 'Always' | 'OnFailure' | 'Never'
  readonly request: GpuRequest
  readonly cpuMillis: number
  readonly memoryMiB: number
  readonly createdMs: number
  phase: PodPhase
  nodeName?: string
  podIp?: string
  claims: Claim[]
  scheduledMs?: number
  /** Since when the container runs; undefined while it waits. */
  runningMs: number | undefined
  waitingReason?: string
  restarts: number
  /** CPU time of its containers before the present one, in microseconds. */
  endedMicros?: number
  lastTermination?: Termination
  /** Of a pod that is over. */
  termination?: Termination
  deletionMs?: number
  version: number
}

/** The part of one GPU with so much memory that a pod wants. */
export function shareOf({ part }: FractionRequest, gpuMemoryMiB: number): number {
  return 'fraction' in part ? part.fraction : part.memoryMiB / gpuMemoryMiB
}

/** How often over a pod may use what it requests: services have a limit of twice that, jobs have none. */
export function limitFactor({ restartPolicy }: Pod): number | undefined {
  return restartPolicy === 'Always' ? 2 : undefined
}

/** By what its container requests: its cgroup is below that of its class. No pod here has limits that would guarantee it anything. */
export function qosClassOf({ cpuMillis }: Pod): QosClass {
  return cpuMillis > 0 ? 'Burstable' : 'BestEffort'
}

export function isPod(owner: Owner | Pod): owner is Pod {
  return 'phase' in owner
}

/** A finished pod holds nothing, though it is still listed. */
export function isFinished(pod: Pod): boolean {
  return pod.phase === 'Succeeded' || pod.phase === 'Failed'
}
