/** What becomes of the samples of a target before they leave the receiver: `metric_relabel_configs`, and limits on what is left. */
import { pointCount, type Batch, type Source } from '../../pipeline/model/batch.ts'
import type { Labels } from '../../pipeline/model/labels.ts'
import { columnCount, EMPTY_LAYOUT, labelsAt, metricAt, type Layout } from '../../pipeline/model/layout.ts'
import type { Planner } from '../../pipeline/model/planner.ts'
import { runPlan } from '../../pipeline/model/plan.ts'
import { checkLabels, checkLayout, type Limits } from './limits.ts'

export type IntakeOptions = {
  readonly limits: Limits
  /** Of `metric_relabel_configs`, where there are any; all targets of a job share it. */
  readonly planner?: Planner
}

export type Taken = {
  readonly batch: Batch
  /** Samples that are left. */
  readonly kept: number
  /** Series among them that the last batch did not have. */
  readonly added: number
  /** Samples whose series relabelling made equal to that of another. */
  readonly duplicates: number
  /** Which limit the samples are above: then the scrape has failed. */
  readonly problem?: string
}

/** Before rules have dropped anything, there may be more series than `sample_limit` allows, but not without end. */
const SERIES_BEFORE_RULES = 2_000_000
/** So many are read to find out how many there are, also if the limit is lower. */
const SERIES_TO_COUNT = 100_000

/** The most series that are worth reading; 0 is no limit. */
export function readingLimit({ limits: { samples }, planner }: IntakeOptions): number {
  if (samples === 0) return 0
  return Math.max(samples, planner === undefined ? SERIES_TO_COUNT : SERIES_BEFORE_RULES)
}

/** Takes the samples of one target. */
export class Intake {
  readonly #source: Source
  readonly #options: IntakeOptions
  #last: Layout = EMPTY_LAYOUT

  constructor(source: Source, options: IntakeOptions) {
    this.#source = source
    this.#options = options
  }

  /** `added` is how many series are new before relabelling. */
  take(incoming: Batch, added: number): Taken {
    const { planner } = this.#options
    return planner === undefined ? this.#takeAsItIs(incoming, added) : this.#takeRelabelled(incoming, planner)
  }

  forget(): void {
    this.#options.planner?.forget(this.#source)
  }

  #takeAsItIs(batch: Batch, added: number): Taken {
    const problem = this.#check(batch.layout, false)
    const kept = pointCount(batch)
    if (problem !== undefined) return { batch, kept, added, duplicates: 0, problem }
    this.#last = batch.layout
    return { batch, kept, added, duplicates: 0 }
  }

  #takeRelabelled(incoming: Batch, planner: Planner): Taken {
    const plan = planner.planFor(this.#source, incoming.layout)
    const { batch } = runPlan(plan, incoming)
    const { layout } = batch
    const problem = this.#check(layout, true)
    const kept = pointCount(batch)
    const duplicates = plan.folds?.inputs.length ?? 0
    if (problem !== undefined) return { batch, kept, added: 0, duplicates, problem }
    const added = layout === this.#last ? 0 : addedSince(this.#last, layout)
    this.#last = layout
    return { batch, kept, added, duplicates }
  }

  /** What is wrong with series that the last batch did not have. */
  #check(layout: Layout, isRelabelled: boolean): string | undefined {
    if (layout === this.#last) return undefined
    const { limits } = this.#options
    try {
      checkLayout(layout, limits)
      // Otherwise they were looked at when they were read.
      if (isRelabelled) for (const labels of layout.labels) checkLabels(labels, limits)
      return undefined
    } catch (error) {
      return (error as Error).message
    }
  }
}

function addedSince(before: Layout, now: Layout): number {
  if (now.keptFrom?.id === before.id) {
    let kept = 0
    for (let run = 2; run < now.keptFrom.runs.length; run += 3) kept += now.keptFrom.runs[run]!
    return columnCount(now) - kept
  }
  const names = new Map<Labels, Set<string>>()
  for (let column = 0; column < columnCount(before); column++) {
    const labels = labelsAt(before, column)
    const known = names.get(labels)
    if (known === undefined) names.set(labels, new Set([metricAt(before, column).name]))
    else known.add(metricAt(before, column).name)
  }
  let added = 0
  for (let column = 0; column < columnCount(now); column++) {
    if (!names.get(labelsAt(now, column))?.has(metricAt(now, column).name)) added++
  }
  return added
}
