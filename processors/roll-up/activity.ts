/**
 * When GPUs, pods and workloads were last busy. It is kept beyond the readings it comes from, and over restarts: a GPU that is idle has
 * a last time all the same.
 */
import type { PairRecord } from './device-records.ts'
import type { Reading } from './reading.ts'
import type { ValueSpec } from './rules.ts'
import type { Values } from './values.ts'

export type Activity = {
  /** In milliseconds since 1970; NaN if never. */
  ofDevice(key: string): number
  ofPair(key: string): number
  ofPod(key: string): number
  ofWorkload(id: string): number
  /** Takes from readings what pairs did. Before the pairs are replaced by others, and at every flush. */
  note(pairs: Iterable<PairRecord>, ownReading: (pair: PairRecord) => number): void
  /** What was kept has been read from disk. It is not forgotten as long as nobody may know yet that it is gone. */
  restored(): void
  /** From now on, who has not been seen since the start is gone. */
  settle(): void
  /** The clock has been set back: nothing was busy later than now. */
  notAfter(nowMs: number): void
  /** Forgets pods, pairs and workloads that are no more. */
  retain(
    pods: ReadonlyMap<string, unknown>,
    pairs: ReadonlyMap<string, unknown>,
    workloads: ReadonlyMap<string, unknown>,
  ): void
  /** What is to be kept on disk, and what was. */
  readonly kept: Readonly<Record<'devices' | 'pods' | 'workloads', Map<string, number>>>
  /** Brings `kept.devices` up to date. */
  collect(): void
}

type PairState = { sinceMs: number; activeMs: number }

/** `spec` is what is looked at; without it nothing is ever busy. */
export function createActivity(values: Values, spec: ValueSpec | undefined): Activity {
  const readings = spec === undefined ? [] : values.activity('device', spec)
  const ownReadings = spec === undefined ? [] : values.activity('own', spec)
  const kept = {
    devices: new Map<string, number>(),
    pods: new Map<string, number>(),
    workloads: new Map<string, number>(),
  }
  const pairStates = new Map<string, PairState>()
  const awaited = { pods: new Set<string>(), workloads: new Set<string>() }
  values.devices.onRelease = number => {
    if (readings.length > 0) later(kept.devices, values.devices.keyOf(number), activeAt(readings, number))
  }

  /** Undefined while nothing has been read of it. */
  function stateOf(pair: PairRecord, number: number, readMs: number): PairState | undefined {
    let state = pairStates.get(pair.key)
    if (state === undefined) {
      const sinceMs = beginning(pair, number, readMs)
      if (Number.isNaN(sinceMs)) return undefined
      pairStates.set(pair.key, (state = { sinceMs, activeMs: NaN }))
    }
    return state
  }

  /** What a device did for its last pod was not done by the next one. */
  function beginning({ device }: PairRecord, number: number, readMs: number): number {
    const { isShared, device: seen } = device.assignment
    const isNamed = seen.holders.length > 0 && !isShared
    if (number < 0) return NaN
    return isNamed ? values.devices.shownMs(number) : readMs
  }

  function forget(name: 'pods' | 'workloads', isThere: (key: string) => boolean): void {
    for (const key of kept[name].keys()) {
      if (isThere(key)) awaited[name].delete(key)
      else if (!awaited[name].has(key)) kept[name].delete(key)
    }
  }

  return {
    kept,
    ofDevice(key) {
      const number = values.devices.find(key)
      const now = number < 0 ? NaN : activeAt(readings, number)
      const before = kept.devices.get(key) ?? NaN
      return now >= before || Number.isNaN(before) ? now : before
    },
    ofPair: key => pairStates.get(key)?.activeMs ?? NaN,
    ofPod: key => kept.pods.get(key) ?? NaN,
    ofWorkload: id => kept.workloads.get(id) ?? NaN,
    restored() {
      awaited.pods = new Set(kept.pods.keys())
      awaited.workloads = new Set(kept.workloads.keys())
    },
    settle() {
      awaited.pods.clear()
      awaited.workloads.clear()
    },
    notAfter(nowMs) {
      for (const times of Object.values(kept)) {
        for (const [key, timeMs] of times) if (timeMs > nowMs) times.set(key, nowMs)
      }
      for (const state of pairStates.values()) {
        state.sinceMs = Math.min(state.sinceMs, nowMs)
        state.activeMs = Math.min(state.activeMs, nowMs)
      }
    },
    note(pairs, ownReading) {
      if (readings.length === 0) return
      for (const pair of pairs) {
        const number = values.devices.find(pair.device.key)
        const own = pair.device.assignment.isShared ? ownReading(pair) : -1
        const ownMs = own < 0 ? NaN : lastRead(ownReadings, own)
        const hasOwn = !Number.isNaN(ownMs)
        const state = stateOf(pair, number, hasOwn || number < 0 ? ownMs : lastRead(readings, number))
        const activeMs = hasOwn ? activeAt(ownReadings, own) : number < 0 ? NaN : activeAt(readings, number)
        if (state === undefined || !(activeMs >= state.sinceMs)) continue
        state.activeMs = activeMs
        later(kept.pods, pair.holder.key, activeMs)
        later(kept.workloads, pair.holder.get('workload_id') ?? '', activeMs)
      }
    },
    retain(pods, pairs, workloads) {
      for (const key of pairStates.keys()) if (!pairs.has(key)) pairStates.delete(key)
      // A job of a batch system is its own workload.
      forget('pods', key => pods.has(key) || (key.startsWith('job ') && workloads.has(key.slice('job '.length))))
      forget('workloads', id => workloads.has(id))
    },
    collect() {
      if (readings.length === 0) return
      for (const number of values.devices.numbers()) {
        later(kept.devices, values.devices.keyOf(number), activeAt(readings, number))
      }
    },
  }
}

/** By the first reading that the thing has: what others say of it, which may be more sensitive, is not asked. */
function activeAt(readings: readonly Reading[], number: number): number {
  const read = readings.find(({ values }) => !Number.isNaN(values[number]))
  if (read !== undefined) return read.active![number]!
  return readings.map(({ active }) => active![number]!).find(time => !Number.isNaN(time)) ?? NaN
}

function lastRead(readings: readonly Reading[], number: number): number {
  return readings.map(({ times }) => times[number]!).find(time => !Number.isNaN(time)) ?? NaN
}

function later(times: Map<string, number>, key: string, timeMs: number): void {
  const known = times.get(key)
  if (timeMs > (known ?? -Infinity)) times.set(key, timeMs)
}
