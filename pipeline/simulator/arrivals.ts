/** Who submits what, and when: enough to keep the cluster busy, with a few waiting. */
import { hasQuota, type ClusterState } from './cluster-state.ts'
import { makeWorkload } from './draft.ts'
import type { EventQueue } from './event-queue.ts'
import type { NodePool, Sharing } from './hardware.ts'
import type { Lifecycle } from './lifecycle.ts'
import { ownerObject } from './objects/owner.ts'
import type { Placement } from './placement.ts'
import { shareOf, type GpuRequest, type Owner } from './pod.ts'
import { createRandom, hashOf, hashText, type Random } from './random.ts'
import { hardQuota, type Project } from './tenants.ts'
import { CRON_JOB, WORKLOAD_KINDS } from './workload-kinds/all.ts'
import type { Size, SizeLimits, Workload, WorkloadKind } from './workload.ts'

/** Of all GPUs, what is asked for on average; waiting times come from the rest. */
const WANTED_LOAD = 0.97
/** How much is taken at the beginning. */
const WARM_LOADS: readonly (readonly [Sharing, load: number])[] = [
  ['time_slicing', 0.6],
  ['mig', 0.5],
  ['whole', 0.85],
]
/** So many that found no room, or were of another kind, one after the other, are enough. */
const WARM_FAILURES = 200
const HOUR_MS = 3_600_000
const TYPICAL_MEMORY_MIB = 80_000

export type ArrivalParts = {
  readonly seed: number
  readonly state: ClusterState
  readonly events: EventQueue
  readonly placement: Placement
  readonly lifecycle: Lifecycle
}

/** Fills the cluster with workloads that have been there for a while, and plans all that come later. */
export function startArrivals(parts: ArrivalParts, startMs: number): void {
  const { state, events, placement, lifecycle } = parts
  const own = hashText('arrivals', parts.seed)
  const random = createRandom(own)
  const gpuCount = state.nodes.reduce((sum, node) => sum + node.gpus.length, 0)
  const limits: SizeLimits = {
    gpusPerPod: state.nodes[0]!.gpus.length,
    gpus: Math.max(1, Math.min(64, Math.floor(gpuCount / 8))),
    mig: placement.load('mig') !== undefined,
    timeSlicing: placement.load('time_slicing') !== undefined,
  }
  let number = 0

  function make(kind: WorkloadKind, createdMs: number, only?: Sharing, example?: Size): Workload | undefined {
    const workloadRandom = createRandom(hashOf(own, ++number), number)
    const projects = state.projects.filter(project => kind.tenancies.includes(project.tenancy))
    const project = workloadRandom.pick(projects)
    const size = example ?? kind.size(workloadRandom, limits)
    if (!isAllowed(project, size) || (only !== undefined && sharingOf(size.request) !== only)) return undefined
    const nodePool = homePool(state.pools, size.request)
    return makeWorkload({ kind, project, random: workloadRandom, number, createdMs, nodePool, ...size })
  }

  function warmUp(kind: WorkloadKind, only?: Sharing, example?: Size): boolean {
    // A long workload is the likelier one to be met, at any point of its life.
    const ageMs = 1000 * Math.floor((random.next() * kind.minutes[1] * 60) / 2)
    const workload = make(kind, startMs - ageMs - 60_000, only, example)
    if (workload === undefined) return false
    workload.durationMs = Math.max(workload.durationMs, ageMs + 60_000 * (1 + random.below(60)))
    return lifecycle.resume(workload, startMs, ageMs)
  }

  // One of each first, so that a small cluster shows them all.
  for (const kind of WORKLOAD_KINDS) {
    warmUp(kind)
    for (const example of kind.examples ?? []) warmUp(kind, undefined, example)
  }
  for (const [sharing, wanted] of WARM_LOADS) {
    for (let failures = 0; failures < WARM_FAILURES && (placement.load(sharing) ?? 1) < wanted;) {
      failures = warmUp(random.weighted(WORKLOAD_KINDS), sharing) ? 0 : failures + 1
    }
  }

  const waitingLimit = Math.min(200, Math.max(4, gpuCount / 40))
  const intervalMs = (gpuHoursPerWorkload(limits, own) / (WANTED_LOAD * gpuCount)) * HOUR_MS
  // Kept with its fraction: in a large cluster several come in one second.
  let nextMs = startMs
  function arrive(timeMs: number): void {
    const workload = make(random.weighted(WORKLOAD_KINDS), timeMs)
    // Who sees a long queue comes another time.
    if (workload !== undefined && lifecycle.waitingFor(workload) < waitingLimit) lifecycle.submit(workload, timeMs)
    planNext()
  }
  function planNext(): void {
    nextMs += random.exponential(intervalMs)
    events.plan(1000 * Math.ceil(nextMs / 1000), arrive)
  }
  planNext()
  startCronJobs(parts, startMs, random)
}

