/**
 * When GPUs, pods and workloads were last busy. It is kept beyond the readings it comes from, and over restarts: a GPU that is idle has
 * a last time all the same.
 */
import type { PairRecord } from './board-records.ts'
import type { Model } from './model.ts'
import type { PairReadings } from './pair-readings.ts'
import { PairStates } from './pair-states.ts'
import type { PodRecord } from './pod-records.ts'
import type { Reading } from './reading.ts'
import type { ValueSpec } from './rules.ts'
import type { Changed } from './slots.ts'
import { Time, type Times } from './times.ts'
import type { Values } from './values.ts'

export type Activity = {
  /** In milliseconds since 1970, by device number; NaN if not since the device came. */
  ofNumber(number: number): number
  /** By place of the pair; NaN if never. */
  ofPair(place: number): number
  readonly pods: Times
  readonly jobs: Times
  readonly workloads: Times
  /** Takes from readings what pairs did: before readings change hands, and at every flush. */
  note(): void
  /** The same for pairs of some devices, and for those that have some readings of their own, of what they did before a time. */
  noteDevices(numbers: Iterable<number>, beforeMs?: number): void
  noteOwn(numbers: Iterable<number>, beforeMs?: number): void
  /** Follows the model. */
  refresh(changedPairs: Changed): void
  /** What was kept has been read from disk. It is not forgotten as long as nobody may know yet that it is gone. */
  restored(): void
  /** From now on, who has not been seen since the start is gone. */
  settle(): void
  /** The clock has been set back: nothing was busy later than now. */
  notAfter(nowMs: number): void
  /** What is to be kept on disk, and what was. */
  readonly kept: Readonly<Record<'devices' | 'pods' | 'workloads', Map<string, Time>>>
  /** Brings `kept.devices` up to date. A GPU that has been gone for long is not kept. */
  collect(nowMs: number): void
}

/** A board that is away for repair comes back within this time, or never. */
const FORGET_DEVICE_MS = 30 * 24 * 3_600_000

