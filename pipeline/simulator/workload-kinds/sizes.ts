/** How large workloads are, cut to what the cluster has. */
import { MIG_PROFILES } from '../hardware.ts'
import type { FractionRequest, GpuRequest, Sharer } from '../pod.ts'
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

/** A MIG instance where there are any, else a whole GPU. */
export function migInstance(random: Random, limits: SizeLimits): Size {
  if (!limits.mig) return wholeGpus([1], [1])(random, limits)
  return { pods: 1, request: { kind: 'mig', profile: random.weighted(PROFILES) } }
}

/** Requests by memory, in MiB. */
const MEMORIES = [8192, 16_384, 20_000]

/** A part of a GPU that a scheduler makes; a few want so much memory, whatever part that is, or parts of two GPUs. */
export function fractionOfGpu(sharedBy: Sharer, fractions: readonly number[]) {
  return (random: Random, limits: SizeLimits): Size => {
    const part = random.chance(0.15) ? { memoryMiB: random.pick(MEMORIES) } : { fraction: random.pick(fractions) }
    const devices = limits.gpusPerPod > 1 && random.chance(0.12) ? 2 : 1
    return fraction(sharedBy, part, devices)
  }
}

export function fraction(sharedBy: Sharer, part: FractionRequest['part'], devices = 1): Size {
  return { pods: 1, request: { kind: 'fraction', sharedBy, part, devices } }
}

/** Work for CPUs alone. */
export function noGpus(pods: readonly number[]) {
  return (random: Random): Size => ({ pods: random.pick(pods), request: { kind: 'none' } })
}

/** One of several ways, as likely as its weight. */
export function anyOf(...choices: readonly { weight: number; size: (random: Random, limits: SizeLimits) => Size }[]) {
  return (random: Random, limits: SizeLimits): Size => random.weighted(choices).size(random, limits)
}