/** A ResourceQuota refuses pods; whoever is refused tries nothing else here. */
function isAllowed(project: Project, { pods, request }: Size): boolean {
  if (!hasQuota(project)) return true
  return project.gpusRequested + pods * requestedGpus(request) <= hardQuota(project)
}

/** The pool that is made for such requests. */
function homePool(pools: readonly NodePool[], request: GpuRequest): string {
  return (pools.find(({ sharing }) => sharing === sharingOf(request)) ?? pools[0]!).name
}

/** Fractions are made of whole GPUs. */
function sharingOf(request: GpuRequest): Sharing {
  return request.kind === 'mig' || request.kind === 'time_slicing' ? request.kind : 'whole'
}

function requestedGpus(request: GpuRequest): number {
  return request.kind === 'whole' || request.kind === 'time_slicing' ? request.count : 0
}

/** What a workload takes of the cluster on average. */
function gpuHoursPerWorkload(limits: SizeLimits, seed: number): number {
  const random = createRandom(hashText('size', seed))
  const samples = 500
  let sum = 0
  for (let at = 0; at < samples; at++) {
    const kind = random.weighted(WORKLOAD_KINDS)
    const { pods, request } = kind.size(random, limits)
    const [shortest, longest] = kind.minutes
    const meanMinutes = (longest - shortest) / Math.log(longest / shortest)
    sum += (pods * shareOfGpu(request) * meanMinutes) / 60
  }
  return sum / samples
}

function shareOfGpu(request: GpuRequest): number {
  switch (request.kind) {
    case 'none':
      return 0
    case 'whole':
      return request.count
    case 'time_slicing':
      return request.count / 4
    case 'mig':
      return request.profile.slices / 7
    case 'fraction':
      return request.devices * shareOf(request, TYPICAL_MEMORY_MIB)
  }
}

/** Some projects have a job that runs again and again. */
function startCronJobs({ seed, state, events, lifecycle }: ArrivalParts, startMs: number, random: Random): void {
  const projects = state.projects.filter(({ tenancy }) => CRON_JOB.tenancies.includes(tenancy)).slice(0, 8)
  for (const [at, project] of projects.entries()) {
    const periodMs = 60_000 * random.pick([15, 20, 30])
    const name = random.pick(['nightly-eval', 'refresh-index', 'drift-check', 'smoke-test'])
    const cronJob: Owner = {
      apiVersion: 'batch/v1',
      kind: 'CronJob',
      name,
      namespace: project.namespace,
      uid: random.uuid(),
      labels: {},
      annotations: {},
      createdMs: project.createdMs + 86_400_000,
      spec: { schedule: `*/${periodMs / 60_000} * * * *`, concurrencyPolicy: 'Forbid' },
      pods: new Set(),
      version: 0,
    }
    state.owners.add(cronJob)
    state.changes.record('ADDED', cronJob, ownerObject)
    const limits = { gpusPerPod: 1, gpus: 1, mig: false, timeSlicing: false }
    function runJob(timeMs: number): void {
      events.plan(timeMs + periodMs, runJob)
      if ([...cronJob.pods].some(pod => pod.phase === 'Pending' || pod.phase === 'Running')) return
      const jobRandom = createRandom(
        hashOf(hashText(project.name, seed), Math.floor(timeMs / 60_000)),
        hashText(project.name),
      )
      const size = CRON_JOB.size(jobRandom, limits)
      if (!isAllowed(project, size)) return
      const jobName = `${name}-${Math.floor(timeMs / 60_000)}`
      const options = { kind: CRON_JOB, project, random: jobRandom, number: at, createdMs: timeMs, name: jobName }
      const nodePool = homePool(state.pools, size.request)
      lifecycle.submit(makeWorkload({ ...options, parent: cronJob, nodePool, ...size }), timeMs)
    }
    events.plan(Math.ceil((startMs + 1) / periodMs) * periodMs, runJob)
  }
}
