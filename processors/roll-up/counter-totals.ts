/**
 * Sums of counters. What is kept is the total of a group, to which is added what its contributors have grown by: it goes on when one of
 * them begins anew, moves to another group or is gone.
 */
import { labelPairs, type Labels } from '../../pipeline/model/labels.ts'
import type { Grouping } from './entity.ts'
import type { Rule } from './rules.ts'
import { resized, roomFor } from './room.ts'
import type { Slots } from './slots.ts'
import type { Things } from './things.ts'
import type { Values } from './values.ts'

export type CounterTotals = {
  /** What is to be kept on disk: totals by metric and labels, and by reading what each counter last showed. */
  readonly kept: { readonly totals: Map<string, number>; readonly counters: ReadonlyMap<string, Map<string, number>> }
  /** Brings what is kept of counters up to date. */
  collect(): void
  /** Goes on from what was kept. */
  restore(): void
  add(rule: Rule, grouping: Grouping, slots: Slots, increases: Float64Array): void
  /** By slot; NaN where nobody contributes now. */
  totals(rule: Rule, grouping: Grouping, contributors: Float64Array): Float64Array
  /** Does something without what things have grown by that may be others' since: it waits until it is known whose they are. */
  withoutMoved(run: () => void): void
  /** All that is known now has been added; what comes from now on, of things that are known, counts for the same groups. */
  drained(): void
  /** Which things the groups are known of. */
  compiled(): void
  /** Forgets groups that have been gone for long: a workload that was preempted comes back. */
  retain(groupings: ReadonlyMap<Rule, Grouping>, nowMs: number): void
}

const FORGET_MS = 3_600_000

export function createCounterTotals(values: Values): CounterTotals {
  const totals = new Map<string, number>()
  const counters = new Map(Array.from(values.increases.keys(), name => [name, new Map<string, number>()]))
  const goneMs = new Map<string, number>()
  const keys = new WeakMap<Labels, string>()
  let grown = new Float64Array(0)
  const marks = new Map<Things, Marks>()
  for (const reading of values.increases.values()) {
    if (!marks.has(reading.things)) marks.set(reading.things, new Marks(reading.things))
  }

  function keyOf({ metric }: Rule, labels: Labels): string {
    let text = keys.get(labels)
    if (text === undefined) keys.set(labels, (text = JSON.stringify(labelPairs(labels))))
    return `${metric.name}${text}`
  }

  return {
    kept: { totals, counters },
    collect() {
      for (const [name, reading] of values.increases) {
        const map = counters.get(name)!
        map.clear()
        for (const [key, value] of reading.left) map.set(key, value)
        for (const number of reading.things.numbers()) {
          const value = reading.counterOf(number)
          if (!Number.isNaN(value)) map.set(reading.things.keyOf(number), value)
        }
      }
    },
    restore() {
      for (const [name, { left }] of values.increases)
        for (const [key, value] of counters.get(name)!) left.set(key, value)
    },
    add(rule, grouping, { slots, length }, increases) {
      grown = roomFor(grown, grouping.groups.length).fill(NaN)
      for (let i = 0; i < length; i++) {
        const increase = increases[i]!
        if (increase !== increase) continue
        const slot = slots[i]!
        const known = grown[slot]!
        grown[slot] = known === known ? known + increase : increase
      }
      for (let slot = 1; slot < grouping.groups.length; slot++) {
        if (grown[slot] !== grown[slot]) continue
        const key = keyOf(rule, grouping.groups[slot]!)
        totals.set(key, (totals.get(key) ?? 0) + grown[slot]!)
      }
    },
    totals: (rule, grouping, contributors) =>
      Float64Array.from(grouping.groups, (labels, slot) =>
        labels === undefined || contributors[slot] === 0 ? NaN : (totals.get(keyOf(rule, labels)) ?? NaN),
      ),
    withoutMoved(run) {
      const hidden: (() => void)[] = []
      for (const { things, values: amounts } of values.increases.values()) {
        for (let i = 0; i < things.length; i++) {
          const amount = amounts[i]!
          if (!things.isMoved(i) || amount !== amount) continue
          amounts[i] = NaN
          hidden.push(() => {
            amounts[i] = amount
          })
        }
      }
      run()
      for (const show of hidden) show()
    },
    drained() {
      for (const { things, values: amounts } of values.increases.values()) {
        const { isKnown } = marks.get(things)!
        for (let i = 0; i < things.length; i++) if (isKnown[i] === 1 && amounts[i]! > 0) amounts[i] = 0
      }
    },
    compiled() {
      for (const [things, { isKnown }] of marks) for (const number of things.numbers()) isKnown[number] = 1
    },
    retain(groupings, nowMs) {
      const live = new Set<string>()
      for (const [rule, { groups }] of groupings) {
        for (const labels of groups) if (labels !== undefined) live.add(keyOf(rule, labels))
      }
      for (const key of totals.keys()) {
        if (live.has(key)) goneMs.delete(key)
        else if (!goneMs.has(key)) goneMs.set(key, nowMs)
        else if (nowMs - goneMs.get(key)! >= FORGET_MS) {
          goneMs.delete(key)
          totals.delete(key)
        }
      }
    },
  }
}

/** Things whose groups are known: those that came since the last flush wait for the next. */
class Marks {
  isKnown = new Uint8Array(0)

  constructor(things: Things) {
    things.attach(this)
  }

  grow(capacity: number): void {
    this.isKnown = resized(this.isKnown, capacity)
  }

  reset(number: number): void {
    this.isKnown[number] = 0
  }
}
