/** Contributors whose values are read: GPUs, pairs, containers, hosts, what is left of GPUs, and series as they are. */
import { getLabel, type Labels } from '../../pipeline/model/labels.ts'
import { KnownColumns, Marks } from './columns.ts'
import { meets, type Contributors } from './contributors.ts'
import type { BoardNumbers, Part } from './board-numbers.ts'
import { heldDevices, type BoardRecord } from './board-records.ts'
import { divided, type Measured } from './divided-memory.ts'
import { entityFrom, type Entity } from './entity.ts'
import type { Model } from './model.ts'
import type { NodeRecord } from './node-records.ts'
import type { PairReadings } from './pair-readings.ts'
import { PodsOfThings } from './pods-of-things.ts'
import { partOf, type RestMemory } from './rest-memory.ts'
import { roomFor } from './room.ts'
import type { Changed } from './slots.ts'
import { isQuantity, type Values } from './values.ts'

export function gpuContributors(
  { devices: { boards }, at }: Model,
  values: Values,
  numbers: BoardNumbers,
): Contributors {
  const known = new KnownColumns()
  const read = values.flushColumns()
  const { parts } = numbers

  /** Whether anything is read of it. */
  function isAlive(place: number): boolean {
    return numbers.wholes[place]! >= 0 || parts.has(place)
  }

  return {
    get length() {
      return boards.list.length
    },
    refresh() {
      known.update(numbers.changed, boards.list.length)
      return numbers.changed
    },
    entity(level, place) {
      const board = boards.list[place]
      return board !== undefined && isAlive(place) ? at(level, board, board.node) : undefined
    },
    unplaced(spec) {
      if (isQuantity('gpu', spec) || parts.size > 0) return undefined
      return { values: values.evaluate('device', spec), numbers: numbers.wholes }
    },
    values(spec) {
      if (spec === undefined) return known.get('1', place => (isAlive(place) ? 1 : NaN))
      if (isQuantity('gpu', spec)) {
        const quantity = spec.terms[0]!.facts[0]
        if (quantity === 'mig') return known.get(quantity, place => Number(parts.has(place)))
        if (quantity === 'fractional') return known.get(quantity, place => Number(isFractional(boards.list[place])))
        return known.get('allocated', place => Number(isAllocated(boards.list[place])))
      }
      const { length } = boards.list
      return read.get(spec.key, values.turn, length, result => {
        const column = values.evaluate('device', spec)
        const { wholes } = numbers
        for (let i = 0; i < length; i++) result[i] = wholes[i]! < 0 ? NaN : column[wholes[i]!]!
        for (const [i, its] of parts) {
          if (Number.isNaN(result[i])) result[i] = ofParts(its, column, spec.isAmount)
        }
      })
    },
  }
}

function isAllocated(board: BoardRecord | undefined): boolean {
  return board !== undefined && heldDevices(board).some(({ assignment }) => assignment.holdings.length > 0)
}

