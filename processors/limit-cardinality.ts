/**
 * Lets no more series through than allowed, of each metric and in all: one label with a mistake in it does not fill the storage behind.
 *
 * Place it last, so that it counts what is exported; before `roll_up` it would make sums too small.
 */
import { defineProcessor, type ConfigSchema } from '../pipeline/component.ts'
import { pointCount } from '../pipeline/model/batch.ts'
import { runPlan } from '../pipeline/model/plan.ts'
import { createAdmission } from './limit-cardinality/admission.ts'
import { Budget } from './limit-cardinality/budget.ts'
import { createOverflow } from './limit-cardinality/overflow.ts'

const config = {
  type: 'object',
  properties: {
    per_metric: {
      type: 'integer',
      minimum: 0,
      default: 0,
      description:
        'How many series a metric may have, over all sources; 0 is no limit. Each part of a histogram is a series, and a histogram is let through as a whole or not at all.',
    },
    metrics: {
      type: 'object',
      additionalProperties: { type: 'integer', minimum: 1 },
      default: {},
      description: 'Other limits for single metrics, by name; that of a histogram is the one without `_bucket`.',
    },
    total: {
      type: 'integer',
      minimum: 0,
      default: 0,
      description: 'How many series there may be in all; 0 is no limit. A series that two sources have counts twice.',
    },
    action: {
      type: 'string',
      enum: ['drop', 'collapse'],
      default: 'drop',
      description:
        'What becomes of series over a limit: they are dropped, or become one series for each metric and source, with the labels of the source and `overflow_label`. That one has the increases of counters and histograms since they are over the limit, and the sum of gauges; other types are dropped.',
    },
    overflow_label: {
      type: 'string',
      minLength: 1,
      default: 'gpucol_overflow',
      description: 'The label, with the value `true`, of series that others were collapsed into.',
    },
  },
  additionalProperties: false,
} as const satisfies ConfigSchema

export const limitCardinality = defineProcessor({
  type: 'limit_cardinality',
  summary: 'Limits how many series there are, of each metric and in all.',
  config,
  example: { per_metric: 10_000, metrics: { up: 50_000 }, total: 1_000_000, action: 'collapse' },
  check({ per_metric, metrics, total }) {
    const single = Object.entries(metrics)
    if (per_metric === 0 && total === 0 && single.length === 0) {
      return [{ path: [], message: 'there is no limit: one of `per_metric`, `metrics` and `total` is needed' }]
    }
    return total === 0
      ? []
      : [['per_metric', per_metric] as const, ...single]
          .filter(([, limit]) => limit > total)
          .map(([name, limit]) => ({
            path: name === 'per_metric' ? [name] : ['metrics', name],
            message: `${limit} series are more than the ${total} that \`total\` allows`,
          }))
  },

  create({ per_metric, metrics, total, action, overflow_label }, { id, log, counters }, next) {
    const budget = new Budget({
      total: total || Infinity,
      perMetric: per_metric || Infinity,
      ofMetric: new Map(Object.entries(metrics)),
    })
    const admission = createAdmission(budget, log)
    const overflow = action === 'collapse' ? createOverflow(id, overflow_label) : undefined
    let unobserve = (): void => {}

    return {
      start() {
        const endings = [
          counters.observe('gpucol_processor_limited_series', () =>
            Array.from(budget.groups.values())
              .filter(({ over }) => over > 0)
              .map(({ name, over }) => ({ value: over, labels: { metric: name } })),
          ),
          counters.observe('gpucol_processor_admitted_series', () => [{ value: budget.used }]),
        ]
        unobserve = () => endings.forEach(end => end())
      },
      consume(batch) {
        if (batch.outcome === 'removed') admission.forget(batch.source)
        if (batch.outcome !== 'ok') {
          next(batch)
          const end = overflow?.end(batch)
          if (end !== undefined) next(end)
          return
        }
        const admitted = admission.admit(batch.source, batch.layout)
        const { batch: kept } = runPlan(admitted.plan, batch)
        const limited = pointCount(batch) - pointCount(kept)
        if (limited > 0) counters.add('gpucol_processor_limited_metric_points', limited)
        next(kept)
        const collapsed = overflow?.collapse(batch, admitted)
        if (collapsed !== undefined) next(collapsed)
      },
      stop: () => unobserve(),
    }
  },
})
