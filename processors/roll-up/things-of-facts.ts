/** Of which thing a series of a fact is a reading: its key, made of the labels that facts have. */
import { deviceKey } from '../../pipeline/cluster/seen.ts'
import type { Source } from '../../pipeline/model/batch.ts'
import { getLabel, type Labels } from '../../pipeline/model/labels.ts'

/** Boards of AMD share a serial number with their partitions; others have a UUID, or a place in a host. */
export function deviceOf(labels: Labels): string | undefined {
  const id = getLabel(labels, 'serial_number') ?? getLabel(labels, 'UUID') ?? placeInHost(labels)
  return id === undefined ? undefined : deviceKey(id, getLabel(labels, 'GPU_I_ID'))
}

function placeInHost(labels: Labels): string | undefined {
  const host = getLabel(labels, 'Hostname')
  const index = getLabel(labels, 'gpu')
  return host === undefined || index === undefined ? undefined : `${host}/${index}`
}

/** How a series names a pod. */
export type PodName = { readonly uid: string; readonly namespace: string; readonly name: string }

export function podNameOf(labels: Labels): PodName | undefined {
  const uid = getLabel(labels, 'pod_uid') ?? getLabel(labels, 'pod_uuid') ?? ''
  const name = getLabel(labels, 'pod') ?? ''
  return uid === '' && name === '' ? undefined : { uid, namespace: getLabel(labels, 'namespace') ?? '', name }
}

/** A reading of one pod on a device. */
export function ownReadingOf(labels: Labels): string | undefined {
  const device = deviceOf(labels)
  const pod = podNameOf(labels)
  return device === undefined || pod === undefined ? undefined : `${podText(pod)}\n${device}`
}

export function containerOf(labels: Labels): string | undefined {
  const pod = podNameOf(labels)
  return pod && `${podText(pod)}\n${getLabel(labels, 'container') ?? ''}`
}

function podText({ uid, namespace, name }: PodName): string {
  return uid === '' ? `${namespace}/${name}` : uid
}

/** The node of a target, where discovery or a label of the target tells it. */
export function toldNode({ node, labels }: Source): string | undefined {
  return node ?? getLabel(labels, 'node')
}

/** A host is the node of its target where that is known, else the address: two targets at one address are one host. */
export function hostOf(source: Source): string {
  const node = toldNode(source)
  return node === undefined ? `at ${URL.parse(source.name)?.hostname ?? source.name}` : `node ${node}`
}