/** `spec` is what is looked at; without it nothing is ever busy. */
export function createActivity(
  values: Values,
  spec: ValueSpec | undefined,
  model: Model,
  pairReadings: PairReadings,
  now: () => number,
): Activity {
  const readings = spec === undefined ? [] : values.activity('device', spec)
  const ownReadings = spec === undefined ? [] : values.activity('own', spec)
  const { pairs } = model.devices
  const kept = {
    devices: new Map<string, Time>(),
    pods: new Map<string, Time>(),
    workloads: new Map<string, Time>(),
  }
  const pods = new TimesOf(kept.pods)
  const jobs = new TimesOf(kept.pods)
  const workloads = new TimesOf(kept.workloads)
  const awaited = { pods: new Set<string>(), workloads: new Set<string>() }
  const states = new PairStates()
  const deviceTimes: (Time | undefined)[] = []
  let pairsOfDevice: PairsByNumber | undefined

  values.devices.onRelease = number => {
    keepDevice(number)
    deviceTimes[number] = undefined
  }

  function keepDevice(number: number): void {
    const activeMs = activeAt(readings, number)
    if (Number.isNaN(activeMs)) return
    let time = (deviceTimes[number] ??= kept.devices.get(values.devices.keyOf(number)))
    if (time === undefined) {
      deviceTimes[number] = time = new Time(activeMs)
      kept.devices.set(values.devices.keyOf(number), time)
    } else if (activeMs > time.ms) time.ms = activeMs
  }

  function follow(place: number): void {
    const pair = pairs.list[place]
    states.grow(place + 1)
    if (pair === undefined) return
    const { holder } = pair
    const isJob = 'host' in holder
    states.isJob[place] = Number(isJob)
    states.holder[place] = isJob ? model.devices.jobs.placeOf(holder.key) : model.pods.placeOf(holder.key)
    states.workload[place] = model.workloads.all.placeOf(holder.get('workload_id') ?? '')
  }

  function note(place: number, beforeMs: number): void {
    if (pairs.list[place] === undefined) return
    const number = pairReadings.numbers[place]!
    // What it has done since is that of others, until it is known whose it is.
    if (number >= 0 && values.devices.isMoved(number)) return
    const own = pairReadings.ownAt(place)
    const ownMs = own < 0 ? NaN : lastRead(ownReadings, own)
    const hasOwn = ownMs === ownMs
    const { sinceMs } = states
    if (states.hadOwn[place] === 1 && !hasOwn) {
      // From now on it is as busy as the device: as for a pair that begins.
      if (beforeMs !== Infinity) return
      sinceMs[place] = NaN
    }
    states.hadOwn[place] = Number(hasOwn)
    if (Number.isNaN(sinceMs[place]) && number >= 0) {
      sinceMs[place] = beginning(pairs.list[place]!, number, hasOwn ? ownMs : lastRead(readings, number))
    }
    const activeMs = hasOwn ? activeAt(ownReadings, own) : number < 0 ? NaN : activeAt(readings, number)
    if (!(activeMs >= sinceMs[place]! && activeMs < beforeMs)) return
    states.activeMs[place] = activeMs
    const holders = states.isJob[place] === 1 ? jobs : pods
    holders.later(states.holder[place]!, activeMs)
    workloads.later(states.workload[place]!, activeMs)
  }

  /**
   * What a device did for its last pod was not done by the next one. NaN while nothing has been read of it. What a target showed last
   * that cannot be reached may be from before the pod, which may have the name of the one before.
   */
  function beginning({ device, holder }: PairRecord, number: number, readMs: number): number {
    const isNamed = device.seen.holders.length > 0 && !device.assignment.isShared
    const shownMs = isNamed ? values.devices.shownMs(number) : readMs
    const bound = boundMs('host' in holder ? holder.host : holder)
    // A time that is yet to come is by another clock, and tells nothing.
    return bound <= now() ? Math.max(shownMs, bound) : shownMs
  }

  return {
    kept,
    pods,
    jobs,
    workloads,
    ofNumber: number => activeAt(readings, number),
    ofPair: place => (pairs.list[place] === undefined ? NaN : states.activeMs[place]!),
    note() {
      if (readings.length > 0) for (let place = 0; place < pairs.list.length; place++) note(place, Infinity)
    },
    noteDevices(numbers, beforeMs = Infinity) {
      if (readings.length === 0) return
      pairsOfDevice ??= new PairsByNumber(pairReadings, values.devices.length)
      for (const number of numbers) pairsOfDevice.each(number, place => note(place, beforeMs))
    },
    noteOwn(numbers, beforeMs = Infinity) {
      const its = new Set(numbers)
      for (let place = 0; place < pairs.list.length; place++) {
        if (its.has(pairReadings.ownAt(place))) note(place, beforeMs)
      }
    },
    refresh(changedPairs) {
      pairsOfDevice = undefined
      pods.follow(model.pods.changed, place => model.pods.list[place]?.key)
      jobs.follow(model.devices.jobs.changed, place => model.devices.jobs.list[place]?.key)
      workloads.follow(
        model.workloads.all.changed,
        place => model.workloads.all.list[place]?.key,
        key => {
          if (model.workloads.all.has(key)) return
          kept.workloads.delete(key)
          // A job of a batch system is its own workload.
          kept.pods.delete(`job ${key}`)
        },
      )
      for (const { before, now } of model.podChanges) if (now === undefined) kept.pods.delete(before!.key)
      for (const place of pairs.begun) states.begin(place)
      for (const place of changedPairs === 'all' ? pairs.list.keys() : changedPairs) follow(place)
    },
    restored() {
      for (const [name, times] of Object.entries(kept)) {
        for (const [key, time] of times as Map<string, unknown>) {
          if (typeof time === 'number') times.set(key, new Time(time))
          else if (!(time instanceof Time)) kept[name as keyof typeof kept].delete(key)
        }
      }
      awaited.pods = new Set(kept.pods.keys())
      awaited.workloads = new Set(kept.workloads.keys())
    },
    settle() {
      for (const key of awaited.pods) {
        const isJob = key.startsWith('job ') && model.workloads.all.has(key.slice('job '.length))
        if (!isJob && !model.pods.has(key)) kept.pods.delete(key)
      }
      for (const key of awaited.workloads) if (!model.workloads.all.has(key)) kept.workloads.delete(key)
      awaited.pods.clear()
      awaited.workloads.clear()
    },
    notAfter(nowMs) {
      for (const times of Object.values(kept)) for (const time of times.values()) time.ms = Math.min(time.ms, nowMs)
      for (const times of [states.sinceMs, states.activeMs]) {
        for (let place = 0; place < times.length; place++) times[place] = Math.min(times[place]!, nowMs)
      }
    },
    collect(nowMs) {
      if (readings.length > 0) for (const number of values.devices.numbers()) keepDevice(number)
      for (const [key, { ms }] of kept.devices) {
        if (nowMs - ms > FORGET_DEVICE_MS && values.devices.find(key) < 0) kept.devices.delete(key)
      }
    },
  }
}

