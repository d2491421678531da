/**
 * Label processors: their author writes a pure function on series, and this makes a processor of it that does label work when
 * something changed and moves numbers otherwise.
 */
import type { AnySchema, ConfigOf, Counters, Host, Next, Processor, ProcessorDefinition } from './component.ts'
import type { Source } from './model/batch.ts'
import type { SeriesMap } from './model/label-processor.ts'
import { columnCount, metricAt } from './model/layout.ts'
import { createPlanner, type Planner } from './model/planner.ts'
import { runPlan, type Plan } from './model/plan.ts'
import type { Metric } from './model/series.ts'

export type SeriesProcessorDefinition<S extends AnySchema> = Omit<ProcessorDefinition<S>, 'create'> & {
  create(config: ConfigOf<S>, host: Host): SeriesMap
}

export function defineSeriesProcessor<const S extends AnySchema>(
  definition: SeriesProcessorDefinition<S>,
): ProcessorDefinition<S> {
  return {
    ...definition,
    create: (config: unknown, host: Host, next: Next): Processor =>
      createSeriesProcessor(definition.create(config as ConfigOf<S>, host), host, next),
  }
}

/** For processors that do something beside what the function says. */
export function createSeriesProcessor(
  map: SeriesMap,
  host: Host,
  next: Next,
): Processor & Required<Pick<Processor, 'step' | 'release'>> {
  const planner = createPlanner(map)
  const countPlans = planCounter(planner, host.counters)
  const countFolded = host.counters.counter('gpucol_processor_folded_metric_points')
  const silence = createSilence()
  let hasWarned = false

  function countOutOfRange(byMetric: ReadonlyMap<Metric, number>): void {
    for (const [{ name }, amount] of byMetric) {
      host.counters.add('gpucol_processor_out_of_range_metric_points', amount, { metric: name })
    }
  }

  /** Once: whether that is meant does not change with every target. */
  function warnOfDuplicates({ output, folds }: Plan, source: Source): void {
    if (hasWarned || planner.counts.duplicates === 0) return
    hasWarned = true
    const { name } = metricAt(output, folds!.outputs[0]!)
    host.log.warn('several series became one: of these the first counts', { metric: name, source: source.name })
  }

  return {
    consume(batch) {
      if (batch.outcome !== 'ok') {
        if (batch.outcome === 'removed') planner.forget(batch.source)
        silence.broken(batch.source)
        return next(batch)
      }
      const plan = planner.planFor(batch.source, batch.layout)
      countPlans()
      if (columnCount(plan.output) > 0) silence.broken(batch.source)
      else if (silence.isRepeated(batch.source)) return
      if (plan.folds !== undefined) {
        warnOfDuplicates(plan, batch.source)
        countFolded(plan.folds.inputs.length)
      }
      const { batch: result, outOfRangeByMetric } = runPlan(plan, batch)
      if (outOfRangeByMetric !== undefined) countOutOfRange(outOfRangeByMetric)
      next(result)
    },
    step(source, layout) {
      const plan = planner.planFor(source, layout)
      countPlans()
      // What is folded is counted with every batch, and rare.
      return plan.folds === undefined ? { plan } : undefined
    },
    release(source) {
      // If it comes this way again, that nothing is left is said once more.
      silence.broken(source)
      return planner.release(source)
    },
  }
}

/**
 * Sources of which nothing is left. That is said once and not with every batch: where a pipeline keeps a few metrics of many targets, most
 * of what those behind it would do is to hear of nothing again.
 */
function createSilence(): { isRepeated(source: Source): boolean; broken(source: Source): void } {
  const silent = new Set<Source>()
  return {
    isRepeated(source) {
      if (silent.has(source)) return true
      silent.add(source)
      return false
    },
    broken(source) {
      if (silent.size > 0) silent.delete(source)
    },
  }
}

/** Counts what making plans has cost since it last did. */
function planCounter({ counts }: Planner, counters: Counters): () => void {
  let plans = 0
  let mapped = 0
  return () => {
    if (counts.plans > plans) counters.add('gpucol_processor_plans', counts.plans - plans)
    if (counts.mapped > mapped) counters.add('gpucol_processor_mapped_series', counts.mapped - mapped)
    plans = counts.plans
    mapped = counts.mapped
  }
}
