/**
 * What metrics are aggregated over, as arrays: made anew when the model or the set of readings has changed, from records whose labels
 * are known already.
 */
import type { Condition, ContributorKind, Level } from '../../pipeline/catalog/output-schema.ts'
import { divided, type Measured } from './divided-memory.ts'
import type { Entity } from './entity.ts'
import type { BoardRecord, DeviceRecord, PairRecord, RestRecord } from './device-records.ts'
import type { NodeRecord } from './node-records.ts'
import type { PodQuantity, PodRecord } from './pod-records.ts'
import type { QuotaRecord } from './quota-records.ts'
import type { ValueSpec } from './rules.ts'
import type { Things } from './things.ts'
import { isQuantity, type Values } from './values.ts'

export type Contributors = {
  /** By contributor: what it is part of at a level. */
  entities(level: Level): (Entity | undefined)[]
  /** By contributor, at a time; NaN is no value. */
  values(spec: ValueSpec | undefined, where: readonly Condition[], nowMs: number): Float64Array
  weights?(weight: 'device' | 'share'): Float64Array | undefined
}

/** Finds what something is part of. */
export type EntityAt = (level: Level, from: Entity, node: string) => Entity | undefined

export function gpuContributors(
  boards: readonly BoardRecord[],
  values: Values,
  at: EntityAt,
  isAllocated: (board: BoardRecord) => boolean,
): Contributors {
  const alive = boards.filter(board => board.devices.some(({ key }) => values.devices.find(key) >= 0))
  const wholes = Int32Array.from(alive, ({ devices }) => numberOfWhole(devices, values.devices))
  const parts = alive.map(({ devices }) => partsOf(devices, values.devices))
  return {
    entities: level => alive.map(board => at(level, board, board.node)),
    values(spec) {
      if (spec !== undefined && isQuantity('gpu', spec)) {
        const isMig = spec.terms[0]!.facts[0] === 'mig'
        return Float64Array.from(alive, (board, i) => Number(isMig ? parts[i]!.length > 0 : isAllocated(board)))
      }
      if (spec === undefined) return new Float64Array(alive.length).fill(1)
      const column = values.evaluate('device', spec)
      const result = new Float64Array(alive.length)
      for (let i = 0; i < result.length; i++) {
        const whole = wholes[i]!
        result[i] = whole < 0 ? NaN : column[whole]!
        if (result[i] !== result[i] && parts[i]!.length > 0) result[i] = ofParts(parts[i]!, column, spec.isAmount)
      }
      return result
    },
  }
}

type Part = { readonly number: number; readonly weight: number }

function numberOfWhole(devices: readonly DeviceRecord[], things: Things): number {
  const whole = devices.find(({ assignment }) => assignment.device.part === undefined)
  return whole === undefined ? -1 : things.find(whole.key)
}

function partsOf(devices: readonly DeviceRecord[], things: Things): readonly Part[] {
  return devices
    .filter(({ key, assignment }) => assignment.device.part !== undefined && things.find(key) >= 0)
    .map(({ key, assignment }) => ({ number: things.find(key), weight: assignment.weight }))
}

/** Amounts add up. Of what is relative, slices in no instance have nothing. */
function ofParts(parts: readonly Part[], column: Float64Array, isAmount: boolean): number {
  let sum = NaN
  let weights = 0
  for (const { number, weight } of parts) {
    weights += weight
    const value = column[number]!
    if (value === value) sum = (sum === sum ? sum : 0) + (isAmount ? value : value * weight)
  }
  // Sevenths do not add up to exactly 1: what all parts of a board have is what the board has.
  return isAmount || weights < 1 - 1e-9 ? sum : sum / weights
}

export type SharedMemory = 'measured' | 'split'

export function pairContributors(
  pairs: readonly PairRecord[],
  values: Values,
  at: EntityAt,
  ownReading: (pair: PairRecord) => number,
  sharedMemory: SharedMemory,
): Contributors {
  const numbers = Int32Array.from(pairs, ({ device }) => values.devices.find(device.key))
  const own = Int32Array.from(pairs, pair => (pair.device.assignment.isShared ? ownReading(pair) : -1))
  const isShared = Uint8Array.from(pairs, ({ device }) => Number(device.assignment.isShared))
  const weights = Float64Array.from(pairs, ({ device }) => device.assignment.weight)
  const shares = Float64Array.from(pairs, ({ device, share }) => device.assignment.weight * share)
  const split = Float64Array.from(pairs, ({ share }) => share)
  return {
    entities: level => pairs.map(pair => at(level, pair, pair.get('node') ?? '')),
    weights: weight => (weight === 'share' ? shares : weights),
    values(spec) {
      if (spec === undefined) return new Float64Array(pairs.length).fill(1)
      const column = values.evaluate('device', spec)
      const ownColumn = values.evaluate('own', spec)
      const result = new Float64Array(pairs.length)
      for (let i = 0; i < result.length; i++) {
        const number = numbers[i]!
        let value = own[i]! >= 0 ? ownColumn[own[i]!]! : NaN
        if (value !== value && number >= 0 && (isShared[i] === 0 || !spec.isAmount)) value = column[number]!
        result[i] = value
      }
      if (sharedMemory === 'split' && spec.isAmount) divide(result, column)
      return result
    },
  }

  /** Gives those who share a device and have no reading what is left of it. */
  function divide(result: Float64Array, column: Float64Array): void {
    const measured = new Map<number, { used: number; share: number }>()
    numbers.forEach((number, i) => {
      if (isShared[i] === 0 || result[i] !== result[i]) return
      const known = measured.get(number) ?? { used: 0, share: 0 }
      measured.set(number, { used: known.used + result[i]!, share: known.share + split[i]! })
    })
    numbers.forEach((number, i) => {
      if (number < 0 || isShared[i] === 0 || result[i] === result[i]) return
      result[i] = divided(column[number]!, measured.get(number) ?? NOTHING_MEASURED, split[i]!)
    })
  }
}

