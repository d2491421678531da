/** Nodes, whoever told about them, and the node that a device is in. The Kubernetes API counts before kube-state-metrics. */
import type { PodReader } from './find-pod.ts'
import type { Node } from './objects.ts'
import { nodeFromSeen, podFromSeen } from './seen-metadata.ts'
import { objectKey } from './seen-object.ts'
import type { SeenDevice } from './seen.ts'

export function nodeOf({ look, tables, seen }: PodReader, name: string): Node | undefined {
  if (name === '') return undefined
  const found = look(tables.nodes.entry(name))
  if (found !== undefined) return found
  const object = look(seen.objects.at(objectKey('Node', undefined, name, undefined)))
  return object && nodeFromSeen(object)
}

/** The node that discovery knows; else that whose address, or one of whose pods' address, is the target's host; else the host label. */
export function nodeOfDevice(reader: PodReader, { source, host }: SeenDevice): string | undefined {
  return source.node ?? nodeAt(reader, hostOf(source.name)) ?? host
}

/** The name of the node that has an address or name, or that a pod with the address is on. */
export function nodeAt(reader: PodReader, address: string | undefined): string | undefined {
  if (address === undefined) return undefined
  const { look, tables } = reader
  if (nodeOf(reader, address) !== undefined) return address
  const [name] = look(tables.nodeAddresses.at(address)) ?? []
  return name ?? seenAt(reader, address, 'Node') ?? nodeOfPodAt(reader, address) ?? seenAt(reader, address, 'Pod')
}

function nodeOfPodAt({ look, tables }: PodReader, address: string): string | undefined {
  for (const uid of look(tables.podAddresses.at(address)) ?? []) {
    const node = look(tables.pods.entry(uid))?.node
    if (node !== undefined && node !== '') return node
  }
  return undefined
}

function seenAt({ look, seen }: PodReader, address: string, kind: 'Node' | 'Pod'): string | undefined {
  for (const key of look(seen.addresses.at(address)) ?? []) {
    const object = look(seen.objects.at(key))
    if (object?.kind !== kind) continue
    const node = kind === 'Node' ? object.name : podFromSeen(object).node
    if (node !== '') return node
  }
  return undefined
}

/** Devices of one target follow each other. */
let lastTarget = ''
let lastHost: string | undefined

/** The host of a target that is named by its URL. */
function hostOf(target: string): string | undefined {
  if (target === lastTarget) return lastHost
  const host = URL.parse(target)?.hostname.replace(/^\[(.*)\]$/, '$1')
  lastTarget = target
  lastHost = host === '' ? undefined : host
  return lastHost
}
