/**
 * What metrics are aggregated over, as arrays by place. Arrays are kept: when something has changed, only its places are filled anew,
 * and a flush reads numbers. Here are those of which the model of the cluster tells all; `read-contributors.ts` has the others.
 */
import type { Condition, Level } from '../../pipeline/catalog/output-schema.ts'
import { FlushColumns, KnownColumns } from './columns.ts'
import type { Entity } from './entity.ts'
import type { Model } from './model.ts'
import type { PodQuantity, PodRecord } from './pod-records.ts'
import type { QuotaRecord } from './quota-records.ts'
import type { Roster } from './roster.ts'
import type { ValueSpec } from './rules.ts'
import type { Changed } from './slots.ts'

export type Contributors = {
  /** Places are below this. */
  readonly length: number
  /** Brings arrays up to date after the model, or what is read, has changed. */
  refresh(): Changed
  /** What the contributor at a place is part of at a level. */
  entity(level: Level, place: number): Entity | undefined
  /** By place, at a time; NaN is no value. There may be more room than places. */
  values(spec: ValueSpec | undefined, where: readonly Condition[], nowMs: number): Float64Array
  /** Where the same values are without being copied by place, if they are somewhere. */
  unplaced?(spec: ValueSpec): Unplaced | undefined
  /** Undefined where all weigh 1. */
  weights?(weight: 'device' | 'share'): Float64Array | undefined
  /** By place: 1 for those of the values that were asked for last which are estimates. Undefined where none ever is. */
  estimates?(spec: ValueSpec): Uint8Array | undefined
}

/** A column of values, and by place where in it the value of each contributor is; -1 for who has none. */
export type Unplaced = { readonly values: Float64Array; readonly numbers: Int32Array }

/** Finds what something is part of. */
export type EntityAt = (level: Level, from: Entity, node: string) => Entity | undefined

/** By what is known of them, and whether they meet the conditions. */
export function podContributors({ pods, at }: Model): Contributors {
  const known = new KnownColumns()
  const ages = new FlushColumns()
  return {
    get length() {
      return pods.list.length
    },
    refresh() {
      known.update(pods.changed, pods.list.length)
      return pods.changed
    },
    entity(level, place) {
      const pod = pods.list[place]
      return pod && at(level, pod, pod.pod.node)
    },
    values(spec, where, nowMs) {
      const quantity = spec?.terms[0]!.facts[0]
      // Of all that is known of pods only this changes while they stay as they are.
      if (quantity === 'age') {
        return ages.get(where.join(), nowMs, pods.list.length, result =>
          pods.list.forEach((pod, i) => (result[i] = pod !== undefined && meets(pod, where) ? ageOf(pod, nowMs) : NaN)),
        )
      }
      return known.get(`${quantity} ${where.join()}`, place => {
        const pod = pods.list[place]
        return pod !== undefined && meets(pod, where) ? amountOf(pod, quantity) : NaN
      })
    },
  }
}

export function meets({ conditions }: PodRecord, where: readonly Condition[]): boolean {
  return where.every(condition => conditions.has(condition))
}

/** In seconds, until it finished. */
function ageOf({ pod }: PodRecord, nowMs: number): number {
  return pod.createdMs === undefined ? NaN : Math.max(0, (pod.finishedMs ?? nowMs) - pod.createdMs) / 1000
}

function amountOf(pod: PodRecord, quantity: string | undefined): number {
  if (quantity === undefined) return 1
  return pod.quantities[quantity as PodQuantity] ?? lookedUp(pod, quantity)
}

/** A number that somebody wrote on an object; NaN if there is none. */
function lookedUp(entity: Entity, lookUp: string): number {
  const text = entity.get(lookUp)?.trim() ?? ''
  return text === '' ? NaN : Number(text)
}

/** Those of a roster, by what is known of each; without a quantity each is 1. */
function ofRoster<T>(
  roster: Roster<T>,
  entity: (level: Level, record: T) => Entity | undefined,
  amount: (record: T, quantity: string) => number,
): Contributors {
  const known = new KnownColumns()
  return {
    get length() {
      return roster.list.length
    },
    refresh() {
      known.update(roster.changed, roster.list.length)
      return roster.changed
    },
    entity(level, place) {
      const record = roster.list[place]
      return record && entity(level, record)
    },
    values(spec) {
      const quantity = spec?.terms[0]!.facts[0]
      return known.get(`${quantity}`, place => {
        const record = roster.list[place]
        return record === undefined ? NaN : quantity === undefined ? 1 : amount(record, quantity)
      })
    },
  }
}

export function nodeContributors({ nodes: { all }, at }: Model): Contributors {
  return ofRoster(
    all,
    (level, node) => at(level, node, node.name),
    (node, quantity) => (quantity === 'gpus' ? node.gpus : lookedUp(node, quantity)),
  )
}

/** Nodes that have GPUs. */
export function gpuNodes({ nodes: { all: nodes } }: Model): Contributors {
  return {
    get length() {
      return nodes.list.length
    },
    refresh: () => nodes.changed,
    entity(_, place) {
      const node = nodes.list[place]
      return node !== undefined && (node.gpus > 0 || node.hasBoards) ? node : undefined
    },
    values: () => new Float64Array(nodes.list.length),
  }
}

export function quotaContributors(records: Roster<QuotaRecord>, at: EntityAt): Contributors {
  return ofRoster(
    records,
    // What pods say of a project does not include its quotas.
    (level, record) => (level === 'cluster' ? at(level, record, '') : record),
    ({ quantities }, quantity) => quantities[quantity as keyof QuotaRecord['quantities']],
  )
}

/** They are counted; what is known of their times is worked out elsewhere. */
export function workloadContributors({ workloads: { all }, at }: Model): Contributors {
  return ofRoster(
    all,
    (level, workload) => at(level, workload, ''),
    () => 1,
  )
}
