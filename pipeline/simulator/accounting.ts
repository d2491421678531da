/**
 * What the kernel of a node counts for the cgroups on it: CPU time and memory of pods, of their containers and of the node's own
 * services.
 *
 * A container uses CPU as its GPUs are busy, and never more than it requested, so everything that runs on a node fits into it.
 * All amounts are whole numbers (microseconds and bytes): what is below a cgroup adds up to it exactly.
 *
 * Counters of containers begin at zero when they start, those of pods when the pod comes, those of the node when it boots. What is
 * over is kept as a sum; what runs is worked out from the curve it follows.
 */
import type { SimulatedNode } from './node.ts'
import { qosClassOf, type Pod, type QosClass } from './pod.ts'
import { fractionOf, hashText } from './random.ts'
import { activeMs } from './utilisation.ts'

export type Accounting = {
  /** Those that have a cgroup: from when they are bound to the node until they are over. */
  readonly pods: Set<Pod>
  readonly historyStartMs: number
  /** Since when the node counts: its boot. */
  sinceMs: number
  /** CPU time of pods that are over. */
  endedMicros: Record<QosClass, number>
  /** The latest sample of the kubelet, from before something changed. */
  kept?: NodeSample
}

/** What one cgroup uses. */
export type Use = { readonly cpuMicros: number; readonly memoryBytes: number }

export type PodSample = {
  readonly pod: Pod
  /** All of it: its containers, those that ended too, and the one that holds its network. */
  readonly whole: Use
  readonly pause: Use
  /** Undefined while none runs. */
  readonly container?: Use & { readonly startedMs: number; readonly restarts: number }
}

export type NodeSample = {
  readonly timeMs: number
  readonly bootMs: number
  readonly pods: readonly PodSample[]
  /** All pods of a class together, those that are over too. */
  readonly classes: Readonly<Record<QosClass, Use>>
  readonly services: readonly (Use & { readonly name: string })[]
  readonly whole: Use
}

const PAGE_BYTES = 4096
const MEBIBYTE = 1_048_576
/** How long a program needs to fill its memory. */
const FILLING_MS = 60_000
/** How often memory that is in use changes a little. */
const DRIFT_MS = 10_000
/** What a container uses while its GPUs rest, compared with when they are busy. */
const RESTING = 0.04
/** Who requests nothing uses something nevertheless. */
const LEAST_CPU_MILLIS = 50
const LEAST_MEMORY_MIB = 32
const PAUSE_BYTES = 50 * PAGE_BYTES
const PAUSE_MICROS_ONCE = 12_000
/** What was used on average before the history begins. */
const LOAD_BEFORE = 0.22

/** The services of the node, within what is kept back for them. */
const SERVICES = [
  { name: 'containerd.service', cores: 0.12, mebibytes: 900 },
  { name: 'kubelet.service', cores: 0.21, mebibytes: 350 },
]

/** Network and disks go with CPU time, so that all who show them agree about who does much. */
export const RECEIVED_BYTES_PER_MICRO = 3
export const SENT_BYTES_PER_MICRO = 1
export const BYTES_PER_PACKET = 1024
export const READ_BYTES_PER_MICRO = 2
export const WRITTEN_BYTES_PER_MICRO = 0.5

/** The kubelet looks at all cgroups this often, at its own millisecond of the second. */
const SAMPLE_MS = 10_000

export function startAccounting(cpus: number, bootMs: number, historyStartMs: number): Accounting {
  const endedMicros = Math.floor(LOAD_BEFORE * cpus * (historyStartMs - bootMs) * 1000)
  return { pods: new Set(), historyStartMs, sinceMs: bootMs, endedMicros: { BestEffort: 0, Burstable: endedMicros } }
}

/** To be called before the pod is bound. */
export function admitPod(node: SimulatedNode, pod: Pod, timeMs: number): void {
  keepSample(node, timeMs)
  node.accounting.pods.add(pod)
}

/** To be called before the container of a pod starts. */
export function startContainer(node: SimulatedNode, timeMs: number): void {
  keepSample(node, timeMs)
}

/** To be called while the container still runs. The pod stays. */
export function endContainer(node: SimulatedNode, pod: Pod, timeMs: number): void {
  keepSample(node, timeMs)
  pod.endedMicros = (pod.endedMicros ?? 0) + containerMicros(node, pod, timeMs)
}

/** To be called while the container still runs, if one does. */
export function dismissPod(node: SimulatedNode, pod: Pod, timeMs: number): void {
  const { accounting } = node
  keepSample(node, timeMs)
  accounting.endedMicros[qosClassOf(pod)] += samplePod(node, pod, timeMs).whole.cpuMicros
  accounting.pods.delete(pod)
}

/** All counters of the node begin at zero, as after a boot. */
export function resetAccounting(node: SimulatedNode, timeMs: number): void {
  const { accounting } = node
  keepSample(node, timeMs)
  accounting.sinceMs = timeMs
  accounting.endedMicros = { BestEffort: 0, Burstable: 0 }
  for (const pod of accounting.pods) delete pod.endedMicros
}

