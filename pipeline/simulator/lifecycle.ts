/**
 * The life of workloads: submitted, waiting, bound, running, over, gone; with failures, restarts and pods that move.
 *
 * Every change happens at a full second, as timestamps of Kubernetes have no more.
 */
import { hasQuota, type ClusterState } from './cluster-state.ts'
import { addPod, controllersOf } from './draft.ts'
import type { EventQueue } from './event-queue.ts'
import { settle } from './gpu.ts'
import { podIpOf, type Holding } from './holding.ts'
import type { ObjectChange } from './kubernetes-object.ts'
import { ownerObject } from './objects/owner.ts'
import { podObject } from './objects/pod.ts'
import { quotaObject } from './objects/quota.ts'
import type { Placement } from './placement.ts'
import { isFinished, type GpuRequest, type Pod, type PodPhase } from './pod.ts'
import { makeProfile, type Profile } from './utilisation.ts'
import type { Workload } from './workload.ts'

export type Lifecycle = {
  submit(workload: Workload, timeMs: number): void
  /** For what is there from the beginning: as if it had been submitted some time ago. False if there is no room for it. */
  resume(workload: Workload, timeMs: number, ageMs: number): boolean
  /** How many workloads wait for the same sort of GPUs. */
  waitingFor(workload: Workload): number
}

/** Pods of one workload that must start together. */
type Gang = { readonly workload: Workload; readonly pods: readonly Pod[]; readonly sinceMs: number }

type Wanted = GpuRequest['kind']

/** A scheduler that found no room for so many in a row tries the others at the next occasion. */
const ATTEMPTS_PER_PASS = 24
/** Who has waited for so long is not overtaken any more by others that want the same. */
const PATIENCE_MS = 20 * 60_000

