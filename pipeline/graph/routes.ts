/**
 * Takes batches through several processors at once where all that they do is known beforehand.
 *
 * A target shows the same series scrape after scrape, and what label processors make of them changes when metadata does. Until then a
 * source has a route: the plans of all processors in a row as one, and the few of them that want to see each batch. What is not on a
 * route (the first batches of a source, samples that are missing or out of range, failures) goes from processor to processor, and
 * nothing is said on a route that was not said there before.
 *
 * A route is all that a source needs while nothing changes. What processors made on the way to it, plans, layouts and label sets in the
 * middle, is let go as soon as there is one, and made again when it is needed: of thousands of targets that is much more than the routes.
 */
import { RefusedError, type Next, type Processor, type Step, type Watch } from '../component.ts'
import type { Batch, Source } from '../model/batch.ts'
import { compose, isEmpty, RangesBefore, runComposed, stay, type Composed } from '../model/compose.ts'
import { allOf, haveChanged, type Dependencies } from '../model/dependencies.ts'
import { columnCount, haveSameLabels, letLabelsGo, takeLabelsBack, type Layout } from '../model/layout.ts'
import { allInside, type Plan, type Ranges } from '../model/plan.ts'
import { sameItems, sharedList, sharedNumbers } from '../model/shared.ts'
import { trackedChanges } from '../model/tracked.ts'
import type { Passages } from './observe.ts'
import type { Lap, Stopwatch } from './stopwatch.ts'

/** A processor that can be part of a route. */
export type RoutedNode = {
  readonly step: NonNullable<Processor['step']>
  readonly release?: Processor['release'] | undefined
  readonly refresh?: Processor['refresh'] | undefined
  readonly tellCaughtUp?: Processor['tellCaughtUp'] | undefined
  readonly passages: Passages
}

/**
 * What is known of a source, and its route if it has one. All in one object: when the next scrape of a target comes nothing of it is near
 * the processor, and going from one object to the next is what most of the time goes into. What routes have alike is kept once.
 */
type SourceState = {
  /** Whose it is. */
  readonly owner: object
  /** Of the last batch; undefined if it was a failure. */
  layout: Layout | undefined
  /** The state of the metadata at which the route was last found to be right; `NO_ROUTE` if there is none. */
  seen: number
  /** Of the processors that are reached, which have let go of them where there is `hangsOn`. */
  plans: readonly Plan[]
  /** The metadata that the route hangs on. */
  hangsOn: Dependencies | undefined
  /** So many more batches have to go this way before plans are let go. */
  patience: number
  /** How many had to when they were the last time. */
  calm: number
  ranges: Ranges | undefined
  /** The first who wants to see batches, if there is anybody, and the way there. */
  watch: Watch | undefined
  node: number
  output: Layout
  gather: Uint32Array | undefined
  /** The others. */
  stretches: readonly Stretch[]
  counts: readonly (() => void)[]
  /** Points into each processor that is reached, and out of the last. */
  points: Uint32Array
}

/** From the beginning up to somebody who wants to see batches. */
type Stretch = Composed & {
  readonly watch: Watch
  /** Which processor sees them; as many as there are for those behind. */
  readonly node: number
}

/** Of a source that there are few of, making all plans again for one series that has changed would take too long. */
const MOST_COLUMNS = 4096
/** Of a source that does not keep to its route plans are made again for one in so many batches at the most. */
const MOST_PATIENCE = 63

/**
 * When a pod comes, its scheduling, its devices and its phase change one after the other: so many batches after a change plans are kept, but
 * of no more sources than these. At the start everything changes for all.
 */
const PATIENCE_AFTER_CHANGE = 2
const MOST_PATIENT = 256

/** With a small integer, as all the others are, it needs no object of its own. */
const NO_ROUTE = -1

const NO_PLANS: readonly Plan[] = []
const NO_LAYOUTS: readonly Layout[] = []
const NO_STRETCHES: readonly Stretch[] = []
const NO_COUNTS: readonly (() => void)[] = []
const NO_POINTS = new Uint32Array(0)

