/** What is kept of a pod that the Kubernetes API sent: of the 5 to 20 KB that it has, a few hundred bytes. */
import { createInternTable, hashString } from '../model/intern.ts'
import { claimsOfPod } from './claims.ts'
import {
  isRecord,
  isSameMetadata,
  keepMetadata,
  readTime,
  shareText,
  textOf,
  type SentObject,
} from './keep-metadata.ts'
import type { Container, Pod, PodPhase } from './objects.ts'
import { parseQuantities } from './quantity.ts'

/** With what only series say of it. */
export type KeptPod = Pod & {
  readonly initContainers: readonly Container[]
  readonly hostIp: string
  readonly hostNetwork: boolean
  readonly priorityClass: string
  /** When its conditions became true. */
  readonly initializedMs: number | undefined
  readonly readyMs: number | undefined
}

const POD = { group: '', kind: 'Pod' }
const PHASES: ReadonlySet<string> = new Set<PodPhase>(['Pending', 'Running', 'Succeeded', 'Failed', 'Unknown'])

export function keepPod(object: SentObject): KeptPod {
  const spec = isRecord(object['spec']) ? object['spec'] : {}
  const status = isRecord(object['status']) ? object['status'] : {}
  const phase = PHASES.has(textOf(status['phase'])) ? (status['phase'] as PodPhase) : undefined
  const { creationTimestamp, deletionTimestamp } = object.metadata
  const claims = claimsOfPod(spec, status)
  const { group, kind, namespace, name, uid, labels, annotations, owners } = keepMetadata(object, POD)
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
    node: shareText(textOf(spec['nodeName'])),
    phase,
    podIp: textOf(status['podIP']),
    createdMs: readTime(creationTimestamp),
    scheduledMs: trueSince(status['conditions'], 'PodScheduled'),
    startedMs: readTime(status['startTime']),
    runningMs: firstStart(status['containerStatuses']),
    finishedMs: phase === 'Succeeded' || phase === 'Failed' ? lastEnd(status['containerStatuses']) : undefined,
    deletingMs: readTime(deletionTimestamp),
    containers: keepContainers(spec['containers']),
    initContainers: keepContainers(spec['initContainers']),
    hostIp: shareText(textOf(status['hostIP'])),
    hostNetwork: spec['hostNetwork'] === true,
    priorityClass: shareText(textOf(spec['priorityClassName'])),
    initializedMs: trueSince(status['conditions'], 'Initialized'),
    readyMs: trueSince(status['conditions'], 'Ready'),
    ...(claims && { claims }),
  }
}

/** Whether nothing has changed that is kept. */
export function isSamePod(one: KeptPod, other: KeptPod): boolean {
  return (
    isSameMetadata(one, other) &&
    one.node === other.node &&
    one.phase === other.phase &&
    one.podIp === other.podIp &&
    one.hostIp === other.hostIp &&
    one.startedMs === other.startedMs &&
    one.runningMs === other.runningMs &&
    one.finishedMs === other.finishedMs &&
    one.deletingMs === other.deletingMs &&
    one.scheduledMs === other.scheduledMs &&
    one.initializedMs === other.initializedMs &&
    one.readyMs === other.readyMs &&
    one.claims?.join() === other.claims?.join() &&
    one.containers === other.containers &&
    one.initContainers === other.initContainers
  )
}

/** Of a container that was started again, its start before that. */
function firstStart(statuses: unknown): number | undefined {
  let firstMs: number | undefined
  for (const status of records(statuses)) {
    for (const states of [status['state'], status['lastState']]) {
      for (const state of isRecord(states) ? [states['running'], states['terminated']] : []) {
        const startMs = isRecord(state) ? readTime(state['startedAt']) : undefined
        if (startMs !== undefined && (firstMs === undefined || startMs < firstMs)) firstMs = startMs
      }
    }
  }
  return firstMs
}

function lastEnd(statuses: unknown): number | undefined {
  let lastMs: number | undefined
  for (const status of records(statuses)) {
    const terminated = isRecord(status['state']) ? status['state']['terminated'] : undefined
    const endMs = isRecord(terminated) ? readTime(terminated['finishedAt']) : undefined
    if (endMs !== undefined && (lastMs === undefined || endMs > lastMs)) lastMs = endMs
  }
  return lastMs
}

function trueSince(conditions: unknown, type: string): number | undefined {
  const condition = records(conditions).find(one => one['type'] === type && one['status'] === 'True')
  return readTime(condition?.['lastTransitionTime'])
}

const containerLists = createInternTable<readonly Container[]>()
const NO_CONTAINERS: readonly Container[] = []

/** The pods of one workload have one list. */
function keepContainers(containers: unknown): readonly Container[] {
  const kept = records(containers).map(({ name, image, resources }) => ({
    name: shareText(textOf(name)),
    image: shareText(textOf(image)),
    requests: parseQuantities(isRecord(resources) ? resources['requests'] : undefined),
    limits: parseQuantities(isRecord(resources) ? resources['limits'] : undefined),
  }))
  if (kept.length === 0) return NO_CONTAINERS
  let hash = 0
  for (const { name, image, requests, limits } of kept) {
    hash = hashString(image, hashString(name, hash))
    for (const amounts of [requests, limits]) {
      for (const [resource, amount] of amounts) hash = hashString(`${resource}${amount}`, hash)
    }
  }
  return containerLists.intern(
    hash,
    known => known.length === kept.length && known.every((container, i) => isSameContainer(container, kept[i]!)),
    () => kept,
  )
}

function isSameContainer(one: Container, other: Container): boolean {
  return (
    one.name === other.name &&
    one.image === other.image &&
    isSameAmounts(one.requests, other.requests) &&
    isSameAmounts(one.limits, other.limits)
  )
}

export function isSameAmounts<V>(one: ReadonlyMap<string, V>, other: ReadonlyMap<string, V>): boolean {
  if (one.size !== other.size) return false
  for (const [resource, amount] of one) if (other.get(resource) !== amount) return false
  return true
}

function records(list: unknown): Record<string, unknown>[] {
  return Array.isArray(list) ? list.filter(isRecord) : []
}
