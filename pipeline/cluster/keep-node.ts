/** What is kept of a node that the Kubernetes API sent. */
import { sharedByText } from '../model/shared.ts'
import {
  isRecord,
  isSameMetadata,
  keepMetadata,
  readTime,
  shareText,
  textOf,
  type SentObject,
} from './keep-metadata.ts'
import { isSameAmounts } from './keep-pod.ts'
import type { Node } from './objects.ts'
import { parseQuantities } from './quantity.ts'
import { sharedMap } from './shared-map.ts'

/** With what only series say of it. */
export type KeptNode = Node & {
  readonly createdMs: number | undefined
  /** Of what type each address is: `InternalIP`. */
  readonly addressTypes: readonly string[]
}

/** All nodes have the same. */
const sharedTypes = sharedByText<readonly string[]>(types => JSON.stringify(types))

const NODE = { group: '', kind: 'Node' }

export function keepNode(object: SentObject): KeptNode {
  const spec = isRecord(object['spec']) ? object['spec'] : {}
  const status = isRecord(object['status']) ? object['status'] : {}
  const addresses = pairs(status['addresses'], 'type', 'address')
  const { group, kind, namespace, name, uid, labels, annotations, owners } = keepMetadata(object, NODE)
  // One by one: what is spread into an object lies beside it.
  return {
    group,
    kind,
    namespace,
    name,
    uid,
    labels,
    annotations,
    owners,
    addresses: addresses.map(([, address]) => address),
    addressTypes: sharedTypes(addresses.map(([type]) => type)),
    capacity: parseQuantities(status['capacity']),
    allocatable: parseQuantities(status['allocatable']),
    conditions: sharedMap(new Map(pairs(status['conditions'], 'type', 'status'))),
    schedulable: spec['unschedulable'] !== true,
    createdMs: readTime(object.metadata.creationTimestamp),
  }
}

/** A node tells every few minutes that it is still there; that makes no difference here. */
export function isSameNode(one: KeptNode, other: KeptNode): boolean {
  return (
    isSameMetadata(one, other) &&
    one.schedulable === other.schedulable &&
    one.addresses.join() === other.addresses.join() &&
    one.addressTypes.join() === other.addressTypes.join() &&
    isSameAmounts(one.capacity, other.capacity) &&
    isSameAmounts(one.allocatable, other.allocatable) &&
    isSameAmounts(one.conditions, other.conditions)
  )
}

function pairs(list: unknown, key: string, value: string): [string, string][] {
  if (!Array.isArray(list)) return []
  return list.filter(isRecord).map(item => [shareText(textOf(item[key])), shareText(textOf(item[value]))])
}
