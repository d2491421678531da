/**
 * Takes batches through several processors at once where all that they do is known beforehand.
 *
 * A target shows the same series scrape after scrape, and what label processors make of them changes when metadata does. Until then a
 * source has a route: the plans of all processors in a row as one, and the few of them that want to see each batch. What is not on a
 * route (the first batches of a source, samples that are missing or out of range, failures) goes from processor to processor, and
 * nothing is said on a route that was not said there before.
 */
import { RefusedError, type Next, type Processor, type Step, type Watch } from '../component.ts'
import type { Batch, Source } from '../model/batch.ts'
import { compose, isEmpty, RangesBefore, runComposed, stay, type Composed } from '../model/compose.ts'
import { columnCount, type Layout } from '../model/layout.ts'
import { allInside, type Plan, type Ranges } from '../model/plan.ts'
import { sharedNumbers } from '../model/shared.ts'
import { trackedChanges } from '../model/tracked.ts'
import type { Passages } from './observe.ts'
import type { Lap, Stopwatch } from './stopwatch.ts'

/** A processor that can be part of a route. */
export type RoutedNode = {
  readonly step: NonNullable<Processor['step']>
  readonly passages: Passages
}

type Route = {
  /** The state of the metadata at which it was last found to be right. */
  seen: number
  /** Of the processors that are reached. */
  readonly plans: readonly Plan[]
  readonly ranges: Ranges | undefined
  stretches: readonly Stretch[]
  readonly counts: readonly (() => void)[]
  /** Points into each processor that is reached, and out of the last. */
  readonly points: Uint32Array
  /** Nothing is left for those behind. */
  readonly endsEmpty: boolean
}

/** From the beginning up to somebody who wants to see the batch. */
type Stretch = {
  readonly way: Composed
  readonly see: Watch
  /** Which processor sees it; as many as there are for those behind. */
  readonly node: number
}

type SourceState = {
  /** Whose it is. */
  readonly owner: object
  /** Of the last batch; undefined if it was a failure. */
  layout: Layout | undefined
  route: Route | undefined
}

const NO_STRETCHES: readonly Stretch[] = []

/** `consume` of the first processor takes what is on no route; `next` is behind the last. */
export function createRoutes(nodes: readonly RoutedNode[], consume: Next, next: Next, stopwatch: Stopwatch): Next {
  const states = new Map<Source, SourceState>()
  const owner = {}
  const lap: Lap = { ms: 0 }
  const handOn: Watch = (batch, way) => next(runComposed(way, batch))

  function routeFor(state: SourceState, source: Source, layout: Layout): Route | undefined {
    const { route } = state
    const seen = trackedChanges()
    if (route !== undefined && route.seen === seen) return route
    return (state.route = makeRoute(route, source, layout, seen))
  }

  function makeRoute(known: Route | undefined, source: Source, layout: Layout, seen: number): Route | undefined {
    const steps = stepsFor(source, layout)
    if (steps === undefined) return undefined
    if (known !== undefined && isSame(known.plans, steps)) {
      known.seen = seen
      return known
    }
    return routeFrom(steps, layout, seen)
  }

  /** Of the processors up to one that leaves nothing. */
  function stepsFor(source: Source, layout: Layout): Step[] | undefined {
    const steps: Step[] = []
    let current = layout
    for (const { step } of nodes) {
      const one = step(source, current)
      if (one === undefined) return undefined
      steps.push(one)
      current = one.plan.output
      if (columnCount(current) === 0) break
    }
    return steps
  }

  function routeFrom(steps: readonly Step[], layout: Layout, seen: number): Route {
    const ranges = new RangesBefore()
    const stretches: Stretch[] = []
    const points = [columnCount(layout)]
    let whole = stay(layout)
    const seenBy = (see: Watch | undefined, node: number): void => {
      if (see !== undefined) stretches.push({ way: whole, see, node })
    }
    steps.forEach(({ plan, before, after }, node) => {
      seenBy(before, node)
      whole = compose(whole, plan)
      ranges.add(plan, whole)
      seenBy(after, node)
      points.push(columnCount(plan.output))
    })
    seenBy(handOn, nodes.length)
    return {
      seen,
      plans: steps.map(({ plan }) => plan),
      ranges: ranges.finish(),
      // A list that grew has room for more, which a copy has not.
      stretches: stretches.slice(),
      counts: steps.flatMap(({ each }) => each ?? []).slice(),
      points: sharedNumbers(Uint32Array.from(points)),
      endsEmpty: isEmpty(whole),
    }
  }

  function run(route: Route, batch: Batch, state: SourceState): void {
    const { stretches, counts } = route
    // Most of what targets say of themselves goes nowhere: there is nothing to do that would take time.
    if (stretches.length === 0 && counts.length === 0) return tell(route, 0)
    const outer = stopwatch.enter(lap)
    let at = 0
    try {
      for (; at < stretches.length; at++) {
        const { see, way } = stretches[at]!
        see(batch, way)
      }
      for (let i = 0; i < counts.length; i++) counts[i]!()
    } catch (error) {
      stopwatch.leave(lap, outer)
      state.route = undefined
      return fail(route, stretches[at]!.node, batch, error)
    }
    // Those behind hear once that nothing is left.
    if (route.endsEmpty && stretches.at(-1)?.node === nodes.length) route.stretches = toNodes(stretches)
    tell(route, stopwatch.leave(lap, outer) / 1000)
  }

  function toNodes(stretches: readonly Stretch[]): readonly Stretch[] {
    return stretches.length === 1 ? NO_STRETCHES : stretches.slice(0, -1)
  }

  /** Nobody can say how much of the time each of them took: they share it. */
  function tell({ plans, points }: Route, seconds: number): void {
    const share = seconds / plans.length
    for (let i = 0; i < plans.length; i++) nodes[i]!.passages.passed(points[i]!, points[i + 1]!, share)
  }

  /** Those behind deal with their failures themselves, but for what they refuse. */
  function fail({ plans, points }: Route, node: number, { source }: Batch, error: unknown): void {
    if (!(error instanceof RefusedError)) return nodes[node]!.passages.failed(points[node]!, source, error)
    plans.forEach((_, i) => nodes[i]!.passages.refused(points[i]!))
    throw error
  }

  function lookUp(source: Source): SourceState | undefined {
    const state = states.get(source)
    if (state !== undefined) source.memo = state
    return state
  }

  function follow({ source, outcome, layout }: Batch, known: SourceState | undefined): void {
    if (outcome === 'removed') {
      states.delete(source)
      if (source.memo === known) source.memo = undefined
    } else if (known === undefined) states.set(source, { owner, layout, route: undefined })
    else if (outcome === 'failed' || known.layout !== layout) {
      known.layout = outcome === 'failed' ? undefined : layout
      known.route = undefined
    }
  }

  return batch => {
    const { source, outcome, layout, values, absent } = batch
    const { memo } = source
    const state = memo !== undefined && memo.owner === owner ? (memo as SourceState) : lookUp(source)
    if (state !== undefined && state.layout === layout && outcome === 'ok' && absent === undefined) {
      const route = routeFor(state, source, layout)
      if (route !== undefined && (route.ranges === undefined || allInside(route.ranges, values))) {
        return run(route, batch, state)
      }
    }
    follow(batch, state)
    consume(batch)
  }
}

function isSame(plans: readonly Plan[], steps: readonly Step[]): boolean {
  return plans.length === steps.length && steps.every(({ plan }, i) => plan === plans[i])
}
