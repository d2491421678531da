/**
 * The tables of the cluster model: who writes them and by which key they are read. Label processors read them by `look`, so that
 * what they made of an entry is made again when the entry changes.
 */
import type { Cluster } from '../component.ts'
import type { Tracked } from '../model/tracked.ts'
import type { Admission, PodGroup } from './admissions.ts'
import type { Claim, PublishedDevice } from './claims.ts'
import type { KubernetesMetadata, Node, Pod } from './objects.ts'
import type { QuotaObject } from './quotas.ts'

export type ClusterTables = {
  /** By uid. Pods that are gone stay for a grace time, in `gonePods` only. */
  readonly pods: Tracked<Pod>
  /** By uid: pods that are gone, to label samples that come late, and for nothing else. */
  readonly gonePods: Tracked<Pod>
  /** The uid of the pod that has a name now, by `namespace/name`; of a pod that is gone until another has its name. */
  readonly podNames: Tracked<string>
  /** By uid: whatever owns something. `unreadable` is an owner that was asked for and cannot be had. */
  readonly owners: Tracked<KubernetesMetadata | 'unreadable'>
  /** By name. */
  readonly namespaces: Tracked<KubernetesMetadata>
  readonly nodes: Tracked<Node>
  /** By `quotaKey`: objects that tell of quotas, as the API has them. `quotaRows` adds what kube-state-metrics tells. */
  readonly quotas: Tracked<QuotaObject>
  /** By `claimKey`. */
  readonly claims: Tracked<Claim>
  /** By `publishedKey`. */
  readonly publishedDevices: Tracked<PublishedDevice>
  /** By `podGroupKey`. */
  readonly podGroups: Tracked<PodGroup>
  /** By the uid of the job. */
  readonly admissions: Tracked<Admission>
  /** By `kindText`: kinds that not every cluster has, and that are read here. */
  readonly readKinds: Tracked<true>
  /** By the component that fills the tables: whether it has read everything once. */
  readonly feeds: Tracked<'reading' | 'complete'>
}

export function clusterTables(cluster: Cluster): ClusterTables {
  return {
    pods: cluster.table('pods'),
    gonePods: cluster.table('gone_pods'),
    podNames: cluster.table('pod_names'),
    owners: cluster.table('owners'),
    namespaces: cluster.table('namespaces'),
    nodes: cluster.table('nodes'),
    quotas: cluster.table('quotas'),
    claims: cluster.table('claims'),
    publishedDevices: cluster.table('published_devices'),
    podGroups: cluster.table('pod_groups'),
    admissions: cluster.table('admissions'),
    readKinds: cluster.table('read_kinds'),
    feeds: cluster.table('feeds'),
  }
}

export function podNameKey(namespace: string, name: string): string {
  return `${namespace}/${name}`
}
