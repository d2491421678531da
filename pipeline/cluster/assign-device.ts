/**
 * Says who has which part of a device. What tells it, in this order: whom the exporter names; where that is a pod that only reserves
 * the GPU, or one of those who share it, all pods of its group; a reservation, or an instance, that names the device itself; a resource
 * claim that got it.
 *
 * Pure: all that it hangs on it reads by `look`.
 */
import { isReservation, type AssignmentRules } from './assignment-rules.ts'
import type { Assignment, Passed, UnattributedReason } from './assignment.ts'
import { podsClaiming } from './claims.ts'
import { nodeOf, nodeOfDevice } from './find-node.ts'
import { podOf, type FoundPod, type PodReader } from './find-pod.ts'
import { groupsOf, instanceMark, reservedMark } from './gpu-marks.ts'
import { partOfBoard } from './gpu-resources.ts'
import { podsMarked } from './marked-pods.ts'
import type { Node } from './objects.ts'
import { shareOfDevice } from './pod-gpus.ts'
import { isBound, isFinished } from './pod-state.ts'
import { replicasOf } from './replicas.ts'
import type { Holder, SeenDevice } from './seen.ts'
import { splitDevice, type Claim } from './split-device.ts'

export function assignDevice(reader: PodReader, device: SeenDevice, rules: AssignmentRules): Assignment {
  const nodeName = nodeOfDevice(reader, device)
  const node = nodeName === undefined ? undefined : nodeOf(reader, nodeName)
  const replicas = replicasOf(device, node)
  const found: Finding = { claims: new Map(), passed: [], unknown: new Set(), isShared: replicas.isShared }
  const certainNode = isCertain(reader, node, device) ? node!.name : undefined
  for (const holder of device.holders) claimNamed(reader, found, holder, certainNode, rules)
  if (found.claims.size === 0) claimReserved(reader, found, device, rules)
  if (found.claims.size === 0) claimInstance(reader, found, device, nodeName, rules)
  if (found.claims.size === 0) claimByClaim(reader, found, device)
  // In whichever order pods became known, the numbers are the same to the last bit.
  const claims = withoutHosts([...found.claims].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one))
  const { holdings, rest } = splitDevice(claims, replicas.count)
  return {
    device,
    node: nodeName,
    weight: device.part === undefined ? 1 : partOfBoard(device.profile, device.model),
    isShared: found.isShared || claims.length + found.unknown.size > 1,
    holdings,
    passed: found.passed.length === 0 ? NOBODY : found.passed,
    rest: restOf(rest, holdings.length > 0 ? 'share_left' : reasonOf(found.passed)),
  }
}

type Rest = Assignment['rest']

/** Of nearly all devices nothing is left, or all. */
const NOTHING_LEFT: Rest = { share: 0, reason: 'share_left' }
const ALL_LEFT: Readonly<Partial<Record<UnattributedReason, Rest>>> = {
  free: { share: 1, reason: 'free' },
  unknown_pod: { share: 1, reason: 'unknown_pod' },
  finished_pod: { share: 1, reason: 'finished_pod' },
}

function restOf(share: number, reason: UnattributedReason): Rest {
  if (share === 0 && reason === NOTHING_LEFT.reason) return NOTHING_LEFT
  return (share === 1 ? ALL_LEFT[reason] : undefined) ?? { share, reason }
}

/** As many devices as there are pass nobody. */
const NOBODY: readonly Passed[] = []

type Finding = {
  /** By pod, or by job: several containers or replicas of one are one. */
  readonly claims: Map<string, Claim>
  readonly passed: Passed[]
  /** Pods that are named and that nobody knows: they may be there. */
  readonly unknown: Set<string>
  isShared: boolean
}

/**
 * Whether it is known beyond doubt which node the device is in. A target that shows devices of other nodes, such as a Prometheus in
 * between, has a node that is not theirs: then the host label names another one.
 */
function isCertain(reader: PodReader, node: Node | undefined, { host }: SeenDevice): boolean {
  if (node === undefined) return false
  return host === undefined || host === node.name || nodeOf(reader, host) === undefined
}

function claimNamed(
  reader: PodReader,
  found: Finding,
  holder: Holder,
  certainNode: string | undefined,
  rules: AssignmentRules,
): void {
  const { job, replicas } = holder
  const named = whoIs(reader, holder, certainNode)
  if (job !== undefined) {
    const pod = 'pod' in named && !isReservation(named.pod, rules) ? named : undefined
    return claim(found, `job ${job}`, { pod, job, replicas, because: 'the exporter names the job' })
  }
  if (!('pod' in named)) {
    const { reason, because } = named
    found.passed.push({ holder, reason, because })
    if (named.isUnknown === true) found.unknown.add(`${holder.namespace}/${holder.pod}`)
    return
  }
  const groups = groupsOf(named.pod)
  if (isReservation(named.pod, rules)) {
    const count = found.claims.size
    found.isShared = true
    const members = groups.flatMap(group => podsMarked(reader, group))
    claimMembers(reader, found, members, named, rules)
    if (found.claims.size === count) found.passed.push({ holder, ...unusedReservation(members, rules) })
  } else if (groups.length === 1) {
    found.isShared = true
    claimMembers(reader, found, [named, ...podsMarked(reader, groups[0]!)], undefined, rules)
  } else if (groups.length > 1) {
    found.isShared = true
    claimMembers(reader, found, [named], undefined, rules)
  } else claim(found, keyOf(named), { pod: named, job, replicas, because: 'the exporter names it' })
}

type NoHolder = Omit<Passed, 'holder'> & { readonly isUnknown?: boolean }

