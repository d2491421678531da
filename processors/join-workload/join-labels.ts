/** From the labels of a series to the labels with what its pod, its job or its device belongs to. */
import { isReservation, type AssignmentRules } from '../../pipeline/cluster/assignment-rules.ts'
import { nodeOf, nodeOfDevice } from '../../pipeline/cluster/find-node.ts'
import { podOf, type FoundPod, type NoPod, type PodReader } from '../../pipeline/cluster/find-pod.ts'
import type { Around, LookUp } from '../../pipeline/cluster/look-up.ts'
import type { OwnerChain } from '../../pipeline/cluster/owner-chain.ts'
import { identifyPod, type WorkloadRules } from '../../pipeline/cluster/pod-identity.ts'
import type { SeenDevice } from '../../pipeline/cluster/seen.ts'
import { getLabel, labelPairs, labelsFrom, type Labels } from '../../pipeline/model/labels.ts'
import type { JoinedLabel } from './rules.ts'

export type JoinRules = {
  readonly workload: WorkloadRules
  readonly assignment: AssignmentRules
  readonly names: ReadonlyMap<JoinedLabel, string>
  readonly add: ReadonlyMap<string, readonly LookUp[]>
}

/** How it went: the pod was found with all of its owners, or why not, or not beyond doubt. */
export type Outcome =
  | 'resolved'
  | 'gone_pod'
  | 'several_owners'
  | 'owner_not_read_yet'
  | 'no_namespace'
  | 'reservation'
  | NoPod

/** A series of a device that names nobody has no outcome. */
export type Joined = { readonly labels: Labels; readonly outcome: Outcome | undefined }

/** Labels that have the uid of the pod, where a series has it. */
const UID_LABELS = ['pod_uid', 'pod_uuid']
/** Labels that name the board of a device. */
const BOARD_LABELS = ['UUID', 'serial_number']
/** The label of a job of a batch system, which is then the workload. */
const JOB_LABEL = 'hpc_job'
const JOB_KIND = 'SlurmJob'
const JOINABLE = ['pod', ...UID_LABELS, ...BOARD_LABELS, JOB_LABEL]

// Lists of names are shared by many label sets.
const joinableLists = new WeakMap<readonly string[], boolean>()

export function isJoinable({ names }: Labels): boolean {
  let is = joinableLists.get(names)
  if (is === undefined) joinableLists.set(names, (is = JOINABLE.some(label => names.includes(label))))
  return is
}

/** `labels` are those of a series of a pod, a job or a device. */
export function joinLabels(labels: Labels, reader: PodReader, rules: JoinRules): Joined {
  const job = getLabel(labels, JOB_LABEL)
  const found = hasPod(labels) ? findPod(labels, reader) : undefined
  if (typeof found !== 'object') {
    const values = new Map([...valuesOfDevice(labels, reader, rules), ...valuesOfJob(job, rules)])
    return { labels: withJoined(labels, values), outcome: job === undefined ? found : 'resolved' }
  }
  if (isReservation(found.pod, rules.assignment)) {
    const values = valuesOfPlace(found.pod.node, reader, rules)
    note(values, 'pod_uuid', found.pod.uid, rules)
    return { labels: withJoined(labels, values), outcome: 'reservation' }
  }
  const { values, outcome } = valuesOfPod(found, reader, rules)
  const ofDevice = found.pod.node === '' ? valuesOfDevice(labels, reader, rules) : NONE
  return { labels: withJoined(labels, new Map([...ofDevice, ...values, ...valuesOfJob(job, rules)])), outcome }
}

function hasPod({ names }: Labels): boolean {
  return names.includes('pod') || UID_LABELS.some(label => names.includes(label))
}

type Values = Map<string, string>
const NONE: ReadonlyMap<string, string> = new Map()

function valuesOfPod(found: FoundPod, reader: PodReader, rules: JoinRules): { values: Values; outcome: Outcome } {
  const { chain, identity, around } = identifyPod(reader, found, rules.workload)
  const values: Values = new Map()
  for (const label of rules.names.keys()) {
    const value = label === 'pod_uuid' ? found.pod.uid : label === 'node' ? found.pod.node : identity[label]?.value
    note(values, label, value, rules)
  }
  for (const [name, lookUps] of rules.add) {
    const value = firstFound(lookUps, around)
    if (value !== undefined) values.set(name, value)
  }
  return { values, outcome: outcomeOf(found, chain) }
}

