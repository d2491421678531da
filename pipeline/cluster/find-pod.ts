/** The pod that a series speaks of, whoever told about it. The Kubernetes API counts before kube-state-metrics. */
import type { Cluster } from '../component.ts'
import type { Look } from '../model/label-processor.ts'
import type { Tracked } from '../model/tracked.ts'
import type { Pod } from './objects.ts'
import { podFromSeen } from './seen-metadata.ts'
import { nameKey, SEEN_NAMES, SEEN_UIDS } from './seen-names.ts'
import { objectKey, type SeenObject } from './seen-object.ts'
import { SEEN_ADDRESSES, SEEN_BOARDS, SEEN_DEVICES, SEEN_MARKS, SEEN_OBJECTS, type SeenDevice } from './seen.ts'
import { podNameKey, type ClusterTables } from './tables.ts'

/** What arrives as series, about objects and about devices. */
export type SeenTables = {
  readonly objects: Tracked<SeenObject>
  readonly names: Tracked<readonly string[]>
  readonly uids: Tracked<string>
  /** Keys of pods by what they say of GPUs, `gpu-marks.ts` has the keys. */
  readonly marks: Tracked<readonly string[]>
  /** Keys of nodes and pods by address. */
  readonly addresses: Tracked<readonly string[]>
  readonly devices: Tracked<SeenDevice>
  /** Keys of instances by what names their board. */
  readonly boards: Tracked<readonly string[]>
}

export function seenTables(cluster: Cluster): SeenTables {
  return {
    objects: cluster.table(SEEN_OBJECTS),
    names: cluster.table(SEEN_NAMES),
    uids: cluster.table(SEEN_UIDS),
    marks: cluster.table(SEEN_MARKS),
    addresses: cluster.table(SEEN_ADDRESSES),
    devices: cluster.table(SEEN_DEVICES),
    boards: cluster.table(SEEN_BOARDS),
  }
}

export type FoundPod = {
  readonly pod: Pod
  readonly from: 'the Kubernetes API' | 'kube-state-metrics'
  /** Gone: it labels samples that come late, and counts nowhere. */
  readonly isGone: boolean
}
/** Why there is no pod: nobody knows it; its name is known, but of another one; of several nothing tells which. */
export type NoPod = 'unknown_pod' | 'other_uid' | 'several_pods'

/** `look` reads, and takes note of, everything that the answer hangs on. */
export type PodReader = { readonly look: Look; readonly tables: ClusterTables; readonly seen: SeenTables }

/**
 * A uid decides alone. Without one it is the pod that has the name now, or had it last. `uid` is '' where the series has none.
 */
export function podOf(reader: PodReader, namespace: string, name: string, uid: string): FoundPod | NoPod {
  return uid === '' ? byName(reader, namespace, name) : byUid(reader, namespace, name, uid)
}

function byUid(reader: PodReader, namespace: string, name: string, uid: string): FoundPod | NoPod {
  const { look, tables, seen } = reader
  const found = inTables(reader, uid) ?? seenByUid(reader, uid)
  if (found !== undefined) return found
  // kube-state-metrics before 2.1 tells no uid: then the name is all there is.
  const nameless = inSeen(reader, objectKey('Pod', namespace, name, undefined))
  if (nameless !== undefined) return { ...nameless, pod: { ...nameless.pod, uid } }
  const isNamed =
    look(tables.podNames.entry(podNameKey(namespace, name))) !== undefined ||
    look(seen.names.at(nameKey('Pod', namespace, name))) !== undefined
  return isNamed ? 'other_uid' : 'unknown_pod'
}

function byName(reader: PodReader, namespace: string, name: string): FoundPod | NoPod {
  const { look, tables, seen } = reader
  const uid = look(tables.podNames.entry(podNameKey(namespace, name)))
  const found = uid === undefined ? undefined : inTables(reader, uid)
  if (found !== undefined) return found
  const keys = look(seen.names.at(nameKey('Pod', namespace, name))) ?? []
  const pods = keys.map(key => inSeen(reader, key)).filter(one => one !== undefined)
  if (pods.length === 0) return 'unknown_pod'
  return newest(pods) ?? 'several_pods'
}

/**
 * Of pods that follow each other under one name the last counts, if it is known which that is. One without uid is the same pod as
 * another source tells it.
 */
function newest(pods: readonly FoundPod[]): FoundPod | undefined {
  const told = pods.length === 1 ? pods : pods.filter(({ pod }) => pod.uid !== '')
  if (told.length === 1) return told[0]
  // NaN is equal to nothing: where one is of unknown age, none is known to be the last.
  const createdMs = told.map(({ pod }) => pod.createdMs ?? NaN)
  const last = Math.max(...createdMs)
  const candidates = told.filter((_, i) => createdMs[i] === last)
  return candidates.length === 1 ? candidates[0] : undefined
}

function inTables({ look, tables }: PodReader, uid: string): FoundPod | undefined {
  const pod = look(tables.pods.entry(uid))
  if (pod !== undefined) return { pod, from: 'the Kubernetes API', isGone: false }
  const gone = look(tables.gonePods.entry(uid))
  return gone && { pod: gone, from: 'the Kubernetes API', isGone: true }
}

function seenByUid(reader: PodReader, uid: string): FoundPod | undefined {
  const key = reader.look(reader.seen.uids.at(uid))
  return key === undefined ? undefined : inSeen(reader, key)
}

function inSeen({ look, seen }: PodReader, key: string): FoundPod | undefined {
  const object = look(seen.objects.at(key))
  if (object?.kind !== 'Pod') return undefined
  return { pod: podFromSeen(object), from: 'kube-state-metrics', isGone: false }
}
