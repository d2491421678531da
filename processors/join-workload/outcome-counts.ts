/** Counts the points of each batch by how the join of their label sets went. Adds up per label set, and once as long as nothing changes. */
import type { Counters } from '../../pipeline/component.ts'
import type { Labels } from '../../pipeline/model/labels.ts'
import type { Layout } from '../../pipeline/model/layout.ts'
import { sharedNumbers } from '../../pipeline/model/shared.ts'
import type { Outcome } from './join-labels.ts'

export type OutcomeCounts = {
  /** How it went with a label set, from now on; undefined if it names nobody. */
  note(labels: Labels, outcome: Outcome | 'held' | undefined): void
  count(layout: Layout): void
  /** `count` for a layout that comes again and again, and has series that name somebody. */
  counter(layout: Layout): () => void
}

type Totals = { version: number; byOutcome: ByOutcome; readonly columns: Uint32Array }
type ByOutcome = readonly { readonly outcome: Outcome | 'held'; readonly points: number }[]

/** Targets of one kind mostly have the same. */
const MAX_LISTS = 1000

export function createOutcomeCounts(counters: Counters): OutcomeCounts {
  const outcomes = new WeakMap<Labels, Outcome | 'held'>()
  const totals = new WeakMap<Layout, Totals>()
  const countOne = createCountOne(counters)
  const lists = new Map<string, ByOutcome>()
  let version = 0

  function totalsOf(layout: Layout): Totals {
    let known = totals.get(layout)
    if (known === undefined) {
      totals.set(layout, (known = { version: -1, byOutcome: [], columns: columnsByLabels(layout) }))
    }
    return known
  }

  function renew(known: Totals, layout: Layout): void {
    known.version = version
    const points = new Map<Outcome | 'held', number>()
    layout.labels.forEach((labels, i) => {
      const outcome = outcomes.get(labels)
      if (outcome !== undefined) points.set(outcome, (points.get(outcome) ?? 0) + known.columns[i]!)
    })
    known.byOutcome = shared(Array.from(points, ([outcome, sum]) => ({ outcome, points: sum })))
  }

  function countTotals(known: Totals, layout: Layout): void {
    if (known.version !== version) renew(known, layout)
    for (const { outcome, points } of known.byOutcome) countOne(outcome, points)
  }

  function shared(list: ByOutcome): ByOutcome {
    const key = JSON.stringify(list)
    const known = lists.get(key)
    if (known !== undefined) return known
    if (lists.size >= MAX_LISTS) lists.clear()
    lists.set(key, list)
    return list
  }

  return {
    note(labels, outcome) {
      if (outcomes.get(labels) === outcome) return
      if (outcome === undefined) outcomes.delete(labels)
      else outcomes.set(labels, outcome)
      version++
    },
    count(layout) {
      const known = totals.get(layout)
      // What targets say of themselves names nobody, and there is as much of it as there are targets.
      if (known !== undefined || layout.labels.some(labels => outcomes.has(labels))) {
        countTotals(known ?? totalsOf(layout), layout)
      }
    },
    counter(layout) {
      const known = totalsOf(layout)
      return () => countTotals(known, layout)
    },
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
