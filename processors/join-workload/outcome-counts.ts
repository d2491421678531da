/** Counts the points of each batch by how the join of their label sets went. Adds up per label set, and once as long as nothing changes. */
import type { Counters } from '../../pipeline/component.ts'
import type { Labels } from '../../pipeline/model/labels.ts'
import type { Layout } from '../../pipeline/model/layout.ts'
import { sharedNumbers } from '../../pipeline/model/shared.ts'
import { isJoinable, type Outcome } from './join-labels.ts'

export type OutcomeCounts = {
  /** How it went with a label set that can be joined, from now on; undefined if it names nobody. */
  note(labels: Labels, outcome: Outcome | 'held' | undefined): void
  count(layout: Layout): void
  /**
   * `count` for a layout that comes again and again, and has series that name somebody, until something is noted. The same function where
   * the counts are the same.
   */
  counter(layout: Layout): () => void
}

type Totals = { version: number; count: () => void; readonly columns: Uint32Array }
type ByOutcome = readonly { readonly outcome: Outcome | 'held'; readonly points: number }[]

const NOTHING = (): void => {}

/** Targets of one kind mostly have the same. */
const MOST_KNOWN = 1000

export function createOutcomeCounts(counters: Counters): OutcomeCounts {
  // Nearly all of those that name somebody are resolved, so only the others are in it.
  const outcomes = new WeakMap<Labels, Exclude<Outcome, 'resolved'> | 'held' | 'nobody'>()
  const totals = new WeakMap<Layout, Totals>()
  const countOne = createCountOne(counters)
  const known = new Map<string, () => void>()
  let version = 0

  function outcomeOf(labels: Labels): Outcome | 'held' | undefined {
    if (!isJoinable(labels)) return undefined
    const outcome = outcomes.get(labels) ?? 'resolved'
    return outcome === 'nobody' ? undefined : outcome
  }

  function totalsOf(layout: Layout): Totals {
    let its = totals.get(layout)
    if (its === undefined) totals.set(layout, (its = { version: -1, count: NOTHING, columns: columnsByLabels(layout) }))
    if (its.version !== version) renew(its, layout)
    return its
  }

  function renew(its: Totals, layout: Layout): void {
    its.version = version
    const points = new Map<Outcome | 'held', number>()
    layout.labels.forEach((labels, i) => {
      const outcome = outcomeOf(labels)
      if (outcome !== undefined) points.set(outcome, (points.get(outcome) ?? 0) + its.columns[i]!)
    })
    its.count = counting(Array.from(points, ([outcome, sum]) => ({ outcome, points: sum })))
  }

  function counting(list: ByOutcome): () => void {
    const key = JSON.stringify(list)
    let count = known.get(key)
    if (count === undefined) {
      if (known.size >= MOST_KNOWN) known.clear()
      count = () => {
        for (const { outcome, points } of list) countOne(outcome, points)
      }
      known.set(key, count)
    }
    return count
  }

  return {
    note(labels, outcome) {
      if (outcomeOf(labels) === outcome) return
      if (outcome === 'resolved') outcomes.delete(labels)
      else outcomes.set(labels, outcome ?? 'nobody')
      version++
    },
    count(layout) {
      // What targets say of themselves names nobody, and there is as much of it as there are targets.
      if (totals.has(layout) || layout.labels.some(labels => outcomeOf(labels) !== undefined)) totalsOf(layout).count()
    },
    counter: layout => totalsOf(layout).count,
  }
}

function columnsByLabels({ labels, labelsOf }: Layout): Uint32Array {
  const columns = new Uint32Array(labels.length)
  for (const entry of labelsOf) columns[entry]!++
  return sharedNumbers(columns)
}

function createCountOne(counters: Counters): (outcome: Outcome | 'held', points: number) => void {
  const resolved = counters.counter('gpucol_processor_resolved_metric_points')
  return (outcome, points) => {
    if (outcome === 'resolved') resolved(points)
    else countOther(counters, outcome, points)
  }
}

function countOther(counters: Counters, outcome: Exclude<Outcome | 'held', 'resolved'>, points: number): void {
  if (outcome === 'held') counters.add('gpucol_processor_held_back_metric_points', points)
  else if (outcome === 'gone_pod') counters.add('gpucol_processor_late_metric_points', points)
  else if (outcome === 'several_pods' || outcome === 'several_owners') {
    counters.add('gpucol_processor_ambiguous_metric_points', points, { reason: outcome })
  } else counters.add('gpucol_processor_unresolved_metric_points', points, { reason: outcome })
}