/** Times by place, which are also kept by key. */
class TimesOf implements Times {
  readonly #kept: Map<string, Time>
  readonly #times: (Time | undefined)[] = []
  readonly #keys: (string | undefined)[] = []

  constructor(kept: Map<string, Time>) {
    this.#kept = kept
  }

  at(place: number): number {
    return this.#times[place]?.ms ?? NaN
  }

  later(place: number, timeMs: number): void {
    if (place < 0) return
    const time = this.#times[place]
    if (time === undefined) {
      this.#times[place] = new Time(timeMs)
      this.#kept.set(this.#keys[place]!, this.#times[place])
    } else if (timeMs > time.ms) time.ms = timeMs
  }

  follow(changed: Iterable<number>, keyAt: (place: number) => string | undefined, left?: (key: string) => void): void {
    for (const place of changed) {
      const [before, key] = [this.#keys[place], keyAt(place)]
      if (before !== undefined && before !== key) left?.(before)
      this.#keys[place] = key
      this.#times[place] = key === undefined ? undefined : this.#kept.get(key)
    }
  }
}

/** The pairs of each device, as chains through two arrays. */
class PairsByNumber {
  readonly #first: Int32Array
  readonly #next: Int32Array

  constructor({ numbers, length }: PairReadings, devices: number) {
    this.#first = new Int32Array(devices).fill(-1)
    this.#next = new Int32Array(length)
    for (let place = 0; place < length; place++) {
      const number = numbers[place]!
      if (number < 0) continue
      this.#next[place] = this.#first[number]!
      this.#first[number] = place
    }
  }

  each(number: number, run: (place: number) => void): void {
    // Devices that came since are in no pair yet.
    for (let place = this.#first[number] ?? -1; place >= 0; place = this.#next[place]!) run(place)
  }
}

/** Since when a pod may have done anything. */
function boundMs(holder: PodRecord | undefined): number {
  const { scheduledMs, startedMs, createdMs } = holder?.pod ?? {}
  return scheduledMs ?? startedMs ?? createdMs ?? -Infinity
}

/** By the first reading that the thing has: what others say of it, which may be more sensitive, is not asked. */
function activeAt(readings: readonly Reading[], number: number): number {
  for (const { values, active } of readings) if (values[number] === values[number]) return active![number]!
  for (const { active } of readings) if (active![number] === active![number]) return active![number]!
  return NaN
}

function lastRead(readings: readonly Reading[], number: number): number {
  for (const reading of readings) {
    const timeMs = reading.timeOf(number)
    if (timeMs === timeMs) return timeMs
  }
  return NaN
}
