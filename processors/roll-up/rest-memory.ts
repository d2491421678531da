/** What is used on devices and shown for no pair. */
import type { DeviceRecord, RestRecord } from './board-records.ts'
import { divided, type Measured } from './divided-memory.ts'
import type { Model } from './model.ts'
import type { PairReadings } from './pair-readings.ts'
import type { SharedMemory } from './read-contributors.ts'
import type { Rule, ValueSpec } from './rules.ts'
import type { Values } from './values.ts'

/** Fills in what is used of each rest, whose devices have these numbers, and which are these parts of them. */
export type RestMemory = (result: Float64Array, numbers: Int32Array, parts: Float64Array) => void

/** Instead of a part: what is used has to be worked out from what instances use, or from what pods are known to use. */
const BESIDE = -1
const SHARED = -2

/** How much of what its device uses is used by a rest, which stays so while the rest stays as it is; NaN if that is not asked. */
export function partOf(record: RestRecord | undefined): number {
  if (record === undefined) return NaN
  const { device, beside, gpus } = record
  const { isShared, holdings, rest } = device.assignment
  if (beside !== undefined) return BESIDE
  if (isShared) return SHARED
  if (gpus === 0) return NaN
  return holdings.length === 0 ? 1 : rest.share
}

export function createRestMemory(
  rules: readonly Rule[],
  { devices: { rests } }: Model,
  values: Values,
  readings: PairReadings,
  sharedMemory: SharedMemory,
): RestMemory {
  const spec = usedMemory(rules)
  if (spec === undefined) return result => void result.fill(NaN)

  /** There are few rests: what all other devices use is asked by nobody. */
  function usedOn(number: number): number {
    return values.evaluateOne('device', spec!, number)
  }

  function restOf(record: RestRecord, total: number, own: Float64Array): number {
    const { device, board, beside, gpus } = record
    const { rest } = device.assignment
    if (beside !== undefined) return beside.includes(device) ? NaN : besideMemory(total, beside)
    const measured = values.own.length === 0 ? NOTHING : measuredOn(board.pairs, device, own)
    if (sharedMemory === 'measured') return Math.max(0, total - measured.used)
    const left = divided(total, measured, rest.share)
    return gpus === 0 && left === 0 ? NaN : left
  }

  /** What a board uses, where the exporter shows it, and none of its instances. */
  function besideMemory(total: number, instances: readonly DeviceRecord[]): number {
    const numbers = instances.map(({ key }) => values.devices.find(key)).filter(number => number >= 0)
    const ofInstances = numbers.map(usedOn).filter(value => !Number.isNaN(value))
    const left = ofInstances.reduce((rest, value) => rest - value, total)
    return left > 0 ? left : NaN
  }

  /** What pods on a shared device are known to use of it. */
  function measuredOn(pairs: RestRecord['board']['pairs'], device: DeviceRecord, own: Float64Array): Measured {
    let [used, share] = [0, 0]
    for (const pair of pairs) {
      const reading = pair.device === device ? readings.ownOf(pair) : -1
      const value = reading < 0 ? NaN : own[reading]!
      if (Number.isNaN(value)) continue
      used += value
      share += pair.share
    }
    return { used, share }
  }

  return (result, numbers, parts) => {
    const own = values.evaluate('own', spec)
    const isUnknown = sharedMemory === 'measured' && values.own.length === 0
    const { length } = rests.list
    for (let place = 0; place < length; place++) {
      const number = numbers[place]!
      const part = parts[place]!
      if (number < 0) result[place] = NaN
      else if (part === SHARED && isUnknown) result[place] = Math.max(0, usedOn(number))
      else if (part < 0) result[place] = restOf(rests.list[place]!, usedOn(number), own)
      else result[place] = usedOn(number) * part
    }
  }
}

const NOTHING: Measured = { used: 0, share: 0 }

/** GPU memory in use as some rule reads it, in bytes. */
function usedMemory(rules: readonly Rule[]): ValueSpec | undefined {
  if (!rules.some(({ of: kind, value }) => kind === 'rest' && value?.terms[0]!.facts[0] === 'gpu_memory'))
    return undefined
  const known = rules.find(
    ({ of: kind, value }) => kind === 'pair' && value?.isAmount === true && value.terms.length === 1,
  )?.value
  return known && { ...known, unit: 'By', key: `${known.key} in bytes` }
}
