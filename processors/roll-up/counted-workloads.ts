/**
 * Which workloads have been counted, so that their number can be one that only grows: of all that there ever were. It is kept over
 * restarts.
 */
import type { Rule } from './rules.ts'

export type CountedWorkloads = {
  /** By metric and id when it was seen to be gone; 0 while it is there. */
  readonly kept: Map<string, number>
  /** By place of the workload 1 if it has not been counted, else 0; from now on all of them have been. */
  count(rule: Rule, workloads: readonly ({ readonly key: string } | undefined)[]): Float64Array
  /** Forgets workloads that have been gone for long: one whose pods are between two nodes is still the same. */
  retain(rules: Iterable<Rule>, ids: { keys(): Iterable<string> }, nowMs: number): void
}

const FORGET_MS = 3_600_000

export function createCountedWorkloads(): CountedWorkloads {
  const kept = new Map<string, number>()
  return {
    kept,
    count: (rule, workloads) =>
      Float64Array.from(workloads, workload => {
        if (workload === undefined) return NaN
        const key = keyOf(rule, workload.key)
        const isNew = !kept.has(key)
        if (isNew) kept.set(key, 0)
        return Number(isNew)
      }),
    retain(rules, ids, nowMs) {
      const live = new Set<string>()
      for (const rule of rules) for (const id of ids.keys()) live.add(keyOf(rule, id))
      for (const [key, goneMs] of kept) {
        if (live.has(key)) {
          if (goneMs !== 0) kept.set(key, 0)
        } else if (goneMs === 0) kept.set(key, nowMs)
        else if (nowMs - goneMs >= FORGET_MS) kept.delete(key)
      }
    },
  }
}

function keyOf({ metric }: Rule, id: string): string {
  return `${metric.name} ${id}`
}
