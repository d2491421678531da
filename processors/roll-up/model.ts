/** The cluster as roll-ups see it: all records, and what each is part of. */
import type { Level } from '../../pipeline/catalog/output-schema.ts'
import { nodeAt } from '../../pipeline/cluster/find-node.ts'
import { podOf, seenTables, type PodReader } from '../../pipeline/cluster/find-pod.ts'
import { writeIdentities } from '../../pipeline/cluster/identities.ts'
import { SEEN_DEVICES, type SeenDevice } from '../../pipeline/cluster/seen.ts'
import { clusterTables } from '../../pipeline/cluster/tables.ts'
import type { Cluster } from '../../pipeline/component.ts'
import type { Source } from '../../pipeline/model/batch.ts'
import type { Labels } from '../../pipeline/model/labels.ts'
import { trackedChanges } from '../../pipeline/model/tracked.ts'
import type { EntityAt } from './contributors.ts'
import { DeviceRecords } from './device-records.ts'
import { entityFrom, type Entity } from './entity.ts'
import { KeyedEntities, type Relabelled } from './keyed-entities.ts'
import { NodeRecords, type NodeRecord } from './node-records.ts'
import { recordOfPod, PodRecords, type PodChange, type PodRecord, type PodRules } from './pod-records.ts'
import { QuotaRecords, type Unlimited } from './quota-records.ts'
import type { Roster } from './roster.ts'
import { podNameOf, toldNode } from './things-of-facts.ts'

/** Levels that pods belong to by an attribute. */
const KEYED_LEVELS: Readonly<Partial<Record<Level, string>>> = {
  workload: 'workload_id',
  project: 'project',
  department: 'department',
  user: 'user',
  queue: 'queue',
}

export type ModelRules = PodRules & { readonly unlimited: Unlimited }

export type Model = {
  readonly pods: Roster<PodRecord>
  readonly devices: DeviceRecords
  readonly nodes: NodeRecords
  readonly workloads: KeyedEntities
  readonly quotas: QuotaRecords
  readonly at: EntityAt
  /** Brings everything up to date. Whether there was anything new; what that is stays known until `settle`. */
  refresh(): boolean
  settle(): void
  /** Pods that have changed by the last refresh. */
  readonly podChanges: readonly PodChange[]
  /** What may have other labels at a level than before the last refresh; 'all' where that is not known one by one. */
  relabelled(level: Level): readonly Relabelled[] | 'all'
  /** The pod that a series names. */
  podOf(labels: Labels): PodRecord | undefined
  nodeOf(source: Source): NodeRecord | undefined
}

/** `levels` are those that some metric has. */
export function createModel(cluster: Cluster, rules: () => ModelRules, levels: ReadonlySet<Level>): Model {
  const tables = clusterTables(cluster)
  const seen = seenTables(cluster)
  const seenDevices = cluster.table<SeenDevice>(SEEN_DEVICES)
  // Nothing is kept of what this reads: who asks, asks again.
  const reader: PodReader = { look: entry => entry.value, tables, seen }
  const pods = new PodRecords()
  const devices = new DeviceRecords()
  const { clusterId } = rules()
  const workloads = new KeyedEntities(KEYED_LEVELS.workload!)
  const keyed = new Map<Level, KeyedEntities>([['workload', workloads]])
  for (const [level, attribute] of Object.entries(KEYED_LEVELS) as [Level, string][]) {
    if (level !== 'workload' && levels.has(level)) keyed.set(level, new KeyedEntities(attribute))
  }
  const clusterEntity = entityFrom(attribute => (attribute === 'cluster' ? clusterId : undefined))
  const nodePools = new Map<string, Entity>()
  const nodes = new NodeRecords(clusterId)
  const quotas = new QuotaRecords()
  let podChanges: readonly PodChange[] = []
  let known: ModelRules | undefined
  let areIdentitiesTold = false
  let changes = -1

  /** For who has to give one id for another. */
  function tellIdentities(): void {
    const rosters = [workloads.all, nodes.all]
    const isSame = podChanges.length === 0 && rosters.every(({ changed }) => changed.size === 0)
    if (isSame && areIdentitiesTold) return
    areIdentitiesTold = writeIdentities(cluster, {
      workloads: workloads.all.values(),
      pods: pods.all.values(),
      nodes: nodes.all.values(),
      workloadOf: pod => workloads.of(pod as PodRecord),
    })
  }

  function poolOf(name: string | undefined): Entity | undefined {
    if (name === undefined || name === '') return undefined
    let entity = nodePools.get(name)
    if (entity === undefined) {
      const attributes: Readonly<Record<string, string>> = { cluster: clusterId, nodepool: name }
      nodePools.set(name, (entity = entityFrom(attribute => attributes[attribute])))
    }
    return entity
  }

  const at: EntityAt = (level, from, node) => {
    switch (level) {
      case 'cluster':
        return clusterEntity
      case 'node':
        // What is left of a device has a label of its own beside that of the node.
        return from.get('reason') === undefined ? nodes.of(node) : from
      case 'nodepool':
        return poolOf(from.get('nodepool') ?? nodes.of(node)?.get('nodepool'))
      case 'gpu':
      case 'pair':
      case 'pod':
      case 'series':
        return from
      default:
        return keyed.get(level)?.of(from) ?? from
    }
  }

  return {
    at,
    devices,
    workloads,
    pods: pods.all,
    quotas,
    nodes,
    get podChanges() {
      return podChanges
    },
    refresh() {
      const now = trackedChanges()
      const its = rules()
      podChanges = []
      if (now === changes && its === known) return false
      changes = now
      if (its !== known) {
        pods.forget()
        nodes.findPoolsBy(its.workload.identity.lookUps.nodepool ?? [])
        known = its
      }
      podChanges = pods.refresh(tables, seen, its)
      devices.refresh(seenDevices, tables, seen, its, pods.all, podChanges)
      for (const entities of keyed.values()) entities.refresh(podChanges, devices.jobs.values())
      nodes.refresh(tables, seen, devices.boards)
      quotas.refresh(tables, seen, { identity: its.workload.identity, clusterId, unlimited: its.unlimited })
      tellIdentities()
      return true
    },
    settle() {
      for (const roster of [pods.all, devices.boards, devices.pairs, devices.rests, devices.jobs]) roster.settle()
      for (const entities of keyed.values()) entities.all.settle()
      for (const roster of [nodes.all, quotas.projects, quotas.queues]) roster.settle()
    },
    relabelled(level) {
      if (level === 'node' || level === 'nodepool') return nodes.all.changed.size > 0 ? 'all' : []
      return keyed.get(level)?.relabelled ?? []
    },
    podOf(labels) {
      const name = podNameOf(labels)
      if (name === undefined) return undefined
      const found = podOf(reader, name.namespace, name.name, name.uid)
      return typeof found === 'string' || found.isGone ? undefined : recordOfPod(pods.all, found.pod)
    },
    nodeOf(source) {
      const told = toldNode(source)
      if (told !== undefined) return nodes.of(told)
      const host = URL.parse(source.name)?.hostname
      return nodes.of(nodeAt(reader, host) ?? host ?? '')
    },
  }
}