const NOTHING_MEASURED: Measured = { used: 0, share: 0 }

/** By what is known of them, and whether they meet the conditions. */
export function podContributors(pods: readonly PodRecord[], at: EntityAt): Contributors {
  const known = new Map<string, Float64Array>()
  return {
    entities: level => pods.map(pod => at(level, pod, pod.pod.node)),
    values(spec, where, nowMs) {
      const quantity = spec?.terms[0]!.facts[0]
      // Of all that is known of pods only this changes while they stay as they are.
      if (quantity === 'age') return Float64Array.from(pods, pod => (meets(pod, where) ? ageOf(pod, nowMs) : NaN))
      const key = `${quantity} ${where.join()}`
      let column = known.get(key)
      if (column === undefined) {
        column = Float64Array.from(pods, pod => (meets(pod, where) ? amountOf(pod, quantity) : NaN))
        known.set(key, column)
      }
      return column
    },
  }
}

function meets({ conditions }: PodRecord, where: readonly Condition[]): boolean {
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

export function containerContributors(
  containers: readonly { readonly number: number; readonly pod: PodRecord }[],
  values: Values,
  at: EntityAt,
): Contributors {
  return {
    entities: level => containers.map(({ pod }) => at(level, pod, pod.pod.node)),
    values(spec, where) {
      const column = spec && values.evaluate('container', spec)
      return Float64Array.from(containers, ({ number, pod }) =>
        meets(pod, where) ? (column === undefined ? 1 : column[number]!) : NaN,
      )
    },
  }
}

export function nodeContributors(nodes: readonly NodeRecord[], at: EntityAt): Contributors {
  return {
    entities: level => nodes.map(node => at(level, node, node.name)),
    values(spec) {
      const quantity = spec?.terms[0]!.facts[0]
      if (quantity === undefined) return new Float64Array(nodes.length).fill(1)
      return Float64Array.from(nodes, node => (quantity === 'gpus' ? node.gpus : lookedUp(node, quantity)))
    },
  }
}

export function hostContributors(
  hosts: readonly { readonly number: number; readonly node: NodeRecord }[],
  values: Values,
  at: EntityAt,
): Contributors {
  return {
    entities: level => hosts.map(({ node }) => at(level, node, node.name)),
    values(spec) {
      const column = spec && values.evaluate('host', spec)
      return Float64Array.from(hosts, ({ number }) => (column === undefined ? 1 : column[number]!))
    },
  }
}

export function quotaContributors(records: readonly QuotaRecord[], at: EntityAt): Contributors {
  return {
    // What pods say of a project does not include its quotas.
    entities: level => records.map(record => (level === 'cluster' ? at(level, record, '') : record)),
    values(spec) {
      const quantity = spec?.terms[0]!.facts[0] as keyof QuotaRecord['quantities'] | undefined
      return Float64Array.from(records, ({ quantities }) => (quantity === undefined ? 1 : quantities[quantity]))
    },
  }
}

export function restContributors(
  rests: readonly RestRecord[],
  values: Values,
  at: EntityAt,
  memory: () => (rest: RestRecord) => number,
): Contributors {
  const alive = rests.filter(({ device }) => values.devices.find(device.key) >= 0)
  return {
    entities: level => alive.map(rest => at(level, rest, rest.get('node') ?? '')),
    values(spec) {
      const isMemory = spec?.terms[0]!.facts[0] === 'gpu_memory'
      const amountOf = isMemory ? memory() : ({ gpus }: RestRecord) => (gpus > 0 ? gpus : NaN)
      return Float64Array.from(alive, amountOf)
    },
  }
}

export function seriesContributors(values: Values, entityOf: (number: number) => Entity): Contributors {
  const numbers = [...values.series.numbers()]
  return {
    entities: () => numbers.map(entityOf),
    values(spec) {
      const column = spec && values.evaluate('series', spec)
      return Float64Array.from(numbers, number => (column === undefined ? 1 : column[number]!))
    },
  }
}

/** Kinds whose contributors come and go with readings, and not with the model alone. */
export const READ_KINDS: ReadonlySet<ContributorKind> = new Set(['gpu', 'pair', 'container', 'host', 'rest', 'series'])