/** Whether somebody has it who asked for a part of one. */
function isFractional(board: BoardRecord | undefined): boolean {
  return board?.pairs.some(({ holder }) => holder.get('gpu_share') === 'part') ?? false
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

/** `readings` are up to date before these are refreshed. */
export function pairContributors(
  { devices: { pairs }, at }: Model,
  values: Values,
  readings: PairReadings,
  sharedMemory: SharedMemory,
): Contributors {
  const known = new KnownColumns()
  const read = values.flushColumns()
  const share = (place: number): number => pairs.list[place]?.share ?? NaN
  const weight = (place: number): number => pairs.list[place]?.device.assignment.weight ?? NaN
  const uneven = {
    weight: new Marks(place => isUneven(weight(place))),
    share: new Marks(place => isUneven(weight(place) * share(place))),
  }
  /** By value. */
  const estimated = new Map<string, Uint8Array<ArrayBuffer>>()

  /** Gives those who share a device and have no reading what is left of it. */
  function divide(result: Float64Array, column: Float64Array, key: string): void {
    const { numbers, isShared } = readings
    const shares = known.get('split', share)
    const measured = new Map<number, { used: number; share: number }>()
    const isDivided = roomFor(estimated.get(key) ?? new Uint8Array(0), pairs.list.length).fill(0)
    estimated.set(key, isDivided)
    for (let i = 0; i < pairs.list.length; i++) {
      if (isShared[i] === 0 || result[i] !== result[i]) continue
      const its = measured.get(numbers[i]!) ?? { used: 0, share: 0 }
      measured.set(numbers[i]!, { used: its.used + result[i]!, share: its.share + shares[i]! })
    }
    for (let i = 0; i < pairs.list.length; i++) {
      const number = numbers[i]!
      if (number < 0 || isShared[i] === 0 || result[i] === result[i]) continue
      result[i] = divided(column[number]!, measured.get(number) ?? NOTHING_MEASURED, shares[i]!)
      isDivided[i] = 1
    }
  }

  return {
    get length() {
      return pairs.list.length
    },
    refresh() {
      known.update(readings.changed, pairs.list.length)
      for (const marks of Object.values(uneven)) marks.update(readings.changed, pairs.list.length)
      return readings.changed
    },
    entity(level, place) {
      const pair = pairs.list[place]
      return pair && at(level, pair, pair.get('node') ?? '')
    },
    weights(kind) {
      // Where no GPU is cut or shared all weigh 1: nothing needs to be weighed.
      if (uneven[kind === 'share' ? 'share' : 'weight'].count === 0) return undefined
      return kind === 'share' ? known.get('share', place => weight(place) * share(place)) : known.get('weight', weight)
    },
    estimates: ({ key }) => estimated.get(key),
    unplaced(spec) {
      const { isAmount } = spec
      if (readings.hasOwn || (sharedMemory === 'split' && isAmount)) return undefined
      return { values: values.evaluate('device', spec), numbers: isAmount ? readings.unshared : readings.numbers }
    },
    values(spec) {
      const { length } = pairs.list
      if (spec === undefined) return known.get('1', place => (pairs.list[place] === undefined ? NaN : 1))
      return read.get(spec.key, values.turn, length, result => {
        const column = values.evaluate('device', spec)
        const { isAmount } = spec
        gather(result, length, column, readings, isAmount)
        if (values.own.length > 0) preferOwn(result, length, values.evaluate('own', spec), readings)
        if (sharedMemory === 'split' && isAmount) divide(result, column, spec.key)
      })
    },
  }
}

/** NaN is nobody. */
function isUneven(weight: number): boolean {
  return weight !== 1 && weight === weight
}

/** The readings of devices; of a shared one no amounts, which are those of all who share it. */
function gather(
  result: Float64Array,
  length: number,
  column: Float64Array,
  { numbers, isShared }: PairReadings,
  isAmount: boolean,
): void {
  for (let i = 0; i < length; i++) result[i] = numbers[i]! < 0 ? NaN : column[numbers[i]!]!
  if (isAmount) for (let i = 0; i < length; i++) if (isShared[i] === 1) result[i] = NaN
}

/** Who has a reading of its own has that. */
function preferOwn(result: Float64Array, length: number, column: Float64Array, readings: PairReadings): void {
  for (let i = 0; i < length; i++) {
    const own = readings.ownAt(i)
    const value = own < 0 ? NaN : column[own]!
    if (value === value) result[i] = value
  }
}

const NOTHING_MEASURED: Measured = { used: 0, share: 0 }

export function containerContributors(model: Model, values: Values): Contributors {
  const owners = new PodsOfThings(values.containers, labels => model.podOf(labels))
  const known = new KnownColumns()
  const read = values.flushColumns()
  return {
    get length() {
      return values.containers.length
    },
    refresh() {
      const changed = owners.refresh(model.podChanges)
      known.update(changed, values.containers.length)
      return changed
    },
    entity(level, place) {
      const pod = owners.pods[place]
      return pod && model.at(level, pod, pod.pod.node)
    },
    values(spec, where) {
      const meeting = known.get(where.join(), place => {
        const pod = owners.pods[place]
        return pod !== undefined && meets(pod, where) ? 1 : NaN
      })
      if (spec === undefined) return meeting
      const { length } = values.containers
      return read.get(`${spec.key} ${where.join()}`, values.turn, length, result => {
        const column = values.evaluate('container', spec)
        for (let i = 0; i < length; i++) result[i] = column[i]! * meeting[i]!
      })
    },
  }
}

/** A host that two targets show under different addresses is there once. */
export function hostContributors(model: Model, values: Values): Contributors {
  const { hosts } = values
  let nodes: (NodeRecord | undefined)[] = []
  let byHost = new Map<string, NodeRecord | undefined>()
  let version = -1

  function nodeOf(host: string): NodeRecord | undefined {
    const source = values.sourceOfHost.get(host)
    return source && model.nodeOf(source)
  }

  function isSame(): boolean {
    if (version !== hosts.version) return false
    for (const [host, node] of byHost) if (nodeOf(host) !== node) return false
    return true
  }

  return {
    get length() {
      return hosts.length
    },
    refresh() {
      if (isSame()) return []
      version = hosts.version
      byHost = new Map()
      nodes = []
      const taken = new Set<string>()
      for (const number of hosts.numbers()) {
        const [host, ...per] = hosts.keyOf(number).split('\n') as [string]
        if (!byHost.has(host)) byHost.set(host, nodeOf(host))
        const node = byHost.get(host)
        const key = node && [node.name, ...per].join('\n')
        if (key === undefined || taken.has(key)) continue
        taken.add(key)
        nodes[number] = node
      }
      return 'all'
    },
    entity(level, place) {
      const node = nodes[place]
      return node && model.at(level, node, node.name)
    },
    values: spec => (spec === undefined ? new Float64Array(hosts.length).fill(1) : values.evaluate('host', spec)),
  }
}

/** `memory` is what of a rest is used, in bytes. */
export function restContributors({ devices: { rests }, at }: Model, values: Values, memory: RestMemory): Contributors {
  const known = new KnownColumns()
  const read = values.flushColumns()
  let numbers = new Int32Array(0)
  let version = -1
  return {
    get length() {
      return rests.list.length
    },
    refresh() {
      const { length } = rests.list
      const changed: Changed = version === values.devices.version ? rests.changed : 'all'
      version = values.devices.version
      numbers = roomFor(numbers, length)
      for (const place of changed === 'all' ? rests.list.keys() : changed) {
        const rest = rests.list[place]
        numbers[place] = rest === undefined ? -1 : values.devices.find(rest.device.key)
      }
      known.update(changed, length)
      return changed
    },
    entity(level, place) {
      const rest = rests.list[place]
      return rest !== undefined && numbers[place]! >= 0 ? at(level, rest, rest.get('node') ?? '') : undefined
    },
    values(spec) {
      const isMemory = spec?.terms[0]!.facts[0] === 'gpu_memory'
      if (isMemory) {
        const parts = known.get('parts', place => partOf(rests.list[place]))
        return read.get('memory', values.turn, rests.list.length, result => memory(result, numbers, parts))
      }
      return known.get('gpus', place => {
        const gpus = rests.list[place]?.gpus ?? 0
        return gpus > 0 ? gpus : NaN
      })
    },
  }
}

export function seriesContributors(values: Values): Contributors {
  const { series } = values
  const entities: ({ readonly labels: Labels; readonly entity: Entity } | undefined)[] = []
  const known = new KnownColumns()
  let version = -1
  return {
    get length() {
      return series.length
    },
    refresh() {
      if (version === series.version) return []
      version = series.version
      const changed: number[] = []
      for (let number = 0; number < series.length; number++) {
        const labels = series.keyOf(number) === '' ? undefined : series.labelsOf(number)
        if (entities[number]?.labels === labels) continue
        entities[number] = labels && { labels, entity: seriesEntity(labels) }
        changed.push(number)
      }
      known.update(changed, series.length)
      return changed
    },
    entity: (_, place) => entities[place]?.entity,
    values: spec =>
      spec === undefined
        ? known.get('1', place => (entities[place] === undefined ? NaN : 1))
        : values.evaluate('series', spec),
  }
}

/** The labels of a series are its attributes. */
function seriesEntity(labels: Labels): Entity {
  return entityFrom(attribute => getLabel(labels, attribute.replace(/^label\./, '')))
}
