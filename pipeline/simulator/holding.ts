/** Gives devices to pods and takes them back, with the marks that schedulers leave on the pods and the pods that reserve for fractions. */
import { admitPod, dismissPod, endContainer, startContainer } from './accounting.ts'
import type { ClusterState } from './cluster-state.ts'
import { settle, type Claim } from './gpu.ts'
import { RESERVATION_NAMESPACE } from './namespaces.ts'
import { podObject } from './objects/pod.ts'
import type { FractionGroup, Place, Placement } from './placement.ts'
import type { Pod } from './pod.ts'
import type { Random } from './random.ts'
import { IDLE, type Profile } from './utilisation.ts'

export type Holding = {
  hold(pod: Pod, place: Place, profile: Profile, random: Random, timeMs: number): void
  /** The container of a pod is about to start; who holds nothing yet does not start. */
  starting(pod: Pod, timeMs: number): void
  /** The container of a pod is about to end, and the pod to stay. */
  ending(pod: Pod, timeMs: number): void
  /** To be called while the container still runs: all that it did until now counts. */
  release(pod: Pod, timeMs: number): void
}

export function createHolding(state: ClusterState, placement: Placement): Holding {
  const places = new Map<Pod, Place>()

  function hold(pod: Pod, place: Place, profile: Profile, random: Random, timeMs: number): void {
    const { node, devices, group } = place
    places.set(pod, place)
    admitPod(node, pod, timeMs)
    pod.nodeName = node.name
    pod.scheduledMs = timeMs
    if (group !== undefined && group.reservation === undefined) reserve(group, random, timeMs)
    const use = random.between(0.35, 0.95)
    for (const placed of devices) {
      claim(pod, {
        ...placed,
        pod,
        seenByKubelet: group === undefined,
        memoryMiB: Math.floor((placed.device.memoryMiB - placed.device.gpu.model.reservedMiB) * placed.share * use),
        profile,
        seed: random.below(2 ** 31),
        busySinceMs: undefined,
      })
    }
    if (devices.length > 0) node.claimsVersion++
    if (pod.schedulerName === 'runai-scheduler') markByRunai(pod, place)
  }

  function reserve(group: FractionGroup, random: Random, timeMs: number): void {
    const { node, device } = group
    group.id = random.uuid()
    const uid = random.uuid()
    const name = `runai-reservation-gpu-${node.name}-${random.suffix(5)}`
    const pod: Pod = {
      name,
      namespace: RESERVATION_NAMESPACE,
      uid,
      labels: {
        app: 'runai-reservation',
        'app.runai.resource.reservation': 'runai-reservation-gpu',
        'runai-gpu-group': group.id,
      },
      annotations: {
        'run.ai/reserve_for_gpu_index': device.gpu.uuid,
        'runai-job-id': uid,
        'pod-group-name': `pg-${name}-${uid}`,
      },
      container: 'runai-reservation',
      image: 'registry.example.com/runai/resource-reservation:2.17',
      schedulerName: 'runai-scheduler',
      restartPolicy: 'Always',
      request: { kind: 'whole', count: 1 },
      cpuMillis: 0,
      memoryMiB: 0,
      createdMs: timeMs,
      phase: 'Running',
      nodeName: node.name,
      podIp: podIpOf(random),
      claims: [],
      scheduledMs: timeMs,
      runningMs: timeMs,
      restarts: 0,
      version: 0,
    }
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

  function release(pod: Pod, timeMs: number): void {
    const place = places.get(pod)
    if (place === undefined) return
    places.delete(pod)
    dismissPod(place.node, pod, timeMs)
    unclaim(pod, timeMs)
    if (place.devices.length > 0) place.node.claimsVersion++
    const reservation = placement.give(pod.request, place)?.reservation
    if (reservation === undefined) return
    dismissPod(place.node, reservation, timeMs)
    unclaim(reservation, timeMs)
    state.pods.delete(reservation)
    state.changes.record('DELETED', reservation, podObject)
  }

  return { hold, starting, ending, release }
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

export function podIpOf(random: Random): string {
  return `10.${128 + random.below(64)}.${random.below(256)}.${1 + random.below(254)}`
}

/** What Run:ai's scheduler writes on a pod that it binds. */
function markByRunai(pod: Pod, { node, devices, group }: Place): void {
  const [first] = devices
  const { mig } = first?.device ?? {}
  const shares = devices.reduce((sum, { share }) => sum + share, 0)
  const memoryMiB = devices.reduce((sum, { device, share }) => sum + Math.floor(device.memoryMiB * share), 0)
  pod.annotations = {
    ...pod.annotations,
    'received-resource-type': group !== undefined ? 'Fraction' : mig !== undefined ? 'MigInstance' : 'Regular',
    'runai-allocated-gpus': mig === undefined ? String(shares) : '0',
    'runai-allocated-gpu-memory': mig === undefined ? String(memoryMiB) : '0',
    'runai-allocated-mig-gpus': mig === undefined ? '0' : '1',
    'runai-node': node.name,
    'runai-calculated-status': 'Running',
  }
  if (pod.request.kind === 'fraction') {
    pod.annotations = { ...pod.annotations, 'gpu-fraction': String(pod.request.fraction) }
    pod.labels = { ...pod.labels, 'runai-gpu-group': group!.id! }
  }
  if (first !== undefined && mig !== undefined) {
    const device = {
      name: `nvidia.com/mig-${mig.profile.name}`,
      position: mig.position,
      gpuamount: mig.profile.slices,
      deviceUUID: mig.uuid,
      gpuinstanceid: mig.instanceId,
      gpuindex: String(first.device.gpu.index),
      gputype: first.device.gpu.model.name,
    }
    pod.annotations = { ...pod.annotations, 'runai-mig-device': JSON.stringify(device) }
  }
}
