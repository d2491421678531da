/** How large workloads are, cut to what the cluster has. */
import { MIG_PROFILES } from '../hardware.ts'
import type { GpuRequest } from '../pod.ts'
import type { Random } from '../random.ts'
import type { Size, SizeLimits } from '../workload.ts'

/** So many pods with so many whole GPUs each, one of the given. */
export function wholeGpus(pods: readonly number[], gpus: readonly number[]) {
  return (random: Random, limits: SizeLimits): Size => {
    const count = Math.min(random.pick(gpus), limits.gpusPerPod, limits.gpus)
    const podCount = Math.min(random.pick(pods), Math.max(1, Math.floor(limits.gpus / count)))
    return { pods: podCount, request: { kind: 'whole', count } }
  }
}

/** One GPU per pod or, more often where there are such nodes, a time slice of one. */
export function servingGpus(pods: readonly number[]) {
  return (random: Random, limits: SizeLimits): Size => {
    const request: GpuRequest =
      limits.timeSlicing && random.chance(0.75)
        ? { kind: 'time_slicing', count: random.chance(0.1) ? 2 : 1 }
        : { kind: 'whole', count: 1 }
    return { pods: Math.min(random.pick(pods), limits.gpus), request }
  }
}

/** The smaller, the more there are, and the more are wanted. */
const PROFILES = MIG_PROFILES.map(profile => ({ ...profile, weight: 4 / profile.slices ** 2 }))

/** A part of a GPU: a MIG instance where there are any, else a fraction. */
export function partOfGpu(migShare: number, fractions: readonly number[]) {
  return (random: Random, limits: SizeLimits): Size => {
    const request: GpuRequest =
      limits.mig && random.chance(migShare)
        ? { kind: 'mig', profile: random.weighted(PROFILES) }
        : { kind: 'fraction', fraction: random.pick(fractions) }
    return { pods: 1, request }
  }
}

/** One of several ways, as likely as its weight. */
export function anyOf(...choices: readonly { weight: number; size: (random: Random, limits: SizeLimits) => Size }[]) {
  return (random: Random, limits: SizeLimits): Size => random.weighted(choices).size(random, limits)
}
