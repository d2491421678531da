/**
 * The life of workloads: submitted, waiting, bound, running, over, gone; with failures, restarts and pods that move.
 *
 * Every change happens at a full second, as timestamps of Kubernetes have no more.
 */
import type { ClusterState } from './cluster-state.ts'
import { addPod } from './draft.ts'
import type { EventQueue } from './event-queue.ts'
import type { Holding } from './holding.ts'
import { createListing } from './listing.ts'
import type { Place, Placement } from './placement.ts'
import { podIpOf } from './pod-address.ts'
import { isFinished, type Pod, type PodPhase } from './pod.ts'
import { createWaitingList, type Gang } from './waiting-list.ts'
import type { Workload } from './workload.ts'

export type Lifecycle = {
  submit(workload: Workload, timeMs: number): void
  /** For what is there from the beginning: as if it had been submitted some time ago. False if there is no room for it. */
  resume(workload: Workload, timeMs: number, ageMs: number): boolean
  /** How many workloads wait for the same sort of GPUs. */
  waitingFor(workload: Workload): number
  /** There may be room again. */
  wake(timeMs: number): void
}

export function createLifecycle(
  state: ClusterState,
  events: EventQueue,
  placement: Placement,
  holding: Holding,
): Lifecycle {
  const listing = createListing(state)
  const waiting = createWaitingList(events, isAlive, bind)
  /** Failed pods that are listed until their workload goes. */
  const failedBefore = new Map<Workload, Pod[]>()

  function isAlive(pod: Pod): boolean {
    return state.pods.has(pod) && pod.deletionMs === undefined && !isFinished(pod)
  }

  function submit(workload: Workload, timeMs: number): void {
    listing.add(workload)
    waiting.add(workload, [...workload.pods], timeMs)
  }

  function bind({ workload, pods }: Gang, timeMs: number): boolean {
    const places = placement.take(pods.map(pod => pod.request))
    if (places === undefined) return false
    const { random } = workload
    // Now and then an image is not there at once.
    const isDelayed = random.chance(0.06)
    const pullMs = isDelayed ? 60_000 * (2 + random.below(12)) : 1000 * (3 + random.below(30))
    for (const [at, pod] of pods.entries()) {
      hold(workload, pod, places[at]!, timeMs)
      pod.waitingReason = isDelayed ? 'ImagePullBackOff' : 'ContainerCreating'
      listing.changed(workload, pod)
      events.plan(timeMs + pullMs + 1000 * random.below(4), then => startPod(workload, pod, then))
    }
    return true
  }

  function hold({ profile, random }: Workload, pod: Pod, place: Place, timeMs: number): void {
    holding.hold(pod, place, profile, random, timeMs)
  }

  function startPod(workload: Workload, pod: Pod, timeMs: number): void {
    if (!isAlive(pod)) return
    run(workload, pod, timeMs)
    listing.changed(workload, pod)
    workload.startedPods++
    if (workload.restPlanned || workload.startedPods < workload.pods.size) return
    planRest(workload, timeMs, workload.durationMs)
  }

  function run({ random }: Workload, pod: Pod, timeMs: number): void {
    holding.starting(pod, timeMs)
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
    const pod = random.pick([...workload.pods])
    if (pod.restartPolicy === 'Never') return
    const whenMs = timeMs + 1000 * Math.floor(random.between(0.05, 0.95) * (leftMs / 1000))
    const luck = random.next()
    if (luck < 0.3) events.plan(whenMs, then => crash(workload, pod, then))
    else if (luck < 0.5) events.plan(whenMs, then => move(workload, pod, then))
  }

  /** The container ends, and the kubelet starts it again after a while. */
  function crash(workload: Workload, pod: Pod, timeMs: number): void {
    if (!isAlive(pod) || pod.runningMs === undefined) return
    holding.ending(pod, timeMs)
    pod.lastTermination = { reason: 'OOMKilled', exitCode: 137, startedMs: pod.runningMs, finishedMs: timeMs }
    pod.runningMs = undefined
    pod.waitingReason = 'CrashLoopBackOff'
    listing.changed(workload, pod)
    events.plan(timeMs + 10_000 * (1 + workload.random.below(3)), then => {
      if (!isAlive(pod)) return
      pod.restarts++
      run(workload, pod, then)
      listing.changed(workload, pod)
    })
  }

  /** A pod is deleted and its controller makes another one, which may find room elsewhere. */
  function move(workload: Workload, pod: Pod, timeMs: number): void {
    const template = workload.templates.get(pod)
    if (!isAlive(pod) || template === undefined || template.name !== undefined) return
    terminate(workload, pod, timeMs)
    const other = addPod(workload, template, timeMs)
    listing.addPod(workload, other)
    waiting.add(workload, [other], timeMs)
  }

  function finish(workload: Workload, timeMs: number): void {
    const { random, kind } = workload
    const failed = random.chance(0.12)
    for (const pod of workload.pods) if (!isFinished(pod)) end(workload, pod, failed ? 'Failed' : 'Succeeded', timeMs)
    waiting.wake(timeMs)
    if (failed && workload.retriesLeft > 0) {
      workload.retriesLeft--
      const retry = kind.retry === 'recreate' ? recreate : replace
      events.plan(timeMs + 1000 * (10 + random.below(20)), then => retry(workload, then))
    } else {
      events.plan(timeMs + 1000 * (120 + random.below(1200)), then => remove(workload, then))
    }
  }

  function end(workload: Workload, pod: Pod, phase: PodPhase, timeMs: number): void {
    holding.release(pod, timeMs, 'finished')
    const why = phase === 'Failed' ? { reason: 'Error', exitCode: 1 } : { reason: 'Completed', exitCode: 0 }
    pod.termination = { ...why, startedMs: pod.runningMs ?? timeMs, finishedMs: timeMs }
    pod.phase = phase
    pod.runningMs = undefined
    delete pod.waitingReason
    listing.changed(workload, pod)
  }

  /** The controller makes other pods; those that failed stay to be looked at. */
  function replace(workload: Workload, timeMs: number): void {
    const failed = [...workload.pods]
    failedBefore.set(workload, [...(failedBefore.get(workload) ?? []), ...failed])
    again(workload, failed, timeMs)
  }

  /** The controller deletes the pods and makes them anew: same names, other pods. */
  function recreate(workload: Workload, timeMs: number): void {
    const old = [...workload.pods]
    for (const pod of old) takeOff(workload, pod)
    again(workload, old, timeMs)
  }

  function again(workload: Workload, old: readonly Pod[], timeMs: number): void {
    const pods = old.map(pod => addPod(workload, workload.templates.get(pod)!, timeMs))
    for (const pod of old) workload.pods.delete(pod)
    for (const pod of pods) listing.addPod(workload, pod)
    workload.startedPods = 0
    workload.restPlanned = false
    waiting.add(workload, pods, timeMs)
  }

  function remove(workload: Workload, timeMs: number): void {
    for (const pod of [...workload.pods, ...(failedBefore.get(workload) ?? [])]) takeOff(workload, pod)
    listing.removeOwners(workload)
    failedBefore.delete(workload)
    waiting.wake(timeMs)
  }

  function takeOff(workload: Workload, pod: Pod): void {
    holding.forget(pod)
    listing.removePod(workload, pod)
  }

  /** Somebody deletes the workload; its pods get some time to end. */
  function shutDown(workload: Workload, timeMs: number): void {
    for (const pod of workload.pods) terminate(workload, pod, timeMs)
    events.plan(timeMs + 32_000, then => remove(workload, then))
  }

  function terminate(workload: Workload, pod: Pod, timeMs: number): void {
    if (pod.deletionMs !== undefined) return
    pod.deletionMs = timeMs
    listing.changed(workload, pod)
    events.plan(timeMs + 1000 * (2 + workload.random.below(28)), then => {
      holding.release(pod, then, 'deleted')
      takeOff(workload, pod)
      workload.pods.delete(pod)
      workload.templates.delete(pod)
      waiting.wake(then)
    })
  }

  function resume(workload: Workload, timeMs: number, ageMs: number): boolean {
    const pods = [...workload.pods]
    const places = placement.take(pods.map(pod => pod.request))
    if (places === undefined) return false
    listing.add(workload)
    const startedMs = timeMs - ageMs
    for (const [at, pod] of pods.entries()) {
      hold(workload, pod, places[at]!, startedMs - 20_000)
      run(workload, pod, startedMs)
      listing.changed(workload, pod)
    }
    planRest(workload, timeMs, Math.max(60_000, workload.durationMs - ageMs))
    return true
  }

  return { submit, resume, waitingFor: waiting.sizeFor, wake: waiting.wake }
}
