/**
 * How long workloads have run and waited, from the times that pods tell. What pods did that are gone is kept, also over restarts.
 */
import type { Pod } from '../../pipeline/cluster/objects.ts'
import { isFinished } from '../../pipeline/cluster/pod-state.ts'
import { interval, lengthOf, union, type Intervals } from './intervals.ts'
import type { KeyedEntity } from './keyed-entities.ts'

export type Phase = 'Pending' | 'Running'
type Stretches = Readonly<Record<Phase, Intervals>>

/** What is kept of a workload: the time of pods that are gone, and that of those that were there last. */
export type KeptTimes = { readonly gone: Stretches; readonly pods: Readonly<Record<string, Stretches>> }

export type PhaseTimes = {
  readonly kept: Map<string, KeptTimes>
  /** Brings everything up to now. */
  update(workloads: ReadonlyMap<string, KeyedEntity>, nowMs: number): void
  /** NaN if the workload has not been in the phase. */
  seconds(id: string, phase: Phase): number
}

const NONE: Stretches = { Pending: [], Running: [] }
/** How long a workload without pods is remembered: one that was preempted comes back. */
const FORGET_MS = 3_600_000
/** A workload whose pods come and go for months has few gaps that matter: the oldest are closed. */
const MOST_STRETCHES = 256

export function createPhaseTimes(): PhaseTimes {
  const kept = new Map<string, KeptTimes>()
  const leftMs = new Map<string, number>()

  function update(workload: KeyedEntity, nowMs: number): void {
    const before = kept.get(workload.key)
    const pods: Record<string, Stretches> = {}
    for (const { key, pod } of workload.members) pods[key] = stretchesOf(pod, nowMs, before?.pods?.[key])
    let gone = before?.gone ?? NONE
    for (const [key, stretches] of Object.entries(before?.pods ?? {})) {
      if (pods[key] === undefined) gone = both(gone, stretches)
    }
    kept.set(workload.key, { gone, pods })
  }

  /** What is gone altogether, unless it comes back soon. */
  function leave(id: string, nowMs: number): void {
    const sinceMs = leftMs.get(id)
    if (sinceMs === undefined) leftMs.set(id, nowMs)
    else if (nowMs - sinceMs >= FORGET_MS) {
      leftMs.delete(id)
      kept.delete(id)
    }
  }

  return {
    kept,
    update(workloads, nowMs) {
      for (const workload of workloads.values()) update(workload, nowMs)
      for (const id of kept.keys()) {
        if (workloads.has(id)) leftMs.delete(id)
        else leave(id, nowMs)
      }
    },
    seconds(id, phase) {
      const times = kept.get(id)
      if (times === undefined) return NaN
      let all = times.gone[phase]
      for (const stretches of Object.values(times.pods)) all = union(all, stretches[phase])
      return all.length === 0 ? NaN : lengthOf(all) / 1000
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
