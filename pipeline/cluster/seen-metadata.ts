/**
 * What kube-state-metrics tells about an object, in the shape that objects of the Kubernetes API have here. What it cannot tell is
 * absent: the group of an owner, its uid, labels outside its allow-lists.
 */
import { EMPTY_LABELS, getLabel, labelPairs, labelsFrom, type Labels } from '../model/labels.ts'
import { mayMark, marksOf } from './gpu-marks.ts'
import { resourceName } from './gpu-resources.ts'
import { BY_NOTHING } from './indexed.ts'
import type { Container, KubernetesMetadata, Node, OwnerReference, Pod, PodPhase } from './objects.ts'
import type { SeenFact, SeenObject } from './seen-object.ts'

/** The groups of the kinds whose owners it tells. Of other groups it knows no object, also where they have such a kind. */
const GROUPS: Readonly<Record<string, string>> = {
  Pod: '',
  Node: '',
  Namespace: '',
  ReplicationController: '',
  ReplicaSet: 'apps',
  Deployment: 'apps',
  Job: 'batch',
}

export function groupOfSeen(kind: string): string | undefined {
  return Object.hasOwn(GROUPS, kind) ? GROUPS[kind] : undefined
}

const metadata = new WeakMap<SeenObject, KubernetesMetadata>()
const pods = new WeakMap<SeenObject, Pod>()
const nodes = new WeakMap<SeenObject, Node>()

export function metadataFromSeen(object: SeenObject): KubernetesMetadata {
  let known = metadata.get(object)
  if (known === undefined) metadata.set(object, (known = readMetadata(object)))
  return known
}

export function podFromSeen(object: SeenObject): Pod {
  let known = pods.get(object)
  if (known === undefined) pods.set(object, (known = readPod(object)))
  return known
}

export function nodeFromSeen(object: SeenObject): Node {
  let known = nodes.get(object)
  if (known === undefined) nodes.set(object, (known = readNode(object)))
  return known
}

/** What a pod is found by. Only of pods that have marks more is read than the names of labels. */
export function marksOfSeen(object: SeenObject): readonly string[] {
  if (object.kind !== 'Pod') return BY_NOTHING
  const isMarked = object.facts.some(({ name, labels }) => {
    const prefix = MARKING_FACTS[name]
    return prefix !== undefined && mayMark(labels, prefix)
  })
  return isMarked ? marksOf(podFromSeen(object)) : BY_NOTHING
}

const MARKING_FACTS: Readonly<Record<string, string | undefined>> = {
  kube_pod_labels: 'label_',
  kube_pod_annotations: 'annotation_',
}

/** Where a node, or a pod with an address of its own, can be reached. */
export function addressesOfSeen(object: SeenObject): readonly string[] {
  if (object.kind === 'Node') return nodeAddresses(object.facts)
  return object.kind === 'Pod' ? podAddresses(object.facts) : BY_NOTHING
}

function podAddresses(facts: readonly SeenFact[]): readonly string[] {
  const info = factOf(facts, 'kube_pod_info')?.labels ?? EMPTY_LABELS
  const address = getLabel(info, 'pod_ip')
  if (address === undefined || address === getLabel(info, 'host_ip')) return BY_NOTHING
  const phase = phaseFrom(facts)
  return phase === 'Succeeded' || phase === 'Failed' ? BY_NOTHING : [address]
}

function nodeAddresses(facts: readonly SeenFact[]): readonly string[] {
  const addresses = new Set<string>()
  for (const { name, labels } of facts) {
    const label = ADDRESS_FACTS[name]
    const address = label === undefined ? undefined : getLabel(labels, label)
    if (address !== undefined) addresses.add(address)
  }
  return [...addresses]
}

const ADDRESS_FACTS: Readonly<Record<string, string | undefined>> = {
  kube_node_status_addresses: 'address',
  kube_node_info: 'internal_ip',
}

function readNode(object: SeenObject): Node {
  const { facts } = object
  const capacity = new Map<string, number>()
  const allocatable = new Map<string, number>()
  const conditions = new Map<string, string>()
  for (const { name, labels, value } of facts) {
    const amounts = name === 'kube_node_status_capacity' ? capacity : allocatable
    const resource = NODE_AMOUNTS.includes(name) ? getLabel(labels, 'resource') : undefined
    if (resource !== undefined) amounts.set(resourceName(resource), value)
    const condition = name === 'kube_node_status_condition' && value !== 0 ? getLabel(labels, 'condition') : undefined
    if (condition !== undefined) conditions.set(condition, conditionStatus(getLabel(labels, 'status') ?? ''))
  }
  return {
    ...metadataFromSeen(object),
    addresses: nodeAddresses(facts),
    capacity,
    allocatable,
    conditions,
    schedulable: (factOf(facts, 'kube_node_spec_unschedulable')?.value ?? 0) === 0,
  }
}