/** The sample that the kubelet has at a moment: its latest. */
export function kubeletSample(node: SimulatedNode, timeMs: number): NodeSample {
  const sampleMs = latestSampleMs(node, timeMs)
  const { kept } = node.accounting
  return kept?.timeMs === sampleMs ? kept : sampleNode(node, sampleMs)
}

/** Before the first change since the latest sample: afterwards that moment could not be worked out any more. */
function keepSample(node: SimulatedNode, timeMs: number): void {
  // Nobody asks for what was before the history.
  if (timeMs < node.accounting.historyStartMs) return
  node.accounting.kept = kubeletSample(node, timeMs)
}

/** Never a full second, when things happen: a sample is either before or after a change. */
function latestSampleMs({ index }: SimulatedNode, timeMs: number): number {
  const offsetMs = 1 + (hashText('kubelet', index) % 999)
  return Math.floor((timeMs - offsetMs) / SAMPLE_MS) * SAMPLE_MS + offsetMs
}

/** What there is at a moment since which nothing has changed. */
export function sampleNode(node: SimulatedNode, timeMs: number): NodeSample {
  const { accounting } = node
  const pods = Array.from(accounting.pods, pod => samplePod(node, pod, timeMs))
  const { BestEffort, Burstable } = accounting.endedMicros
  const classes = {
    BestEffort: { cpuMicros: BestEffort, memoryBytes: 0 },
    Burstable: { cpuMicros: Burstable, memoryBytes: 0 },
  }
  for (const { pod, whole } of pods) add(classes[qosClassOf(pod)], whole)
  const services = SERVICES.map(({ name, cores, mebibytes }) => ({
    name,
    cpuMicros: Math.max(0, Math.floor(cores * (timeMs - accounting.sinceMs) * 1000)),
    memoryBytes: drifting(mebibytes * MEBIBYTE, hashText(name, node.index), timeMs),
  }))
  const whole = sumOf([...Object.values(classes), ...services])
  return { timeMs, bootMs: accounting.sinceMs, pods, classes, services, whole }
}

export function sumOf(uses: readonly Use[]): Use {
  const sum = { cpuMicros: 0, memoryBytes: 0 }
  for (const use of uses) add(sum, use)
  return sum
}

function add(sum: { cpuMicros: number; memoryBytes: number }, { cpuMicros, memoryBytes }: Use): void {
  sum.cpuMicros += cpuMicros
  sum.memoryBytes += memoryBytes
}

function samplePod(node: SimulatedNode, pod: Pod, timeMs: number): PodSample {
  const pause = { cpuMicros: PAUSE_MICROS_ONCE, memoryBytes: PAUSE_BYTES }
  const whole = { cpuMicros: pause.cpuMicros + (pod.endedMicros ?? 0), memoryBytes: pause.memoryBytes }
  if (pod.runningMs === undefined) return { pod, whole, pause }
  const container = {
    cpuMicros: containerMicros(node, pod, timeMs),
    memoryBytes: containerBytes(pod, timeMs),
    startedMs: Math.max(pod.runningMs, node.accounting.sinceMs),
    restarts: pod.restarts,
  }
  add(whole, container)
  return { pod, whole, pause, container }
}

function containerMicros({ accounting }: SimulatedNode, pod: Pod, timeMs: number): number {
  const { cpuMillis, runningMs, claims, uid } = pod
  if (runningMs === undefined) return 0
  const fromMs = Math.max(runningMs, accounting.sinceMs)
  const [claim] = claims
  const busyMs =
    claim?.busySinceMs === undefined ? 0 : activeMs(claim.profile, Math.max(claim.busySinceMs, fromMs), timeMs)
  const cores = (Math.max(cpuMillis, LEAST_CPU_MILLIS) / 1000) * between(0.3, 0.95, hashText(uid))
  return Math.max(0, Math.floor(1000 * cores * (RESTING * (timeMs - fromMs) + (1 - RESTING) * busyMs)))
}

function containerBytes({ memoryMiB, runningMs, uid }: Pod, timeMs: number): number {
  const seed = hashText(uid, 1)
  const full = Math.max(memoryMiB, LEAST_MEMORY_MIB) * MEBIBYTE * between(0.3, 0.9, seed)
  const filled = Math.min(1, (timeMs - runningMs! + 1000) / FILLING_MS)
  return drifting(full * filled, seed, timeMs)
}

/** Whole pages, a few of them more or less from time to time. */
function drifting(bytes: number, seed: number, timeMs: number): number {
  const drift = 1 + 0.02 * (fractionOf(seed, Math.floor(timeMs / DRIFT_MS)) - 0.5)
  return Math.max(1, Math.floor((bytes * drift) / PAGE_BYTES)) * PAGE_BYTES
}

function between(low: number, high: number, hash: number): number {
  return low + (high - low) * (hash / 0x1_0000_0000)
}
