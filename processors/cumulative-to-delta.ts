/**
 * Turns counters and histograms, which count from their beginning, into increases since the sample before, for receivers of data that
 * want deltas.
 *
 * Place it last, in a pipeline of its own whose exporters send deltas: what comes after it must know what an increase is. `prometheus`
 * shows increases as gauges.
 */
import { defineProcessor, type ConfigSchema } from '../pipeline/component.ts'
import { duration, parseDuration } from '../pipeline/config/fields.ts'
import type { Source } from '../pipeline/model/batch.ts'
import type { SeriesMap } from '../pipeline/model/label-processor.ts'
import { createPlanner } from '../pipeline/model/planner.ts'
import { metricFrom, type Metric, type MetricType } from '../pipeline/model/series.ts'
import { checkSelectors, compileSelectors, selectors } from '../pipeline/relabel/select-series.ts'
import { deltasOf, knownFor, park, type Known } from './cumulative-to-delta/deltas.ts'
import { createParked } from './cumulative-to-delta/parked.ts'

const config = {
  type: 'object',
  properties: {
    match: selectors(
      'Selectors of the counters and histograms that are converted, as in PromQL; all of them where there is none. Everything else goes on as it is.',
    ),
    max_staleness: duration(
      'How long a series may be away: after that its next value is a first one again, and memory of it is gone.',
      '1h',
    ),
    initial_value: {
      type: 'string',
      enum: ['auto', 'drop', 'keep'],
      default: 'auto',
      description:
        'What becomes of the first value of a series: its increase is not known, so it is dropped, or kept as if it were the increase. `auto` keeps it where the source says that the counter began after this processor.',
    },
  },
  additionalProperties: false,
} as const satisfies ConfigSchema

const CONVERTED: ReadonlySet<MetricType> = new Set<MetricType>(['counter', 'histogram'])

/** How often it is looked for series that are away for too long. */
const EXPIRE_MS = 60_000

export const cumulativeToDelta = defineProcessor({
  type: 'cumulative_to_delta',
  aliases: ['cumulativetodelta'],
  summary: 'Turns counters and histograms into increases since the sample before.',
  config,
  example: { match: ['{__name__=~"DCGM_.*"}'], max_staleness: '30m' },
  check({ match, max_staleness }) {
    const problems = checkSelectors(match, ['match'])
    if (parseDuration(max_staleness) > 0) return problems
    return [...problems, { path: ['max_staleness'], message: 'must be above 0: memory of series that end would grow' }]
  },

  create({ match, max_staleness, initial_value }, host, next) {
    const { clock, counters, log } = host
    const planner = createPlanner(markDeltas(match))
    const store = host.storage.state([host.id, host.pipeline ?? ''].join(' '))
    const knownBySource = new Map<Source, Known>()
    const parked = createParked()
    const createdMs = clock.now()
    const options = {
      parked,
      maxStalenessMs: parseDuration(max_staleness),
      isWhole: (startMs: number) =>
        initial_value === 'keep' || (initial_value === 'auto' && startMs >= createdMs && startMs <= clock.now()),
    }
    let isStarted = false
    let cancelTimer = (): void => {}

    function expire(): void {
      cancelTimer = clock.after(EXPIRE_MS, expire)
      parked.expire(clock.now() - options.maxStalenessMs)
    }

    function forget(source: Source): void {
      planner.forget(source)
      const known = knownBySource.get(source)
      if (known !== undefined) park(known, parked)
      knownBySource.delete(source)
    }

    return {
      async start() {
        try {
          await parked.load(store)
        } catch (error) {
          log.warn(`starting without the last values of counters: ${(error as Error).message}`)
        }
        isStarted = true
        expire()
      },
      consume(batch) {
        const { source, layout } = batch
        if (batch.outcome === 'removed') forget(source)
        if (batch.outcome !== 'ok') return next(batch)
        const before = knownFor(layout, planner.planFor(source, layout).output, knownBySource.get(source), parked)
        // Until it is loaded what is known, nothing is learnt: the first increase after that covers the time before.
        const learn = (known: Known) => void (isStarted && knownBySource.set(source, known))
        learn(before)
        if (before.counters.columns.length === 0) return next(batch)
        const { batch: deltas, known, resets, undetermined } = deltasOf(batch, before, options)
        // Who does not take the batch gets its increases with the next one.
        next(deltas)
        learn(known)
        if (resets > 0) counters.add('gpucol_processor_resets', resets)
        for (const [reason, amount] of undetermined) {
          counters.add('gpucol_processor_undetermined_metric_points', amount, { reason })
        }
      },
      async stop() {
        cancelTimer()
        if (!isStarted) return
        isStarted = false
        for (const known of knownBySource.values()) park(known, parked)
        parked.expire(clock.now() - options.maxStalenessMs)
        try {
          await parked.save(store)
        } catch (error) {
          log.warn(`the last values of counters are lost: ${(error as Error).message}`)
        }
      },
      describe: () => `${match.length === 0 ? 'all counters' : 'some counters'} as increases`,
    }
  },
})

function markDeltas(match: readonly string[]): SeriesMap {
  const selector = compileSelectors(match)
  const mark = (metric: Metric): Metric =>
    CONVERTED.has(metric.type) && metric.isDelta !== true ? metricFrom({ ...metric, isDelta: true }) : metric
  if (match.length === 0) return { by: 'metric', map: metric => [{ metric: mark(metric) }] }
  return {
    by: 'series',
    map: series => [selector.selects(series) ? { metric: mark(series.metric), labels: series.labels } : series],
  }
}
