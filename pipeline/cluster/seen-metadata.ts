/**
 * What kube-state-metrics tells about an object, in the shape that objects of the Kubernetes API have here. What it cannot tell is
 * absent: the group of an owner, its uid, labels outside its allow-lists.
 */
import { EMPTY_LABELS, getLabel, labelPairs, labelsFrom, type Labels } from '../model/labels.ts'
import type { Container, KubernetesMetadata, OwnerReference, Pod, PodPhase } from './objects.ts'
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
  const phase = facts.find(({ name, value }) => name === 'kube_pod_status_phase' && value !== 0)
  const base = metadataFromSeen(object)
  return {
    ...base,
    owners: base.owners.length > 0 ? base.owners : controllerFrom(info),
    node: getLabel(info, 'node') ?? '',
    podIp: getLabel(info, 'pod_ip') ?? '',
    phase: phase && (getLabel(phase.labels, 'phase') as PodPhase | undefined),
    createdMs: timeFrom(facts, 'kube_pod_created'),
    startedMs: timeFrom(facts, 'kube_pod_start_time'),
    finishedMs: timeFrom(facts, 'kube_pod_completion_time'),
    deletingMs: timeFrom(facts, 'kube_pod_deletion_timestamp'),
    containers: containersFrom(facts),
  }
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

/** It writes `_` for every mark: `nvidia_com_mig_1g_5gb`. For the names that matter here only one reading makes sense. */
function resourceName(text: string): string {
  const found = /^(nvidia|amd)_com_(?:mig_(\d+g)_(.+)|(gpu|gpu_shared))$/.exec(text)
  if (found === null) return text === 'ephemeral_storage' ? 'ephemeral-storage' : text
  const [, vendor, slices, memory, gpu] = found
  return gpu === undefined ? `${vendor}.com/mig-${slices}.${memory}` : `${vendor}.com/${gpu.replace('_', '.')}`
}
