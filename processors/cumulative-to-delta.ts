/**
 * Turns counters and histograms, which count from their beginning, into increases since the sample before, for receivers of data that
 * want deltas.
 *
 * Place it last, in a pipeline of its own whose exporters send deltas: what comes after it must know what an increase is. `prometheus`
 * shows increases as gauges.
 */
import { defineProcessor, type ConfigSchema } from '../pipeline/component.ts'
import { duration, parseDuration } from '../pipeline/config/fields.ts'
import { asDelta, createDeltaConversion } from '../pipeline/deltas/delta-conversion.ts'
import type { SeriesMap } from '../pipeline/model/label-processor.ts'
import { checkSelectors, compileSelectors, selectors } from '../pipeline/relabel/select-series.ts'

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
    const { counters } = host
    const conversion = createDeltaConversion(host, {
      storeName: [host.id, host.pipeline ?? ''].join(' '),
      mark: markDeltas(match),
      maxStalenessMs: parseDuration(max_staleness),
      initialValue: initial_value,
      resets: count => counters.add('gpucol_processor_resets', count),
      undetermined: (reason, points) => counters.add('gpucol_processor_undetermined_metric_points', points, { reason }),
    })
    return {
      start: () => conversion.start(),
      consume: batch => conversion.convert(batch, next),
      stop: () => conversion.stop(),
      describe: () => `${match.length === 0 ? 'all counters' : 'some counters'} as increases`,
    }
  },
})

function markDeltas(match: readonly string[]): SeriesMap {
  const selector = compileSelectors(match)
  if (match.length === 0) return { by: 'metric', map: metric => [{ metric: asDelta(metric) }] }
  return {
    by: 'series',
    map: series => [selector.selects(series) ? { metric: asDelta(series.metric), labels: series.labels } : series],
  }
}
