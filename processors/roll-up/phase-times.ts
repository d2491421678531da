/**
 * How long workloads have run and waited, from the times that pods tell. What pods did that are gone is kept, also over restarts.
 */
import type { Pod } from '../../pipeline/cluster/objects.ts'
import { isFinished } from '../../pipeline/cluster/pod-state.ts'
import { interval, lengthOf, union, type Intervals } from './intervals.ts'
import type { KeyedEntity } from './keyed-entities.ts'
import type { PodChange, PodRecord } from './pod-records.ts'
import { roomFor } from './room.ts'
import type { Roster } from './roster.ts'

export type Phase = 'Pending' | 'Running'
type Stretches = Readonly<Record<Phase, Intervals>>

/** What is kept of a workload: the time of pods that are gone, and that of those that were there last. */
type KeptTimes = { readonly gone: Stretches; readonly pods: Readonly<Record<string, Stretches>> }

export type PhaseTimes = {
  readonly kept: Map<string, WorkloadTimes>
  /** What was kept has been read from disk. */
  restored(): void
  /** Follows the workloads. Before anything of now is asked for. */
  refresh(workloads: Roster<KeyedEntity>, changes: readonly PodChange[], nowMs: number): void
  /** Up to a moment, in seconds by place of the workload; NaN if it has not been in the phase. */
  fill(result: Float64Array, phase: Phase, nowMs: number): void
}

const NONE: Stretches = { Pending: [], Running: [] }
const NO_PODS: Record<string, Stretches> = Object.freeze({})
const PHASES: readonly Phase[] = ['Pending', 'Running']
/** How long a workload without pods is remembered: one that was preempted comes back. */
const FORGET_MS = 3_600_000
/** A workload whose pods come and go for months has few gaps that matter: the oldest are closed. */
const MOST_STRETCHES = 256

/** What a workload did. On disk it is `KeptTimes`, up to the last flush. */
class WorkloadTimes {
  gone: Stretches
  /** By pod, what was known before it changed; after a restart also of those that are gone since. */
  known: Record<string, Stretches>
  workload: KeyedEntity | undefined
  readonly #lastMs: () => number

  constructor({ gone, pods }: KeptTimes, lastMs: () => number) {
    this.gone = gone
    this.known = pods === NO_PODS ? NO_PODS : { ...pods }
    this.#lastMs = lastMs
  }

