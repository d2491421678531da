/**
 * The GPUs of the simulated cluster and who holds them.
 *
 * A device is what can be given to a pod: a whole board or a MIG instance. A claim is one pod on one device with its share. What a
 * board reads at a moment is the sum of what its claims do, so per-pod and per-device readings agree.
 */
import type { GpuModel, MigProfile } from './hardware.ts'
import { activeMs, activityAt, type Profile } from './utilisation.ts'
import type { Pod } from './pod.ts'

export type Gpu = {
  readonly nodeName: string
  readonly index: number
  readonly uuid: string
  readonly pciBusId: string
  readonly model: GpuModel
  /** One, the board itself, unless it is partitioned. */
  readonly devices: Device[]
  /** How many pods may hold one device, by time-slicing. */
  readonly replicas: number
  /** Tells its readings apart from those of its neighbours. */
  readonly seed: number
  /** The counters as they were when somebody last began or stopped to work. */
  energyJoules: number
  settledMs: number
  pcieReplays: number
  /** Code of the last XID error, 0 for none. */
  xid: number
}

export type Device = {
  readonly gpu: Gpu
  readonly mig?: {
    readonly uuid: string
    readonly profile: MigProfile
    readonly instanceId: number
    readonly position: number
  }
  /** Of the board's power. */
  readonly boardShare: number
  readonly memoryMiB: number
  readonly claims: Claim[]
  /** The finished pod that an older kubelet still tells of, while nobody has the device. */
  lingering?: Pod
}

export type Claim = {
  readonly pod: Pod
  readonly device: Device
  /** Of the device's time and memory; the shares on one device add up to 1 at most. */
  readonly share: number
  /** Which of the time-slicing replicas. */
  readonly replica?: number
  /** Whether the kubelet gave the device to this pod, so that dcgm-exporter sees it. Fractions go through a reservation pod. */
  readonly seenByKubelet: boolean
  /** What it uses when it has loaded its model. */
  readonly memoryMiB: number
  readonly profile: Profile
  readonly seed: number
  /** Since when the container works; undefined while it does not. */
  busySinceMs: number | undefined
}

/** How long a pod needs to fill its memory. */
const LOADING_MS = 90_000

/** From 0 to 1: how much of its share of time a pod uses. */
export function claimActivity(claim: Claim, timeMs: number, sampleNumber: number): number {
  if (claim.busySinceMs === undefined || timeMs < claim.busySinceMs) return 0
  return activityAt(claim.profile, timeMs, claim.seed, sampleNumber)
}

export function claimMemoryMiB(claim: Claim, timeMs: number): number {
  if (claim.busySinceMs === undefined || timeMs < claim.busySinceMs) return 0
  const loaded = Math.min(1, (timeMs - claim.busySinceMs + 1000) / LOADING_MS)
  return Math.floor(claim.memoryMiB * loaded)
}

export function deviceActivity(device: Device, timeMs: number, sampleNumber: number): number {
  let sum = 0
  for (const claim of device.claims) sum += claim.share * claimActivity(claim, timeMs, sampleNumber)
  return Math.min(1, sum)
}

export function deviceMemoryUsedMiB(device: Device, timeMs: number): number {
  let sum = device.mig === undefined ? 4 : 12
  for (const claim of device.claims) sum += claimMemoryMiB(claim, timeMs)
  return sum
}

export function boardActivity(gpu: Gpu, timeMs: number, sampleNumber: number): number {
  let sum = 0
  for (const device of gpu.devices) sum += device.boardShare * deviceActivity(device, timeMs, sampleNumber)
  return Math.min(1, sum)
}

export function energyJoulesAt(gpu: Gpu, timeMs: number): number {
  const { idleWatts, fullWatts } = gpu.model
  let active = 0
  for (const device of gpu.devices) {
    for (const claim of device.claims) {
      if (claim.busySinceMs === undefined) continue
      const from = Math.max(claim.busySinceMs, gpu.settledMs)
      active += device.boardShare * claim.share * activeMs(claim.profile, from, timeMs)
    }
  }
  const elapsed = timeMs - gpu.settledMs
  return gpu.energyJoules + (idleWatts * elapsed + (fullWatts - idleWatts) * active) / 1000
}

/** Brings the counters up to date; called before anything changes that they depend on. */
export function settle(gpu: Gpu, timeMs: number): void {
  gpu.energyJoules = energyJoulesAt(gpu, timeMs)
  gpu.settledMs = timeMs
}

/** A driver that is loaded again counts from zero. */
export function resetCounters(gpu: Gpu, timeMs: number): void {
  gpu.energyJoules = 0
  gpu.settledMs = timeMs
  gpu.pcieReplays = 0
  gpu.xid = 0
}
