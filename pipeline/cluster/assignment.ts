/**
 * Who has which part of a device. A pair of a pod and a device is the unit of attribution: whatever is shown for pods, workloads and
 * projects is a sum or a mean over pairs, and what is in no pair is nobody's.
 */
import type { FoundPod } from './find-pod.ts'
import type { Holder, SeenDevice } from './seen.ts'

/** One who has a part of a device: a pod that is bound and not finished, or a job of a batch system. */
export type Holding = {
  readonly pod: FoundPod | undefined
  /** Where it is set, the workload is this job, also if it runs inside of a pod. */
  readonly job: string | undefined
  /** Above 0. Those of one device never add up to more than 1. */
  readonly share: number
  /** What tells that it has it, and how much of it, for `gpucol explain`. */
  readonly because: string
}

/** One whom the exporter names, and who has no part of the device. */
export type Passed = { readonly holder: Holder; readonly reason: UnattributedReason; readonly because: string }

/** Why a part of a device is nobody's. */
export type UnattributedReason = 'free' | 'unknown_pod' | 'finished_pod' | 'share_left'

/** What holds alike for all whole devices of a pod. */
export type Attribution = {
  readonly node: string | undefined
  /** What the device is of its board: 1, or for a MIG instance its slices as a part of all that the board has. */
  readonly weight: number
  /** Whether several may use the device, also if only one does now: a reading of the device is then none of a pod. */
  readonly isShared: boolean
  /** Each pod and each job once; a pod inside of which several jobs run is there with each of them. */
  readonly holdings: readonly Holding[]
  /** What is left, in parts of the device; 0 if nothing is. */
  readonly rest: { readonly share: number; readonly reason: UnattributedReason }
}

export type Assignment = Attribution & { readonly device: SeenDevice; readonly passed: readonly Passed[] }
