/** What is used on devices and shown for no pair. */
import type { DeviceRecord, RestRecord } from './device-records.ts'
import { divided, type Measured } from './divided-memory.ts'
import type { Model } from './model.ts'
import type { PairReadings } from './pair-readings.ts'
import type { SharedMemory } from './read-contributors.ts'
import type { Rule, ValueSpec } from './rules.ts'
import type { Values } from './values.ts'

/** Fills in what is used of each rest, whose devices have these numbers. */
export type RestMemory = (result: Float64Array, numbers: Int32Array) => void

export function createRestMemory(
  rules: readonly Rule[],
  { devices: { rests } }: Model,
  values: Values,
  readings: PairReadings,
  sharedMemory: SharedMemory,
): RestMemory {
  const spec = usedMemory(rules)
  if (spec === undefined) return result => void result.fill(NaN)

  function restOf(record: RestRecord, total: number, used: Float64Array, own: Float64Array): number {
    const { device, board, beside, gpus } = record
    const { isShared, holdings, rest } = device.assignment
    if (beside !== undefined) return beside.includes(device) ? NaN : besideMemory(total, beside, used)
    if (gpus === 0 && !isShared) return NaN
    if (!isShared) return holdings.length === 0 ? total : total * rest.share
    const measured = values.own.length === 0 ? NOTHING : measuredOn(board.pairs, device, own)
    if (sharedMemory === 'measured') return Math.max(0, total - measured.used)
    const left = divided(total, measured, rest.share)
    return gpus === 0 && left === 0 ? NaN : left
  }

  /** What a board uses, where the exporter shows it, and none of its instances. */
  function besideMemory(total: number, instances: readonly DeviceRecord[], used: Float64Array): number {
    const numbers = instances.map(({ key }) => values.devices.find(key)).filter(number => number >= 0)
    const ofInstances = numbers.map(number => used[number]!).filter(value => !Number.isNaN(value))
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

  return (result, numbers) => {
    const used = values.evaluate('device', spec)
    const own = values.evaluate('own', spec)
    for (let place = 0; place < rests.list.length; place++) {
      const rest = rests.list[place]
      const number = numbers[place]!
      result[place] = rest === undefined || number < 0 ? NaN : restOf(rest, used[number]!, used, own)
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
