/**
 * Writes what it gets to the log, for people who look what a pipeline does.
 *
 * Of many batches in a second it shows the first few and then some, and says how many it left out.
 */
import { defineExporter, type ConfigSchema, type Log } from '../pipeline/component.ts'
import { forEachSample, pointCount, type Batch } from '../pipeline/model/batch.ts'
import { columnCount, metricAt } from '../pipeline/model/layout.ts'
import type { Metric } from '../pipeline/model/series.ts'
import { numberText } from '../pipeline/formats/render-number.ts'
import { renderText } from '../pipeline/formats/render-text.ts'

const config = {
  type: 'object',
  properties: {
    verbosity: {
      type: 'string',
      enum: ['basic', 'normal', 'detailed'],
      default: 'basic',
      description:
        '`basic`: a line for each batch. `normal`: one more for each metric. `detailed`: one for each series.',
    },
    sampling_initial: {
      type: 'integer',
      minimum: 1,
      default: 2,
      description: 'How many batches of each second are shown in any case.',
    },
    sampling_thereafter: {
      type: 'integer',
      minimum: 0,
      default: 500,
      description: 'Of the further batches of that second, every so manieth is shown; 0 shows none of them.',
    },
  },
} as const satisfies ConfigSchema

export const debug = defineExporter({
  type: 'debug',
  summary: 'Writes batches to the log.',
  config,
  example: { verbosity: 'detailed' },

  create({ verbosity, sampling_initial, sampling_thereafter }, { clock, log }) {
    let secondStartMs = -Infinity
    let inSecond = 0
    let leftOut = 0

    function isShown(): boolean {
      const nowMs = clock.monotonic()
      if (nowMs - secondStartMs >= 1000) {
        secondStartMs = nowMs
        inSecond = 0
      }
      inSecond++
      if (inSecond <= sampling_initial) return true
      return sampling_thereafter > 0 && (inSecond - sampling_initial) % sampling_thereafter === 0
    }

    return {
      consume(batch) {
        if (!isShown()) {
          leftOut++
          return
        }
        log.info(`batch from ${batch.source.name}: ${batch.outcome}`, {
          component: batch.source.component,
          series: columnCount(batch.layout),
          samples: pointCount(batch),
          left_out: leftOut === 0 ? undefined : leftOut,
        })
        leftOut = 0
        if (verbosity === 'normal') showMetrics(batch, log)
        if (verbosity === 'detailed') showSeries(batch, log)
      },
    }
  },
})

function showMetrics(batch: Batch, log: Log): void {
  const ranges = new Map<Metric, { samples: number; min: number; max: number }>()
  forEachSample(batch, (column, value) => {
    const metric = metricAt(batch.layout, column)
    const range = ranges.get(metric)
    if (range === undefined) ranges.set(metric, { samples: 1, min: value, max: value })
    else {
      range.samples++
      range.min = Math.min(range.min, value)
      range.max = Math.max(range.max, value)
    }
  })
  for (const [{ name, type }, { samples, min, max }] of ranges) {
    log.info(`${name} ${type}`, { samples, min: numberText(min), max: numberText(max) })
  }
}

function showSeries(batch: Batch, log: Log): void {
  const text = renderText([batch], { escaping: 'allow-utf-8', timestamps: batch.times !== undefined })
  for (const line of text.split('\n')) if (line !== '' && !line.startsWith('# HELP ')) log.info(line)
}