/** `consume` of the first processor takes what is on no route; `next` is behind the last. */
export function createRoutes(nodes: readonly RoutedNode[], consume: Next, next: Next, stopwatch: Stopwatch): Next {
  const states = new Map<Source, SourceState>()
  const owner = {}
  const canRelease = nodes.every(({ release }) => release !== undefined)
  const lap: Lap = { ms: 0 }
  /** Of which plans are kept because something has changed, the longest first. */
  const patient = new Map<SourceState, Source>()
  const handOn: Watch = { see: (batch, way) => next(runComposed(way, batch)) }

  function stateWithout(layout: Layout): SourceState {
    return {
      owner,
      layout,
      seen: NO_ROUTE,
      plans: NO_PLANS,
      hangsOn: undefined,
      patience: 0,
      calm: 0,
      ranges: undefined,
      output: layout,
      gather: undefined,
      watch: undefined,
      node: 0,
      stretches: NO_STRETCHES,
      counts: NO_COUNTS,
      points: NO_POINTS,
    }
  }

  /**
   * Whether the route is still the right one. Where it leads elsewhere by now, the batch goes from processor to processor, so that each of
   * them hears what has become of the source, those included that are not on the new route any more; then there is a new one.
   */
  function hasRoute(state: SourceState, source: Source, layout: Layout): boolean {
    if (state.seen === trackedChanges()) return true
    const isReleased = state.hangsOn !== undefined
    if (isReleased) {
      for (const { refresh } of nodes) refresh?.()
      if (state.hangsOn !== undefined && !haveChanged(state.hangsOn)) {
        state.seen = trackedChanges()
        return true
      }
      state.hangsOn = undefined
    } else if (state.seen === NO_ROUTE) return false
    const isRight = isReleased ? isMadeAgain(state, source, layout) : isKept(state, source, layout)
    if (!isRight) state.seen = NO_ROUTE
    return isRight
  }

  /** Whether what processors make again leads to what there is. They must not keep it then: the route has it already. */
  function isMadeAgain(state: SourceState, source: Source, layout: Layout): boolean {
    const before = outputsOf(state)
    const seen = trackedChanges()
    const steps = stepsFor(source, layout, before)
    if (steps !== undefined) {
      lay(state, steps, layout)
      state.seen = seen
      if (sameItems(outputsOf(state), before)) {
        release(state, source, layout)
        return true
      }
    }
    bePatient(state, source)
    return false
  }

  function isKept(state: SourceState, source: Source, layout: Layout): boolean {
    const seen = trackedChanges()
    const steps = stepsFor(source, layout, NO_LAYOUTS)
    if (steps === undefined || !isSame(state.plans, steps) || state.counts !== countsOf(steps)) return false
    state.seen = seen
    return true
  }

  /** After a batch that has gone from processor to processor, and that has all samples. */
  function findRoute(state: SourceState, source: Source, layout: Layout): void {
    if (state.seen === NO_ROUTE) {
      const seen = trackedChanges()
      const steps = stepsFor(source, layout, NO_LAYOUTS)
      if (steps === undefined) return
      lay(state, steps, layout)
      state.seen = seen
    }
    // With thousands of targets at the start, what was made of the first would else be there until the last has come.
    if (state.hangsOn === undefined && state.patience <= 0) release(state, source, layout)
  }

  function bePatient(state: SourceState, source: Source): void {
    state.patience = Math.max(state.calm, PATIENCE_AFTER_CHANGE)
    patient.delete(state)
    patient.set(state, source)
    if (patient.size <= MOST_PATIENT) return
    const [longest, its] = patient.entries().next().value!
    patient.delete(longest)
    if (longest.layout !== undefined && longest.hangsOn === undefined && longest.seen !== NO_ROUTE) {
      release(longest, its, longest.layout)
    }
  }

  /** Processors let go of what they made of a source that has a route. */
  function release(state: SourceState, source: Source, layout: Layout): void {
    patient.delete(state)
    if (!canRelease || columnCount(layout) > MOST_COLUMNS) return
    const looked = nodes.map(one => one.release!(source))
    state.hangsOn = allOf(looked.slice(0, state.points.length - 1).flat())
    if (state.hangsOn === undefined) state.seen = NO_ROUTE
    else letGo(state, layout)
    state.plans = NO_PLANS
  }

  /** Of label sets for which nobody on the way asks any more, a text is left that tells when others have come instead. */
  function letGo({ watch, output, stretches }: SourceState, layout: Layout): void {
    if (watch === undefined) return
    const ends = [{ watch, output }, ...stretches].filter(end => columnCount(end.output) > 0)
    const wanted = new Set(ends.filter(end => end.watch.knowsLabels !== true).map(end => end.output)).add(layout)
    for (const end of ends) if (!wanted.has(end.output)) letLabelsGo(end.output)
  }

  /** What goes from processor to processor now has them make all that they had let go of: the next time that takes more patience. */
  function leave(state: SourceState, layout: Layout): void {
    if (state.hangsOn === undefined) return
    state.hangsOn = undefined
    state.seen = NO_ROUTE
    state.output = layout
    state.stretches = NO_STRETCHES
    state.calm = Math.min(2 * state.calm + 1, MOST_PATIENCE)
    state.patience = state.calm
  }

  /** Of the processors up to one that leaves nothing. What is equal to what there was `before` is that: then those behind have nothing to do. */
  function stepsFor(source: Source, layout: Layout, before: readonly Layout[]): Step[] | undefined {
    const steps: Step[] = []
    let current = layout
    for (const { step } of nodes) {
      const one = step(source, current)
      if (one === undefined) return undefined
      const { plan } = one
      const output = before.find(one => isEqual(one, plan.output)) ?? plan.output
      if (output !== plan.output) takeLabelsBack(output, plan.output)
      steps.push(output === plan.output ? one : { ...one, plan: { ...plan, output } })
      current = output
      if (columnCount(current) === 0) break
    }
    return steps
  }

  function lay(state: SourceState, steps: readonly Step[], layout: Layout): void {
    const ranges = new RangesBefore()
    const stretches: Stretch[] = []
    const points = [columnCount(layout)]
    let whole = stay(layout)
    const seenBy = (watch: Watch | undefined, node: number): void => {
      if (watch !== undefined) stretches.push({ output: whole.output, gather: whole.gather, watch, node })
    }
    steps.forEach(({ plan, before, after }, node) => {
      seenBy(before, node)
      whole = compose(whole, plan)
      ranges.add(plan, whole)
      seenBy(after, node)
      points.push(columnCount(plan.output))
    })
    if (!isEmpty(whole)) seenBy(handOn, nodes.length)
    state.plans = steps.map(({ plan }) => plan)
    state.ranges = ranges.finish()
    watchAlong(state, stretches)
    state.counts = countsOf(steps)
    state.points = sharedNumbers(Uint32Array.from(points))
  }

  function watchAlong(state: SourceState, [first, ...others]: readonly Stretch[]): void {
    state.output = first?.output ?? state.layout!
    state.gather = first?.gather
    state.watch = first?.watch
    state.node = first?.node ?? 0
    state.stretches = others.length === 0 ? NO_STRETCHES : others
  }

  function run(state: SourceState, batch: Batch): void {
    const { watch, stretches, counts } = state
    // Most of what targets say of themselves goes nowhere: there is nothing to do that would take time.
    if (watch === undefined && counts.length === 0) return tell(state, 0)
    const outer = stopwatch.enter(lap)
    let { node } = state
    try {
      if (watch !== undefined) watch.see(batch, state)
      for (const stretch of stretches) {
        node = stretch.node
        stretch.watch.see(batch, stretch)
      }
      for (const count of counts) count()
    } catch (error) {
      stopwatch.leave(lap, outer)
      leave(state, batch.layout)
      state.seen = NO_ROUTE
      return fail(state, node, batch, error)
    }
    tell(state, stopwatch.leave(lap, outer) / 1000)
  }

  /** Nobody can say how much of the time each of them took: they share it. */
  function tell({ points }: SourceState, seconds: number): void {
    const processors = points.length - 1
    const share = seconds / processors
    for (let i = 0; i < processors; i++) nodes[i]!.passages.passed(points[i]!, points[i + 1]!, share)
  }

  /** Those behind deal with their failures themselves, but for what they refuse. */
  function fail({ points }: SourceState, node: number, { source }: Batch, error: unknown): void {
    if (!(error instanceof RefusedError)) return nodes[node]!.passages.failed(points[node]!, source, error)
    for (let i = 0; i < points.length - 1; i++) nodes[i]!.passages.refused(points[i]!)
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
      if (known !== undefined) patient.delete(known)
      if (source.memo === known) source.memo = undefined
    } else if (known === undefined) states.set(source, stateWithout(layout))
    else if (outcome === 'failed' || known.layout !== layout) {
      known.layout = outcome === 'failed' ? undefined : layout
      leave(known, layout)
      known.seen = NO_ROUTE
    } else leave(known, layout)
  }

  // What all processors have made of thousands of targets would else be there until each of them has come once more.
  for (const { tellCaughtUp } of nodes) {
    tellCaughtUp?.(source => {
      const state = states.get(source)
      if (state?.layout !== undefined) findRoute(state, source, state.layout)
    })
  }

  return batch => {
    const { source, outcome, layout, values, absent } = batch
    const { memo } = source
    const state = memo !== undefined && memo.owner === owner ? (memo as SourceState) : lookUp(source)
    const isUsual = outcome === 'ok' && absent === undefined
    if (isUsual && state !== undefined && state.layout === layout) {
      if (hasRoute(state, source, layout) && (state.ranges === undefined || allInside(state.ranges, values))) {
        run(state, batch)
        if (state.hangsOn === undefined && --state.patience < 0) release(state, source, layout)
        return
      }
    }
    follow(batch, state)
    consume(batch)
    if (isUsual) findRoute(state ?? lookUp(source)!, source, layout)
  }
}

function outputsOf({ output, stretches }: SourceState): readonly Layout[] {
  return [output, ...stretches.map(stretch => stretch.output)]
}

/** Lists that are not of label sets are kept once, so that equal ones are the same. */
function isEqual(one: Layout, other: Layout): boolean {
  return (
    one.metrics === other.metrics &&
    one.scales === other.scales &&
    one.metricOf === other.metricOf &&
    one.labelsOf === other.labelsOf &&
    haveSameLabels(one, other)
  )
}

function countsOf(steps: readonly Step[]): SourceState['counts'] {
  return sharedList(steps.flatMap(({ each }) => each ?? []))
}

function isSame(plans: readonly Plan[], steps: readonly Step[]): boolean {
  return plans.length === steps.length && steps.every(({ plan }, i) => plan === plans[i])
}
