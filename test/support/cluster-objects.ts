/** Fills the tables of the cluster model in a few words, as the `kubernetes_api` receiver would. */
import type { Container, KubernetesMetadata, OwnerReference, Pod } from '../../pipeline/cluster/objects.ts'
import { clusterTables, podNameKey } from '../../pipeline/cluster/tables.ts'
import type { Cluster } from '../../pipeline/component.ts'
import { EMPTY_LABELS, labelsFrom } from '../../pipeline/model/labels.ts'

type Texts = Readonly<Record<string, string>>
export type ObjectParts = Partial<Omit<KubernetesMetadata, 'labels' | 'annotations'>> & {
  readonly labels?: Texts
  readonly annotations?: Texts
}

/** `Kind.group/name`; its uid is `uid-` and that text unless it is given. */
export function objectNamed(text: string, parts: ObjectParts = {}): KubernetesMetadata {
  const [, kind, group = '', name] = /^(\w+?)(?:\.([^/]+))?\/(.+)$/.exec(text)!
  const { labels = {}, annotations = {}, ...rest } = parts
  return {
    group,
    kind: kind!,
    name: name!,
    namespace: 'ns',
    uid: `uid-${text}`,
    owners: [],
    ...rest,
    labels: labelsFrom(Object.entries(labels)),
    annotations: labelsFrom(Object.entries(annotations)),
  }
}

export type PodParts = ObjectParts & Partial<Pick<Pod, 'node' | 'phase' | 'podIp' | 'deletingMs' | 'containers'>>

export function podNamed(name: string, parts: PodParts = {}): Pod {
  return {
    node: '',
    phase: 'Running',
    podIp: '',
    createdMs: undefined,
    scheduledMs: undefined,
    startedMs: undefined,
    runningMs: undefined,
    finishedMs: undefined,
    deletingMs: undefined,
    containers: [],
    ...parts,
    ...objectNamed(`Pod/${name}`, parts),
  }
}

/** A container with limits, such as `{ 'nvidia.com/gpu': 2 }`. */
export function containerWith(limits: Readonly<Record<string, number>>, requests = limits): Container {
  return { name: 'main', limits: new Map(Object.entries(limits)), requests: new Map(Object.entries(requests)) }
}

export function referenceTo({ group, kind, name, uid }: KubernetesMetadata, controller = true): OwnerReference {
  return { group, kind, name, uid, controller }
}

export function putPod(cluster: Cluster, pod: Pod): void {
  const { pods, podNames, gonePods } = clusterTables(cluster)
  pods.set(pod.uid, pod)
  gonePods.delete(pod.uid)
  podNames.set(podNameKey(pod.namespace, pod.name), pod.uid)
}

/** It stays for a grace time, and keeps its name until another has it. */
export function removePod(cluster: Cluster, pod: Pod): void {
  const { pods, gonePods } = clusterTables(cluster)
  pods.delete(pod.uid)
  gonePods.set(pod.uid, pod)
}

/** The first is a pod, each is owned by the next. `parts` are of the pod. */
export function putChain(cluster: Cluster, texts: readonly string[], parts: PodParts = {}): Pod {
  const objects = texts.map(text => objectNamed(text))
  const { owners } = clusterTables(cluster)
  const linked = objects.map((object, i) => ({
    ...object,
    owners: objects[i + 1] === undefined ? [] : [referenceTo(objects[i + 1]!)],
  }))
  for (const object of linked.slice(1)) {
    if (object.kind === 'Pod') putPod(cluster, { ...podNamed(object.name), ...object })
    else owners.set(object.uid, object)
  }
  const pod = podNamed(linked[0]!.name, { ...parts, owners: linked[0]!.owners })
  putPod(cluster, pod)
  return pod
}

export function putNamespace(cluster: Cluster, name: string, labels: Texts, annotations: Texts = {}): void {
  const namespace = objectNamed(`Namespace/${name}`, { namespace: '', labels, annotations })
  clusterTables(cluster).namespaces.set(name, namespace)
}

export function putNode(cluster: Cluster, name: string, labels: Texts, addresses: readonly string[] = []): void {
  clusterTables(cluster).nodes.set(name, {
    ...objectNamed(`Node/${name}`, { namespace: '', labels }),
    annotations: EMPTY_LABELS,
    addresses,
    capacity: new Map(),
    allocatable: new Map(),
    conditions: new Map(),
    schedulable: true,
  })
}