/** The pod that is named, if it can have the device. */
function whoIs(reader: PodReader, holder: Holder, certainNode: string | undefined): FoundPod | NoHolder {
  const { pod: name = '', namespace = '', podUid = '' } = holder
  if (name === '' && podUid === '') return { reason: 'unknown_pod', because: 'a container without a pod' }
  const found = podOf(reader, namespace, name, podUid)
  if (typeof found === 'string') return { reason: 'unknown_pod', because: NO_POD[found], isUnknown: true }
  const { pod, isGone } = found
  if (isGone) return { reason: 'finished_pod', because: 'the pod is gone' }
  if (isFinished(pod)) return { reason: 'finished_pod', because: `the pod has ${pod.phase!.toLowerCase()}` }
  if (pod.node === '') return { reason: 'finished_pod', because: 'the pod is bound to no node' }
  if (certainNode !== undefined && pod.node !== certainNode) {
    return { reason: 'unknown_pod', because: `the pod is on ${pod.node}, so the name is that of an earlier one` }
  }
  return found
}

const NO_POD = {
  unknown_pod: 'nobody knows the pod',
  other_uid: 'a pod of that name has another uid',
  several_pods: 'there are several pods of that name, and nothing tells which is the last',
} as const

/** Pods that share a GPU, each with what it asks for of it. */
function claimMembers(
  reader: PodReader,
  found: Finding,
  members: readonly FoundPod[],
  reservation: FoundPod | undefined,
  rules: AssignmentRules,
): void {
  for (const member of members) {
    const { pod } = member
    if (!isBound(pod) || isReservation(pod, rules)) continue
    const share = shareOfDevice(pod, nodeOf(reader, pod.node))
    const group =
      reservation === undefined ? 'its gpu group' : `its gpu group, of reservation pod ${reservation.pod.name}`
    const size = share === undefined ? ', which says not how much' : ''
    claim(found, keyOf(member), { pod: member, job: undefined, replicas: undefined, share, because: `${group}${size}` })
  }
}

function unusedReservation(members: readonly FoundPod[], rules: AssignmentRules): NoHolder {
  const isFinishedGroup = members.some(({ pod }) => !isReservation(pod, rules))
  return isFinishedGroup
    ? { reason: 'finished_pod', because: 'it reserves the GPU for pods that have finished' }
    : { reason: 'unknown_pod', because: 'it reserves the GPU for pods that nobody knows' }
}

/** Whom a reservation pod holds the device for, where the exporter names no pods at all. */
function claimReserved(reader: PodReader, found: Finding, device: SeenDevice, rules: AssignmentRules): void {
  const { id, part, holders, isKnownFree } = device
  if (part !== undefined || holders.length > 0 || isKnownFree === true) return
  for (const reservation of podsMarked(reader, reservedMark(id))) {
    if (!isReservation(reservation.pod, rules) || !isBound(reservation.pod)) continue
    found.isShared = true
    const members = groupsOf(reservation.pod).flatMap(group => podsMarked(reader, group))
    claimMembers(reader, found, members, reservation, rules)
  }
}

/** Whom Run:ai made the instance for: exporters do not name the pods of dynamic MIG. */
function claimInstance(
  reader: PodReader,
  found: Finding,
  device: SeenDevice,
  node: string | undefined,
  rules: AssignmentRules,
): void {
  const { part, index } = device
  if (part === undefined || index === undefined || node === undefined) return
  for (const member of podsMarked(reader, instanceMark(node, index, part))) {
    if (!isBound(member.pod) || isReservation(member.pod, rules)) continue
    const because = 'its annotation runai-mig-device names the instance'
    claim(found, keyOf(member), { pod: member, job: undefined, replicas: undefined, because })
  }
}

/** Whom it is claimed for by dynamic resource allocation, which exporters do not always know. Who share a claim share alike. */
function claimByClaim(reader: PodReader, found: Finding, { id, part }: SeenDevice): void {
  if (part !== undefined) return
  for (const { pod, claim: name } of podsClaiming(reader, id)) {
    if (!isBound(pod)) continue
    const member: FoundPod = { pod, from: 'the Kubernetes API', isGone: false }
    claim(found, keyOf(member), { pod: member, job: undefined, replicas: undefined, because: `resource claim ${name}` })
  }
}

/** Of one that is named twice, replicas add up. */
function claim({ claims }: Finding, key: string, next: Claim): void {
  const known = claims.get(key)
  if (known === undefined) claims.set(key, next)
  else if (next.replicas !== undefined || (known.pod === undefined && next.pod !== undefined)) {
    const replicas = next.replicas === undefined ? known.replicas : (known.replicas ?? 0) + next.replicas
    claims.set(key, { ...known, pod: known.pod ?? next.pod, replicas })
  }
}

/** A pod inside of which jobs run has what they have: it is there with each of them, and not beside them. */
function withoutHosts(claims: readonly Claim[]): readonly Claim[] {
  const hosts = new Set(claims.flatMap(({ pod, job }) => (job === undefined || pod === undefined ? [] : [keyOf(pod)])))
  return claims.filter(({ pod, job }) => job !== undefined || pod === undefined || !hosts.has(keyOf(pod)))
}

/** At one moment a name is that of one pod, also where only one of two who tell of it knows its uid. */
function keyOf({ pod }: FoundPod): string {
  return `${pod.namespace}/${pod.name}`
}

/** A pod that has finished says less than one that nobody knows: that one may be running. */
function reasonOf(passed: readonly Passed[]): UnattributedReason {
  if (passed.length === 0) return 'free'
  return passed.some(({ reason }) => reason === 'unknown_pod') ? 'unknown_pod' : 'finished_pod'
}
