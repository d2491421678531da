/** Counts the points of each batch by how the join of their label sets went. Adds up per label set, and once as long as nothing changes. */
import type { Counters } from '../../pipeline/component.ts'
import type { Labels } from '../../pipeline/model/labels.ts'
import type { Layout } from '../../pipeline/model/layout.ts'
import { sharedByText, sharedNumbers } from '../../pipeline/model/shared.ts'
import { isJoinable, type Outcome } from './join-labels.ts'

export type OutcomeCounts = {
  /** How it went with a label set that can be joined, from now on; undefined if it names nobody. */
  note(labels: Labels, outcome: Outcome | 'held' | undefined): void
  count(layout: Layout): void
  /** `count` for a layout that comes again and again, and has series that name somebody. */
  counter(layout: Layout): () => void
}

type Totals = { version: number; byOutcome: ByOutcome; readonly columns: Uint32Array }
type ByOutcome = readonly { readonly outcome: Outcome | 'held'; readonly points: number }[]

export function createOutcomeCounts(counters: Counters): OutcomeCounts {
  // Nearly all of those that name somebody are resolved, so only the others are in it.
  const outcomes = new WeakMap<Labels, Exclude<Outcome, 'resolved'> | 'held' | 'nobody'>()
  const totals = new WeakMap<Layout, Totals>()
  const countOne = createCountOne(counters)
  // Targets of one kind mostly have the same.
  const shared = sharedByText<ByOutcome>(list => JSON.stringify(list))
  let version = 0

  function outcomeOf(labels: Labels): Outcome | 'held' | undefined {
    if (!isJoinable(labels)) return undefined
    const outcome = outcomes.get(labels) ?? 'resolved'
    return outcome === 'nobody' ? undefined : outcome
  }

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
      const outcome = outcomeOf(labels)
      if (outcome !== undefined) points.set(outcome, (points.get(outcome) ?? 0) + known.columns[i]!)
    })
    known.byOutcome = shared(Array.from(points, ([outcome, sum]) => ({ outcome, points: sum })))
  }

  function countTotals(known: Totals, layout: Layout): void {
    if (known.version !== version) renew(known, layout)
    for (const { outcome, points } of known.byOutcome) countOne(outcome, points)
  }

  return {
    note(labels, outcome) {
      if (outcomeOf(labels) === outcome) return
      if (outcome === 'resolved') outcomes.delete(labels)
      else outcomes.set(labels, outcome ?? 'nobody')
      version++
    },
    count(layout) {
      const known = totals.get(layout)
      // What targets say of themselves names nobody, and there is as much of it as there are targets.
      if (known !== undefined || layout.labels.some(labels => outcomeOf(labels) !== undefined)) {
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