const NODE_AMOUNTS = ['kube_node_status_capacity', 'kube_node_status_allocatable']

/** It writes `true` where the API has `True`. */
function conditionStatus(status: string): string {
  return `${status.charAt(0).toUpperCase()}${status.slice(1)}`
}

function readMetadata({ kind, namespace, name, uid, facts }: SeenObject): KubernetesMetadata {
  const prefix = `kube_${kind.toLowerCase()}_`
  return {
    group: groupOfSeen(kind),
    kind,
    namespace: namespace ?? '',
    name,
    uid: uid ?? '',
    labels: withPrefix(factOf(facts, `${prefix}labels`), 'label_'),
    annotations: withPrefix(factOf(facts, `${prefix}annotations`), 'annotation_'),
    owners: ownersFrom(facts, `${prefix}owner`),
  }
}

function factOf(facts: readonly SeenFact[], name: string): SeenFact | undefined {
  return facts.find(fact => fact.name === name)
}

function withPrefix(fact: SeenFact | undefined, prefix: string): Labels {
  if (fact === undefined) return EMPTY_LABELS
  const pairs = labelPairs(fact.labels).filter(([name]) => name.startsWith(prefix))
  return labelsFrom(pairs.map(([name, value]) => [name.slice(prefix.length), value]))
}

/** One fact for each owner, and one without an owner where there is none. */
function ownersFrom(facts: readonly SeenFact[], name: string): OwnerReference[] {
  const owners: OwnerReference[] = []
  for (const fact of facts) {
    if (fact.name !== name) continue
    const kind = getLabel(fact.labels, 'owner_kind')
    const owner = getLabel(fact.labels, 'owner_name')
    if (kind === undefined || owner === undefined) continue
    const controller = getLabel(fact.labels, 'owner_is_controller') === 'true'
    owners.push({ group: undefined, kind, name: owner, uid: '', controller })
  }
  return owners
}

function readPod(object: SeenObject): Pod {
  const { facts } = object
  const info = factOf(facts, 'kube_pod_info')?.labels ?? EMPTY_LABELS
  const phase = phaseFrom(facts)
  const base = metadataFromSeen(object)
  return {
    ...base,
    owners: base.owners.length > 0 ? base.owners : controllerFrom(info),
    node: getLabel(info, 'node') ?? '',
    podIp: getLabel(info, 'pod_ip') ?? '',
    phase,
    createdMs: timeFrom(facts, 'kube_pod_created'),
    scheduledMs: timeFrom(facts, 'kube_pod_status_scheduled_time'),
    startedMs: timeFrom(facts, 'kube_pod_start_time'),
    runningMs: undefined,
    // Told as soon as one of several containers has ended.
    finishedMs: phase === 'Succeeded' || phase === 'Failed' ? timeFrom(facts, 'kube_pod_completion_time') : undefined,
    deletingMs: timeFrom(facts, 'kube_pod_deletion_timestamp'),
    containers: containersFrom(facts),
  }
}

function phaseFrom(facts: readonly SeenFact[]): PodPhase | undefined {
  const phase = facts.find(({ name, value }) => name === 'kube_pod_status_phase' && value !== 0)
  return phase && (getLabel(phase.labels, 'phase') as PodPhase | undefined)
}

/** Where owners are not told on their own, the controller stands beside the other facts of a pod. */
function controllerFrom(info: Labels): OwnerReference[] {
  const kind = getLabel(info, 'created_by_kind')
  const name = getLabel(info, 'created_by_name')
  if (kind === undefined || name === undefined || kind === '<none>') return []
  return [{ group: undefined, kind, name, uid: '', controller: true }]
}

function timeFrom(facts: readonly SeenFact[], name: string): number | undefined {
  const fact = factOf(facts, name)
  return fact === undefined ? undefined : fact.value * 1000
}

function containersFrom(facts: readonly SeenFact[]): Container[] {
  const containers = new Map<string, { requests: Map<string, number>; limits: Map<string, number> }>()
  for (const { name, labels, value } of facts) {
    const what = RESOURCE_FACTS[name]
    const container = getLabel(labels, 'container')
    const resource = getLabel(labels, 'resource')
    if (what === undefined || container === undefined || resource === undefined) continue
    let known = containers.get(container)
    if (known === undefined) containers.set(container, (known = { requests: new Map(), limits: new Map() }))
    known[what].set(resourceName(resource), value)
  }
  return [...containers].map(([name, resources]) => ({ name, ...resources }))
}

const RESOURCE_FACTS: Readonly<Record<string, 'requests' | 'limits' | undefined>> = {
  kube_pod_container_resource_requests: 'requests',
  kube_pod_container_resource_limits: 'limits',
}
