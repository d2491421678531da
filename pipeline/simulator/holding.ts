/** Gives devices to pods and takes them back, with the marks that schedulers leave on the pods and the pods that reserve for fractions. */
import { admitPod, dismissPod, endContainer, startContainer } from './accounting.ts'
import type { ClusterState } from './cluster-state.ts'
import { settle, type Claim, type Device } from './gpu.ts'
import { makeReservation } from './reservation.ts'
import { podObject } from './objects/pod.ts'
import type { FractionGroup, Place, Placement } from './placement.ts'
import { listsFinishedPods } from './node.ts'
import type { Pod } from './pod.ts'
import type { Random } from './random.ts'
import { markByKai, markByRunai } from './scheduler-marks.ts'
import { IDLE, type Profile } from './utilisation.ts'

export type Holding = {
  hold(pod: Pod, place: Place, profile: Profile, random: Random, timeMs: number): void
  /** The container of a pod is about to start; who holds nothing yet does not start. */
  starting(pod: Pod, timeMs: number): void
  /** The container of a pod is about to end, and the pod to stay. */
  ending(pod: Pod, timeMs: number): void
  /** To be called while the container still runs: all that it did until now counts. */
  release(pod: Pod, timeMs: number, why: 'finished' | 'deleted'): void
  /** A pod is listed no more: the last traces of a finished one go. */
  forget(pod: Pod): void
}

/** What schedulers write on pods that they bind. */
const MARKS: Readonly<Record<string, (pod: Pod, place: Place) => void>> = {
  'runai-scheduler': markByRunai,
  'kai-scheduler': markByKai,
}

export function createHolding(state: ClusterState, placement: Placement): Holding {
  const nodes = new Map(state.nodes.map(node => [node.name, node]))
  const places = new Map<Pod, Place>()
  /** Where finished pods are still shown. */
  const lingering = new Map<Pod, readonly Device[]>()

  function hold(pod: Pod, place: Place, profile: Profile, random: Random, timeMs: number): void {
    const { node, devices, groups } = place
    places.set(pod, place)
    admitPod(node, pod, timeMs)
    pod.nodeName = node.name
    pod.scheduledMs = timeMs
    for (const group of groups) if (group.reservation === undefined) reserve(group, random, timeMs)
    const use = random.between(0.35, 0.95)
    for (const placed of devices) {
      delete placed.device.lingering
      claim(pod, {
        ...placed,
        pod,
        seenByKubelet: groups.length === 0,
        memoryMiB: Math.floor((placed.device.memoryMiB - placed.device.gpu.model.reservedMiB) * placed.share * use),
        profile,
        seed: random.below(2 ** 31),
        busySinceMs: undefined,
      })
    }
    if (devices.length > 0) node.claimsVersion++
    MARKS[pod.schedulerName]?.(pod, place)
  }

  function reserve(group: FractionGroup, random: Random, timeMs: number): void {
    const { node, device } = group
    group.id = random.uuid()
    const pod = makeReservation(group, random, timeMs)
    const nothing = { share: 0, memoryMiB: 0, profile: IDLE, seed: 0, busySinceMs: undefined }
    admitPod(node, pod, timeMs)
    claim(pod, { pod, device, seenByKubelet: true, ...nothing })
    group.reservation = pod
    state.pods.add(pod)
    state.changes.record('ADDED', pod, podObject)
  }

  function starting(pod: Pod, timeMs: number): void {
    const place = places.get(pod)
    if (place !== undefined) startContainer(place.node, timeMs)
  }

  function ending(pod: Pod, timeMs: number): void {
    const place = places.get(pod)
    if (place === undefined) return
    endContainer(place.node, pod, timeMs)
    for (const claim of pod.claims) {
      settle(claim.device.gpu, timeMs)
      claim.busySinceMs = undefined
    }
  }

  function release(pod: Pod, timeMs: number, why: 'finished' | 'deleted'): void {
    const place = places.get(pod)
    if (place === undefined) return
    places.delete(pod)
    dismissPod(place.node, pod, timeMs)
    unclaim(pod, timeMs)
    if (why === 'finished' && listsFinishedPods(place.node)) linger(pod, place)
    if (place.devices.length > 0) place.node.claimsVersion++
    for (const { reservation } of placement.give(pod.request, place)) {
      if (reservation === undefined) continue
      dismissPod(place.node, reservation, timeMs)
      unclaim(reservation, timeMs)
      state.pods.delete(reservation)
      state.changes.record('DELETED', reservation, podObject)
    }
  }

  /** An older kubelet goes on to tell of a finished pod and its devices, until somebody else has them or the pod is deleted. */
  function linger(pod: Pod, { devices, groups }: Place): void {
    const shown = devices.map(({ device }) => device).filter(({ gpu }) => groups.length === 0 && gpu.replicas === 1)
    for (const device of shown) device.lingering = pod
    lingering.set(pod, shown)
  }

  function forget(pod: Pod): void {
    for (const device of lingering.get(pod) ?? []) {
      if (device.lingering !== pod) continue
      delete device.lingering
      nodes.get(device.gpu.nodeName)!.claimsVersion++
    }
    lingering.delete(pod)
  }

  return { hold, starting, ending, release, forget }
}

function claim(pod: Pod, claim: Claim): void {
  pod.claims.push(claim)
  claim.device.claims.push(claim)
}

function unclaim(pod: Pod, timeMs: number): void {
  for (const claim of pod.claims) {
    settle(claim.device.gpu, timeMs)
    const { claims } = claim.device
    claims.splice(claims.indexOf(claim), 1)
  }
  pod.claims = []
}
