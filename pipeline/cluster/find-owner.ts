/** Objects around a pod, whoever told about them. The Kubernetes API counts before kube-state-metrics, object by object. */
import type { PodReader } from './find-pod.ts'
import type { KubernetesMetadata, OwnerReference } from './objects.ts'
import type { Found, FindOwner } from './owner-chain.ts'
import { groupOfSeen, metadataFromSeen } from './seen-metadata.ts'
import { nameKey } from './seen-names.ts'
import { objectKey } from './seen-object.ts'

/**
 * Finds owners by uid where a reference has one, else by kind and name. Nobody will ever tell more about an owner without uid
 * than kube-state-metrics does, so one that it does not show is unreadable.
 */
export function ownerFinder(reader: PodReader): FindOwner {
  return (reference, namespace) => {
    if (reference.uid === '') return seenOwner(reader, reference, namespace) ?? 'unreadable'
    const found = inTables(reader, reference)
    if (typeof found === 'object') return found
    return seenOwner(reader, reference, namespace) ?? found
  }
}

function inTables({ look, tables }: PodReader, { uid, kind, group }: OwnerReference): Found {
  if (kind === 'Pod' && group === '') {
    const pod = look(tables.pods.entry(uid)) ?? look(tables.gonePods.entry(uid))
    if (pod !== undefined) return pod
  }
  return look(tables.owners.entry(uid))
}

function seenOwner(reader: PodReader, reference: OwnerReference, namespace: string): KubernetesMetadata | undefined {
  const { look, seen } = reader
  const { kind, name, uid, group } = reference
  const seenGroup = groupOfSeen(kind)
  if (seenGroup === undefined || (group ?? seenGroup) !== seenGroup) return undefined
  for (const key of look(seen.names.at(nameKey(kind, namespace, name))) ?? []) {
    const object = look(seen.objects.at(key))
    if (object === undefined || (uid !== '' && object.uid !== undefined && object.uid !== uid)) continue
    return metadataFromSeen(object)
  }
  return undefined
}

export function namespaceOf({ look, tables, seen }: PodReader, name: string): KubernetesMetadata | undefined {
  const found = look(tables.namespaces.entry(name))
  if (found !== undefined) return found
  const object = look(seen.objects.at(objectKey('Namespace', undefined, name, undefined)))
  return object && metadataFromSeen(object)
}
