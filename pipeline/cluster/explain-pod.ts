/** What is known of a pod and how it came to its labels, for people who wonder about a number. It decides nothing itself. */
import type { Cluster } from '../component.ts'
import { assignmentRules, isReservation } from './assignment-rules.ts'
import { explainDevices, type ExplainedDevice } from './explain-devices.ts'
import { podOf, seenTables, type FoundPod, type NoPod, type PodReader } from './find-pod.ts'
import type { Identity, IdentityLabel } from './identity.ts'
import { joinersOf, type Joiner } from './joiners.ts'
import type { OwnerChain } from './owner-chain.ts'
import { identifyPod, type PodIdentity } from './pod-identity.ts'
import { LAST_LOOK_UPS } from './scheduler-identity.ts'
import { clusterTables } from './tables.ts'
import { kindText } from './workload-kinds.ts'

export type PodExplanation = {
  readonly name: string
  /** The one that was asked for, or the only one that has such a pod. */
  readonly namespace: string | undefined
  readonly found: FoundPod | NoPod | 'several_namespaces'
  /** All that have a pod of this name. */
  readonly namespaces: readonly string[]
  /** Whether somebody fills the model of the cluster, and has not read all of it yet. */
  readonly cluster: 'nobody reads it' | 'reading' | 'read'
  /** Undefined if no devices are known at all. */
  readonly devices: readonly ExplainedDevice[] | undefined
  readonly joined: readonly ExplainedJoin[]
}

/** What one of those who join makes of the pod. */
export type ExplainedJoin = {
  readonly joiner: Joiner
  readonly chain: OwnerChain
  readonly labels: readonly ExplainedLabel[]
}

/** A label without value is not added, and then `because` says why not. */
export type ExplainedLabel = { readonly name: string; readonly value: string | undefined; readonly because: string }

export function explainPod(cluster: Cluster, name: string, namespace: string | undefined): PodExplanation {
  // Nothing is kept, so nothing has to be noted.
  const reader: PodReader = {
    look: entry => entry.value,
    tables: clusterTables(cluster),
    seen: seenTables(cluster),
  }
  const namespaces = namespacesWith(reader, name)
  const asked = namespace ?? (namespaces.length === 1 ? namespaces[0] : undefined)
  const none = namespaces.length > 1 ? 'several_namespaces' : 'unknown_pod'
  const found = asked === undefined ? none : podOf(reader, asked, name, '')
  const joiners = new Map(Array.from(joinersOf(cluster), joiner => [joiner.id, joiner]))
  return {
    name,
    namespace: asked,
    found,
    namespaces,
    cluster: clusterState(reader),
    devices: explainDevices(
      reader,
      { name, namespace: asked },
      typeof found === 'string' ? undefined : found,
      [...joiners.values()][0]?.assignment ?? assignmentRules(),
    ),
    joined: typeof found === 'string' ? [] : Array.from(joiners.values(), joiner => explainJoin(reader, found, joiner)),
  }
}

function namespacesWith({ tables, seen }: PodReader, name: string): string[] {
  const namespaces = new Set<string>()
  for (const table of [tables.pods, tables.gonePods]) {
    for (const pod of table.values()) if (pod.name === name) namespaces.add(pod.namespace)
  }
  for (const object of seen.objects.values()) {
    if (object.kind === 'Pod' && object.name === name) namespaces.add(object.namespace ?? '')
  }
  return [...namespaces].sort()
}

function clusterState({ tables, seen }: PodReader): PodExplanation['cluster'] {
  if (tables.feeds.size === 0) return seen.objects.size === 0 ? 'nobody reads it' : 'read'
  return [...tables.feeds.values()].includes('reading') ? 'reading' : 'read'
}

function explainJoin(reader: PodReader, found: FoundPod, joiner: Joiner): ExplainedJoin {
  const identified = identifyPod(reader, found, joiner.workload)
  const isOfNobody = isReservation(found.pod, joiner.assignment)
  const labels = [
    ...Array.from(joiner.names, ([label, name]) => {
      const isLeftOut = isOfNobody && !OF_RESERVATIONS.includes(label)
      return { name, ...(isLeftOut ? without(RESERVES) : explainLabel(label, found, identified, joiner)) }
    }),
    ...Array.from(joiner.add, ([name, all]) => {
      const lookUps = isOfNobody ? all.filter(({ object }) => object === 'node') : all
      if (lookUps.length === 0) return { name, ...without(RESERVES) }
      const decided = lookUps.find(({ find }) => find(identified.around) !== undefined)
      const value = decided?.find(identified.around)
      return { name, value, because: decided?.text ?? nothingAt(lookUps.map(({ text }) => text)) }
    }),
  ]
  return { joiner, chain: identified.chain, labels }
}

/** Labels of a pod that only reserves a GPU for others: where it is, and no workload. */
const OF_RESERVATIONS = ['pod_uuid', 'node', 'nodepool']
const RESERVES = 'it only reserves a GPU for others'

function explainLabel(
  label: string,
  { pod }: FoundPod,
  { identity, chain }: PodIdentity,
  { workload: { identity: rules } }: Joiner,
): Omit<ExplainedLabel, 'name'> {
  if (label === 'pod_uuid')
    return pod.uid === '' ? without('nobody told its uid') : withValue(pod.uid, 'the pod itself')
  if (label === 'node') return pod.node === '' ? without('it is bound to none') : withValue(pod.node, 'the pod itself')
  const decided = identity[label as IdentityLabel]
  if (decided !== undefined) return decided
  const lookUps = rules.lookUps[label as IdentityLabel] ?? []
  const needsOwner = label.startsWith('workload_') || lookUps.some(({ object }) => object === 'owner')
  if (chain.end === 'waiting' && needsOwner) return without('it waits for an owner that has not been read yet')
  if (label === 'workload_type') return without(noType(identity, chain))
  const last = LAST_LOOK_UPS[label as IdentityLabel]
  return without(nothingAt([...lookUps.map(({ text }) => text), ...(last === undefined ? [] : [last])]))
}

function withValue(value: string, because: string): Omit<ExplainedLabel, 'name'> {
  return { value, because }
}

function without(because: string): Omit<ExplainedLabel, 'name'> {
  return { value: undefined, because }
}

function nothingAt(texts: readonly string[]): string {
  return texts.length === 0 ? 'it has no look-up' : `nothing is at ${texts.join(', ')}`
}

function noType({ workload_kind: kind }: Identity, { workload }: OwnerChain): string {
  const text = kind === undefined ? 'Pod' : kind.value
  const isOwner = workload?.reference.kind === text
  return `the catalog has no type for the kind ${isOwner ? kindText(workload.reference) : text}`
}
