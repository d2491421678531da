/** From the labels of a series to the labels with what its pod belongs to. */
import { podOf, type FoundPod, type NoPod, type PodReader } from '../../pipeline/cluster/find-pod.ts'
import type { LookUp } from '../../pipeline/cluster/look-up.ts'
import type { OwnerChain } from '../../pipeline/cluster/owner-chain.ts'
import { identifyPod, type WorkloadRules } from '../../pipeline/cluster/pod-identity.ts'
import { getLabel, labelPairs, labelsFrom, type Labels } from '../../pipeline/model/labels.ts'
import type { JoinedLabel } from './rules.ts'

export type JoinRules = {
  readonly workload: WorkloadRules
  readonly names: ReadonlyMap<JoinedLabel, string>
  readonly add: ReadonlyMap<string, readonly LookUp[]>
}

/** How it went: the pod was found with all of its owners, or why not, or not beyond doubt. */
export type Outcome = 'resolved' | 'gone_pod' | 'several_owners' | 'owner_not_read_yet' | 'no_namespace' | NoPod

export type Joined = { readonly labels: Labels; readonly outcome: Outcome }

/** Labels that have the uid of the pod, where a series has it. */
const UID_LABELS = ['pod_uid', 'pod_uuid']

export function hasPod({ names }: Labels): boolean {
  return names.includes('pod') || UID_LABELS.some(label => names.includes(label))
}

/** `labels` are those of a series with a pod. */
export function joinLabels(labels: Labels, reader: PodReader, rules: JoinRules): Joined {
  const namespace = getLabel(labels, 'namespace') ?? ''
  const found = findPod(labels, namespace, reader)
  if (typeof found === 'string') {
    return { labels, outcome: found === 'unknown_pod' && namespace === '' ? 'no_namespace' : found }
  }
  const { chain, identity, around } = identifyPod(reader, found, rules.workload)
  const values = new Map<string, string>()
  for (const [label, name] of rules.names) {
    const value = label === 'pod_uuid' ? found.pod.uid : label === 'node' ? found.pod.node : identity[label]?.value
    if (value !== undefined && value !== '') values.set(name, value)
  }
  for (const [name, lookUps] of rules.add) {
    const value = lookUps.map(({ find }) => find(around)).find(one => one !== undefined)
    if (value !== undefined) values.set(name, value)
  }
  return { labels: withJoined(labels, values), outcome: outcomeOf(found, chain) }
}

function outcomeOf({ isGone }: FoundPod, { end, steps }: OwnerChain): Outcome {
  if (end === 'waiting') return 'owner_not_read_yet'
  if (steps.some(({ how }) => how === 'first of several owners')) return 'several_owners'
  return isGone ? 'gone_pod' : 'resolved'
}

/** kube-state-metrics writes the uid of a pod as `uid`, which others use for other things: it counts where there is such a pod. */
function findPod(labels: Labels, namespace: string, reader: PodReader): FoundPod | NoPod {
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