export function createLifecycle(
  state: ClusterState,
  events: EventQueue,
  placement: Placement,
  holding: Holding,
): Lifecycle {
  const waiting: Gang[] = []
  const waitingByWanted = new Map<Wanted, number>()
  const profiles = new Map<Workload, Profile>()
  let passPlanned = false

  function changed(type: ObjectChange['type'], pod: Pod): void {
    state.changes.record(type, pod, podObject)
    for (const owner of controllersOf(pod)) {
      if (!state.owners.has(owner) || !hasStatus(owner.apiVersion)) continue
      state.changes.record('MODIFIED', owner, ownerObject)
    }
  }

  function countRequest({ project }: Workload, pod: Pod, sign: 1 | -1): void {
    if (!hasQuota(project)) return
    const { request } = pod
    project.podCount += sign
    if (request.kind === 'whole' || request.kind === 'time_slicing') project.gpusRequested += sign * request.count
    state.changes.record('MODIFIED', project, quotaObject)
  }

  function list(workload: Workload, pod: Pod): void {
    state.pods.add(pod)
    changed('ADDED', pod)
    countRequest(workload, pod, 1)
  }

  function announce(workload: Workload): void {
    // Owners come before what they own; the workers' set of a leader comes after the leader's pod all the same.
    for (const owner of workload.owners) {
      state.owners.add(owner)
      state.changes.record('ADDED', owner, ownerObject)
    }
    for (const pod of workload.pods) list(workload, pod)
  }

  function submit(workload: Workload, timeMs: number): void {
    announce(workload)
    enqueue(workload, [...workload.pods], timeMs)
  }

  function enqueue(workload: Workload, pods: readonly Pod[], timeMs: number): void {
    waiting.push({ workload, pods, sinceMs: timeMs })
    countWaiting(wantedBy(pods), 1)
    wake(timeMs)
  }

  function countWaiting(wanted: Wanted, by: number): void {
    waitingByWanted.set(wanted, (waitingByWanted.get(wanted) ?? 0) + by)
  }

  function wake(timeMs: number): void {
    if (passPlanned || waiting.length === 0) return
    passPlanned = true
    events.plan(timeMs + 1000, pass)
  }

  function pass(timeMs: number): void {
    passPlanned = false
    const closed = new Set<Wanted>()
    let attempts = 0
    for (let at = 0; at < waiting.length && attempts < ATTEMPTS_PER_PASS;) {
      const gang = waiting[at]!
      const wanted = wantedBy(gang.pods)
      const alive = gang.pods.every(pod => state.pods.has(pod) && pod.deletionMs === undefined)
      if (alive && (closed.has(wanted) || !bind(gang, timeMs))) {
        if (timeMs - gang.sinceMs > PATIENCE_MS) closed.add(wanted)
        attempts++
        at++
      } else {
        waiting.splice(at, 1)
        countWaiting(wanted, -1)
      }
    }
  }

  function profileOf(workload: Workload): Profile {
    let profile = profiles.get(workload)
    if (profile === undefined) profiles.set(workload, (profile = makeProfile(workload.kind.profile, workload.random)))
    return profile
  }

  function bind({ workload, pods }: Gang, timeMs: number): boolean {
    const places = placement.take(pods.map(pod => pod.request))
    if (places === undefined) return false
    const { random } = workload
    const pullMs = 1000 * (3 + random.below(30))
    for (const [at, pod] of pods.entries()) {
      holding.hold(pod, places[at]!, profileOf(workload), random, timeMs)
      pod.waitingReason = 'ContainerCreating'
      changed('MODIFIED', pod)
      events.plan(timeMs + pullMs + 1000 * random.below(4), then => startPod(workload, pod, then))
    }
    return true
  }

  function startPod(workload: Workload, pod: Pod, timeMs: number): void {
    if (!state.pods.has(pod) || pod.deletionMs !== undefined || isFinished(pod)) return
    run(workload, pod, timeMs)
    changed('MODIFIED', pod)
    workload.startedPods++
    if (workload.restPlanned || workload.startedPods < workload.pods.size) return
    planRest(workload, timeMs, workload.durationMs)
  }

  function run({ random }: Workload, pod: Pod, timeMs: number): void {
    pod.phase = 'Running'
    pod.runningMs = timeMs
    pod.podIp ??= podIpOf(random)
    delete pod.waitingReason
    const busySinceMs = timeMs + 1000 * (5 + random.below(40))
    for (const claim of pod.claims) claim.busySinceMs = busySinceMs
  }

  /** What happens to a workload from when all of its pods run. */
  function planRest(workload: Workload, timeMs: number, leftMs: number): void {
    const { random, kind } = workload
    workload.restPlanned = true
    if (kind.lasting === 'task') events.plan(timeMs + leftMs, then => finish(workload, then))
    else events.plan(timeMs + leftMs, then => shutDown(workload, then))
    const [pod] = [...workload.pods].slice(random.below(workload.pods.size))
    if (pod === undefined || pod.restartPolicy === 'Never') return
    const whenMs = timeMs + 1000 * Math.floor(random.between(0.05, 0.95) * (leftMs / 1000))
    const luck = random.next()
    if (luck < 0.3) events.plan(whenMs, then => crash(workload, pod, then))
    else if (luck < 0.5) events.plan(whenMs, then => move(workload, pod, then))
  }

  /** The container ends, and the kubelet starts it again after a while. */
  function crash(workload: Workload, pod: Pod, timeMs: number): void {
    if (!state.pods.has(pod) || pod.phase !== 'Running' || pod.deletionMs !== undefined) return
    pod.lastTermination = { reason: 'OOMKilled', exitCode: 137, startedMs: pod.runningMs!, finishedMs: timeMs }
    pod.runningMs = undefined
    pod.waitingReason = 'CrashLoopBackOff'
    idle(pod, timeMs)
    changed('MODIFIED', pod)
    events.plan(timeMs + 10_000 * (1 + workload.random.below(3)), then => {
      if (!state.pods.has(pod) || pod.deletionMs !== undefined) return
      pod.restarts++
      run(workload, pod, then)
      changed('MODIFIED', pod)
    })
  }

  function idle(pod: Pod, timeMs: number): void {
    for (const claim of pod.claims) {
      settle(claim.device.gpu, timeMs)
      claim.busySinceMs = undefined
    }
  }

  /** A pod is deleted and its controller makes another one, which may find room elsewhere. */
  function move(workload: Workload, pod: Pod, timeMs: number): void {
    const template = workload.templates.get(pod)!
    if (!state.pods.has(pod) || pod.deletionMs !== undefined || template.name !== undefined) return
    terminate(workload, pod, timeMs)
    const other = addPod(workload, template, timeMs)
    list(workload, other)
    enqueue(workload, [other], timeMs)
  }

  function finish(workload: Workload, timeMs: number): void {
    const { random, kind } = workload
    const failed = random.chance(0.12)
    for (const pod of workload.pods) if (!isFinished(pod)) end(workload, pod, failed ? 'Failed' : 'Succeeded', timeMs)
    wake(timeMs)
    if (failed && workload.retriesLeft > 0) {
      workload.retriesLeft--
      const waitMs = 1000 * (10 + random.below(20))
      events.plan(timeMs + waitMs, then =>
        kind.retry === 'recreate' ? recreate(workload, then) : replace(workload, then),
      )
    } else {
      events.plan(timeMs + 1000 * (120 + random.below(1200)), then => remove(workload, then))
    }
  }

  function end(workload: Workload, pod: Pod, phase: PodPhase, timeMs: number): void {
    idle(pod, timeMs)
    holding.release(pod, timeMs)
    const why = phase === 'Failed' ? { reason: 'Error', exitCode: 1 } : { reason: 'Completed', exitCode: 0 }
    pod.termination = { ...why, startedMs: pod.runningMs ?? timeMs, finishedMs: timeMs }
    pod.phase = phase
    pod.runningMs = undefined
    delete pod.waitingReason
    countRequest(workload, pod, -1)
    changed('MODIFIED', pod)
  }

  /** The controller makes other pods; those that failed stay to be looked at. */
  function replace(workload: Workload, timeMs: number): void {
    const failed = [...workload.pods].filter(pod => pod.phase === 'Failed')
    again(workload, failed, timeMs)
  }

  /** The controller deletes the pods and makes them anew: same names, other pods. */
  function recreate(workload: Workload, timeMs: number): void {
    const old = [...workload.pods]
    for (const pod of old) unlist(workload, pod)
    again(workload, old, timeMs)
  }

  function again(workload: Workload, old: readonly Pod[], timeMs: number): void {
    const pods = old.map(pod => addPod(workload, workload.templates.get(pod)!, timeMs))
    for (const pod of old) workload.pods.delete(pod)
    for (const pod of pods) list(workload, pod)
    workload.startedPods = 0
    workload.restPlanned = false
    failedBefore.set(workload, [...(failedBefore.get(workload) ?? []), ...old.filter(pod => state.pods.has(pod))])
    enqueue(workload, pods, timeMs)
  }

  /** Failed pods that are listed until their workload goes. */
  const failedBefore = new Map<Workload, Pod[]>()

  function unlist(workload: Workload, pod: Pod): void {
    for (const owner of controllersOf(pod)) owner.pods.delete(pod)
    if (!state.pods.delete(pod)) return
    if (!isFinished(pod)) countRequest(workload, pod, -1)
    changed('DELETED', pod)
  }

  function remove(workload: Workload, timeMs: number): void {
    for (const pod of [...workload.pods, ...(failedBefore.get(workload) ?? [])]) unlist(workload, pod)
    for (const owner of workload.owners.toReversed()) {
      state.owners.delete(owner)
      state.changes.record('DELETED', owner, ownerObject)
    }
    failedBefore.delete(workload)
    profiles.delete(workload)
    workload.pods.clear()
    workload.templates.clear()
    wake(timeMs)
  }

  /** Somebody deletes the workload; its pods get some time to end. */
  function shutDown(workload: Workload, timeMs: number): void {
    for (const pod of workload.pods) terminate(workload, pod, timeMs)
    events.plan(timeMs + 32_000, then => remove(workload, then))
  }

  function terminate(workload: Workload, pod: Pod, timeMs: number): void {
    if (pod.deletionMs !== undefined || !state.pods.has(pod)) return
    pod.deletionMs = timeMs
    changed('MODIFIED', pod)
    events.plan(timeMs + 1000 * (2 + workload.random.below(28)), then => {
      idle(pod, then)
      holding.release(pod, then)
      unlist(workload, pod)
      workload.pods.delete(pod)
      workload.templates.delete(pod)
      wake(then)
    })
  }

  function resume(workload: Workload, timeMs: number, ageMs: number): boolean {
    const pods = [...workload.pods]
    const places = placement.take(pods.map(pod => pod.request))
    if (places === undefined) return false
    announce(workload)
    const startedMs = timeMs - ageMs
    for (const [at, pod] of pods.entries()) {
      holding.hold(pod, places[at]!, profileOf(workload), workload.random, startedMs - 20_000)
      run(workload, pod, startedMs)
      changed('MODIFIED', pod)
    }
    planRest(workload, timeMs, Math.max(60_000, workload.durationMs - ageMs))
    return true
  }

  return {
    submit,
    resume,
    waitingFor: workload => waitingByWanted.get(wantedBy(workload.pods)) ?? 0,
  }
}

/** Some pods of a workload may want nothing. */
function wantedBy(pods: Iterable<Pod>): Wanted {
  for (const { request } of pods) if (request.kind !== 'none') return request.kind
  return 'none'
}

/** Kinds whose status counts pods. */
function hasStatus(apiVersion: string): boolean {
  return apiVersion === 'apps/v1' || apiVersion === 'batch/v1'
}
