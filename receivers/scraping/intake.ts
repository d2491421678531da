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

export type Intake = {
  /** Throws an Error that says which limit the samples are above. `added` is how many series are new before relabelling. */
  take(batch: Batch, added: number): Taken
  forget(): void
}

export type Taken = {
  readonly batch: Batch
  /** Samples that are left. */
  readonly kept: number
  /** Series among them that the last batch did not have. */
  readonly added: number
  /** Samples whose series relabelling made equal to that of another. */
  readonly duplicates: number
}

/** Before rules have dropped anything, there may be more series than `sample_limit` allows, but not without end. */
const SERIES_BEFORE_RULES = 2_000_000

/** The most series that are worth reading; 0 is no limit. */
export function readingLimit({ limits, planner }: IntakeOptions): number {
  if (planner === undefined || limits.samples === 0) return limits.samples
  return Math.max(limits.samples, SERIES_BEFORE_RULES)
}

export function createIntake(source: Source, { limits, planner }: IntakeOptions): Intake {
  let last: Layout = EMPTY_LAYOUT

  if (planner === undefined) {
    return {
      take(batch, added) {
        if (batch.layout !== last) checkLayout(batch.layout, limits)
        last = batch.layout
        return { batch, kept: pointCount(batch), added, duplicates: 0 }
      },
      forget() {},
    }
  }
  return {
    take(incoming) {
      const plan = planner.planFor(source, incoming.layout)
      const { batch } = runPlan(plan, incoming)
      const { layout } = batch
      let added = 0
      if (layout !== last) {
        checkLayout(layout, limits)
        for (const labels of layout.labels) checkLabels(labels, limits)
        added = addedSince(last, layout)
        last = layout
      }
      return { batch, kept: pointCount(batch), added, duplicates: plan.folds?.inputs.length ?? 0 }
    },
    forget: () => planner.forget(source),
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
