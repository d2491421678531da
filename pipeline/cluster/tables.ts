/**
 * The tables of the cluster model: who writes them and by which key they are read. Label processors read them by `look`, so that
 * what they made of an entry is made again when the entry changes.
 */
import type { Cluster } from '../component.ts'
import type { Tracked } from '../model/tracked.ts'
import type { Admission, PodGroup } from './admissions.ts'
import { publishedKey, type Claim, type PublishedDevice } from './claims.ts'
import { marksOf } from './gpu-marks.ts'
import { BY_NOTHING, indexed } from './indexed.ts'
import type { KubernetesMetadata, Node, Pod } from './objects.ts'
import { addressesOf } from './pod-state.ts'
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
  /** Kept as `claims` is written: keys of claims by the device that they got, which is its `publishedKey`. */
  readonly claimsByDevice: Tracked<readonly string[]>
  /** Kept as `publishedDevices` is written: keys of devices by UUID. */
  readonly publishedUuids: Tracked<readonly string[]>
  /** By `podGroupKey`. */
  readonly podGroups: Tracked<PodGroup>
  /** By the uid of the job. */
  readonly admissions: Tracked<Admission>
  /** By `kindText`: kinds that not every cluster has, with how many read them. */
  readonly readKinds: Tracked<number>
  /** By the component that fills the tables: whether it has read everything once. */
  readonly feeds: Tracked<'reading' | 'complete'>
  /** By the receiver that scrapes: whether each of its targets was tried once. */
  readonly collections: Tracked<() => boolean>
  /** Kept as `pods` is written: uids of pods by what they say of GPUs, `gpu-marks.ts` has the keys. */
  readonly podMarks: Tracked<readonly string[]>
  /** Likewise, by address. */
  readonly podAddresses: Tracked<readonly string[]>
  /** Kept as `nodes` is written: names of nodes by address. */
  readonly nodeAddresses: Tracked<readonly string[]>
}

const known = new WeakMap<Cluster, ClusterTables>()

export function clusterTables(cluster: Cluster): ClusterTables {
  let tables = known.get(cluster)
  if (tables === undefined) known.set(cluster, (tables = createTables(cluster)))
  return tables
}

function createTables(cluster: Cluster): ClusterTables {
  const podMarks = cluster.table<readonly string[]>('pod_marks')
  const podAddresses = cluster.table<readonly string[]>('pod_addresses')
  const nodeAddresses = cluster.table<readonly string[]>('node_addresses')
  const claimsByDevice = cluster.table<readonly string[]>('claims_by_device')
  const publishedUuids = cluster.table<readonly string[]>('published_uuids')
  return {
    podMarks,
    podAddresses,
    nodeAddresses,
    pods: indexed<Pod>(cluster.table('pods'), [
      { table: podMarks, by: marksOf },
      { table: podAddresses, by: addressesOf },
    ]),
    gonePods: cluster.table('gone_pods'),
    podNames: cluster.table('pod_names'),
    owners: cluster.table('owners'),
    namespaces: cluster.table('namespaces'),
    nodes: indexed<Node>(cluster.table('nodes'), [{ table: nodeAddresses, by: ({ addresses }) => addresses }]),
    quotas: cluster.table('quotas'),
    claims: indexed<Claim>(cluster.table('claims'), [
      { table: claimsByDevice, by: ({ devices }) => devices.map(publishedKey) },
    ]),
    publishedDevices: indexed<PublishedDevice>(cluster.table('published_devices'), [
      { table: publishedUuids, by: ({ uuid }) => (uuid === undefined ? BY_NOTHING : [uuid]) },
    ]),
    claimsByDevice,
    publishedUuids,
    podGroups: cluster.table('pod_groups'),
    admissions: cluster.table('admissions'),
    readKinds: cluster.table('read_kinds'),
    feeds: cluster.table('feeds'),
    collections: cluster.table('collections'),
  }
}

export function podNameKey(namespace: string, name: string): string {
  return `${namespace}/${name}`
}
