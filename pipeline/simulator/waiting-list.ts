/** Those who wait for GPUs, in the order in which they came. Smaller ones may overtake, but not for ever. */
import type { EventQueue } from './event-queue.ts'
import type { GpuRequest, Pod } from './pod.ts'
import type { Workload } from './workload.ts'

/** Pods of one workload that must start together. */
export type Gang = { readonly workload: Workload; readonly pods: readonly Pod[]; readonly sinceMs: number }

export type WaitingList = {
  add(workload: Workload, pods: readonly Pod[], timeMs: number): void
  /** Says that there may be room again. */
  wake(timeMs: number): void
  /** How many wait for the same sort of GPUs. */
  sizeFor(workload: Workload): number
}

type Wanted = GpuRequest['kind']

/** A scheduler that found no room for so many in a row tries the others at the next occasion. */
const ATTEMPTS_PER_PASS = 24
/** Who has waited for so long is not overtaken any more by others that want the same. */
const PATIENCE_MS = 20 * 60_000

/** `bind` says whether there was room; who is not alive any more leaves the list. */
export function createWaitingList(
  events: EventQueue,
  isAlive: (pod: Pod) => boolean,
  bind: (gang: Gang, timeMs: number) => boolean,
): WaitingList {
  const waiting: Gang[] = []
  const sizes = new Map<Wanted, number>()
  let passPlanned = false

  function count(wanted: Wanted, by: 1 | -1): void {
    sizes.set(wanted, (sizes.get(wanted) ?? 0) + by)
  }

  function wake(timeMs: number): void {
    if (passPlanned || waiting.length === 0) return
    passPlanned = true
    events.plan(timeMs + 1000, pass)
  }

  function pass(timeMs: number): void {
    passPlanned = false
    const closed = new Set<Wanted>()
    let at = 0
    for (let attempts = 0; at < waiting.length && attempts < ATTEMPTS_PER_PASS;) {
      const gang = waiting[at]!
      const wanted = wantedBy(gang.pods)
      if (gang.pods.every(isAlive) && (closed.has(wanted) || !bind(gang, timeMs))) {
        if (timeMs - gang.sinceMs > PATIENCE_MS) closed.add(wanted)
        attempts++
        at++
      } else {
        waiting.splice(at, 1)
        count(wanted, -1)
      }
    }
  }

  return {
    add(workload, pods, timeMs) {
      waiting.push({ workload, pods, sinceMs: timeMs })
      count(wantedBy(pods), 1)
      wake(timeMs)
    },
    wake,
    sizeFor: workload => sizes.get(wantedBy(workload.pods)) ?? 0,
  }
}

/** Some pods of a workload may want nothing. */
function wantedBy(pods: Iterable<Pod>): Wanted {
  for (const { request } of pods) if (request.kind !== 'none') return request.kind
  return 'none'
}