  toJSON(): KeptTimes {
    const pods: Record<string, Stretches> = { ...this.known }
    for (const { key, pod } of this.workload?.members ?? []) {
      pods[key] = stretchesOf(pod, this.#lastMs(), this.known[key])
    }
    return { gone: this.gone, pods }
  }

  follow(workload: KeyedEntity): void {
    this.workload = workload
    const known = Object.keys(this.known)
    if (known.length === 0) return
    const keys = new Set(Array.from(workload.members, ({ key }) => key))
    for (const key of known) if (!keys.has(key)) this.#end(key, this.known[key]!)
  }

  /** A pod is another one from now on. */
  change({ key, pod }: PodRecord): void {
    const stretches = stretchesOf(pod, this.#lastMs(), this.known[key])
    if (this.known === NO_PODS) this.known = {}
    this.known[key] = stretches
  }

  /** A pod is gone. */
  leave({ key, pod }: PodRecord): void {
    this.#end(key, stretchesOf(pod, this.#lastMs(), this.known[key]))
  }

  #end(key: string, stretches: Stretches): void {
    this.gone = both(this.gone, stretches)
    delete this.known[key]
  }

  /** All time in a phase, as if what is still going on never ended. */
  stretches(phase: Phase): Intervals {
    let all = this.gone[phase]
    for (const { key, pod } of this.workload?.members ?? []) {
      all = union(all, stretchesOf(pod, Infinity, this.known[key])[phase])
    }
    return all
  }
}

export function createPhaseTimes(): PhaseTimes {
  const kept = new Map<string, WorkloadTimes>()
  const leftMs = new Map<string, number>()
  const keys: (string | undefined)[] = []
  /** By place: how long it was in a phase until it last began, and since when it is; NaN if it is not. */
  const sums = { Pending: new Float64Array(0), Running: new Float64Array(0) }
  const begins = { Pending: new Float64Array(0), Running: new Float64Array(0) }
  let lastMs = NaN
  const lastOf = (): number => lastMs
  let length = 0

  function timesOf(id: string): WorkloadTimes {
    let times = kept.get(id)
    if (times === undefined) kept.set(id, (times = new WorkloadTimes({ gone: NONE, pods: NO_PODS }, lastOf)))
    return times
  }

  function change({ before, now }: PodChange): void {
    const id = before?.get('workload_id') ?? ''
    if (id === '') return
    if (now?.get('workload_id') === id) timesOf(id).change(before!)
    else timesOf(id).leave(before!)
  }

  function follow(workloads: Roster<KeyedEntity>, place: number, nowMs: number): void {
    const workload = workloads.list[place]
    const before = keys[place]
    keys[place] = workload?.key
    if (before !== undefined && before !== workload?.key && !workloads.has(before)) {
      timesOf(before).workload = undefined
      leftMs.set(before, nowMs)
    }
    const times = workload && timesOf(workload.key)
    if (workload !== undefined) {
      times!.follow(workload)
      leftMs.delete(workload.key)
    }
    for (const phase of PHASES) {
      const all = times?.stretches(phase) ?? []
      const isOpen = all.at(-1) === Infinity
      begins[phase][place] = isOpen ? all.at(-2)! : NaN
      sums[phase][place] = lengthOf(isOpen ? all.slice(0, -2) : all)
    }
  }

  /** What has been gone for long. */
  function forget(nowMs: number): void {
    for (const [id, sinceMs] of leftMs) {
      if (nowMs - sinceMs < FORGET_MS) continue
      leftMs.delete(id)
      kept.delete(id)
    }
  }

  return {
    kept,
    restored() {
      for (const [id, times] of kept as Map<string, KeptTimes | WorkloadTimes>) {
        if (!(times instanceof WorkloadTimes)) kept.set(id, new WorkloadTimes(times, lastOf))
      }
    },
    refresh(workloads, changes, nowMs) {
      if (Number.isNaN(lastMs)) for (const id of kept.keys()) leftMs.set(id, nowMs)
      for (const one of changes) change(one)
      length = workloads.list.length
      for (const phase of PHASES) {
        sums[phase] = roomFor(sums[phase], length)
        begins[phase] = roomFor(begins[phase], length)
      }
      for (const place of workloads.changed) follow(workloads, place, nowMs)
      forget(nowMs)
      lastMs = nowMs
    },
    fill(result, phase, nowMs) {
      const [itsSums, itsBegins] = [sums[phase], begins[phase]]
      for (let place = 0; place < length; place++) {
        const begin = itsBegins[place]!
        const ms = itsSums[place]! + (nowMs > begin ? nowMs - begin : 0)
        result[place] = ms > 0 ? ms / 1000 : NaN
      }
    },
  }
}

/** `before` is what was known of it: containers that begin anew tell a later start, and a pod that was evicted tells no end. */
function stretchesOf(pod: Pod, nowMs: number, before: Stretches | undefined): Stretches {
  const { createdMs, scheduledMs, startedMs, runningMs, finishedMs, phase, node } = pod
  const hasRun = phase === 'Running' || isFinished(pod)
  const isBound = node !== ''
  const [fromMs, toMs] = before?.Running ?? []
  return {
    // Until it is scheduled; where that is not told, until the kubelet took it.
    Pending: interval(createdMs, isBound ? (scheduledMs ?? startedMs) : isFinished(pod) ? finishedMs : nowMs),
    Running: hasRun
      ? interval(earlier(fromMs, runningMs ?? startedMs), isFinished(pod) ? (finishedMs ?? toMs) : nowMs)
      : [],
  }
}

function earlier(one: number | undefined, other: number | undefined): number | undefined {
  return one !== undefined && other !== undefined ? Math.min(one, other) : (one ?? other)
}

function both(one: Stretches, other: Stretches): Stretches {
  return {
    Pending: bounded(union(one.Pending, other.Pending)),
    Running: bounded(union(one.Running, other.Running)),
  }
}

/** The two oldest stretches become one that is as long as both, and ends when the second did. */
function bounded(intervals: Intervals): Intervals {
  if (intervals.length <= 2 * MOST_STRETCHES) return intervals
  const [from, to, , end, ...rest] = intervals as [number, number, number, number, ...number[]]
  const second = intervals[2]!
  return [second - (to - from), end, ...rest]
}