/** A job is a workload of its own, also where it runs inside of a pod. */
function valuesOfJob(job: string | undefined, rules: JoinRules): Values {
  const values: Values = new Map()
  if (job === undefined) return values
  note(values, 'workload_id', job, rules)
  note(values, 'workload_name', job, rules)
  note(values, 'workload_kind', JOB_KIND, rules)
  note(values, 'workload_type', rules.workload.identity.typeOf(JOB_KIND, undefined), rules)
  return values
}

function valuesOfDevice(labels: Labels, reader: PodReader, rules: JoinRules): Values {
  const device = deviceOf(labels, reader)
  const node = device && nodeOfDevice(reader, device)
  return node === undefined ? new Map<string, string>() : valuesOfPlace(node, reader, rules)
}

/** All devices of a board are in one node. */
function deviceOf(labels: Labels, { look, seen }: PodReader): SeenDevice | undefined {
  for (const label of BOARD_LABELS) {
    const id = getLabel(labels, label)
    if (id === undefined) continue
    const whole = look(seen.devices.entry(id))
    if (whole !== undefined) return whole
    const [key] = look(seen.boards.entry(id)) ?? []
    if (key !== undefined) return look(seen.devices.entry(key))
  }
  return undefined
}

/** What is known of whatever is in a node: nothing that speaks of a pod. */
function valuesOfPlace(name: string, reader: PodReader, rules: JoinRules): Values {
  const values: Values = new Map()
  const around: Around = { pod: undefined, owner: undefined, namespace: undefined, node: nodeOf(reader, name) }
  note(values, 'node', name, rules)
  note(values, 'nodepool', firstFound(rules.workload.identity.lookUps.nodepool ?? [], around), rules)
  for (const [label, lookUps] of rules.add) {
    const value = firstFound(lookUps, around)
    if (value !== undefined) values.set(label, value)
  }
  return values
}

function firstFound(lookUps: readonly LookUp[], around: Around): string | undefined {
  for (const { find } of lookUps) {
    const value = find(around)
    if (value !== undefined) return value
  }
  return undefined
}

function note(values: Values, label: JoinedLabel, value: string | undefined, { names }: JoinRules): void {
  const name = names.get(label)
  if (name !== undefined && value !== undefined && value !== '') values.set(name, value)
}

function outcomeOf({ isGone }: FoundPod, { end, steps }: OwnerChain): Outcome {
  if (end === 'waiting') return 'owner_not_read_yet'
  if (steps.some(({ how }) => how === 'first of several owners')) return 'several_owners'
  return isGone ? 'gone_pod' : 'resolved'
}

/** kube-state-metrics writes the uid of a pod as `uid`, which others use for other things: it counts where there is such a pod. */
function findPod(labels: Labels, reader: PodReader): FoundPod | NoPod | 'no_namespace' {
  const namespace = getLabel(labels, 'namespace') ?? ''
  const found = findIn(namespace, labels, reader)
  return found === 'unknown_pod' && namespace === '' ? 'no_namespace' : found
}

function findIn(namespace: string, labels: Labels, reader: PodReader): FoundPod | NoPod {
  const name = getLabel(labels, 'pod') ?? ''
  const uid = UID_LABELS.map(label => getLabel(labels, label)).find(value => value !== undefined)
  if (uid !== undefined) return podOf(reader, namespace, name, uid)
  const hint = getLabel(labels, 'uid')
  const hinted = hint === undefined ? undefined : podOf(reader, namespace, name, hint)
  return typeof hinted === 'object' ? hinted : podOf(reader, namespace, name, '')
}

/** A joined value wins; a different one that was there is kept under another name, as Prometheus does it. */
function withJoined(labels: Labels, values: ReadonlyMap<string, string>): Labels {
  const pairs = new Map(labelPairs(labels))
  for (const [name, value] of values) {
    const before = getLabel(labels, name)
    if (before !== undefined && before !== value) pairs.set(freeName(name, pairs), before)
    pairs.set(name, value)
  }
  return labelsFrom(pairs)
}

function freeName(name: string, pairs: ReadonlyMap<string, string>): string {
  let free = `exported_${name}`
  while (pairs.has(free)) free = `exported_${free}`
  return free
}
