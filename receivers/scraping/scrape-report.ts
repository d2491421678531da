/**
 * `up` and its siblings: what a scrape says about itself. They are a source of their own, because they are there when the
 * target's series are not.
 */
import type { Batch, Source } from '../../pipeline/model/batch.ts'
import { createLayout, type Layout } from '../../pipeline/model/layout.ts'
import { metricFrom } from '../../pipeline/model/series.ts'

export type ScrapeReport = {
  readonly up: boolean
  readonly durationSeconds: number
  readonly samples: number
  /** What is left of the samples when relabelling and duplicates are through. */
  readonly kept: number
  readonly added: number
  /** -1 if the body was larger than the limit. */
  readonly bodyBytes: number
  readonly timeoutSeconds: number
}

/** The names and meanings are those of Prometheus. */
const SERIES: readonly (readonly [name: string, help: string])[] = [
  ['up', '1 if the target could be scraped, else 0.'],
  ['scrape_duration_seconds', 'How long the scrape took.'],
  ['scrape_samples_scraped', 'Samples that the target exposed.'],
  ['scrape_samples_post_metric_relabeling', 'Samples that were left after relabelling.'],
  ['scrape_series_added', 'Series that the previous scrape did not have.'],
  ['scrape_body_size_bytes', 'Size of the body; -1 if it was above the limit.'],
  ['scrape_timeout_seconds', 'How long the scrape might have taken.'],
]

const METRICS = SERIES.map(([name, help]) => metricFrom({ name, type: 'gauge', help }))
const METRIC_OF = Uint32Array.from(SERIES, (_, column) => column)
const LABELS_OF = new Uint32Array(SERIES.length)

/** The series of the reports on one target. */
export function reportLayout({ labels }: Source): Layout {
  return createLayout({ metrics: METRICS, labels: [labels], metricOf: METRIC_OF, labelsOf: LABELS_OF })
}

export function reportBatch(source: Source, layout: Layout, timeMs: number, report: ScrapeReport): Batch {
  // Always with all fields: this is made for every scrape.
  return {
    source,
    timeMs,
    outcome: 'ok',
    layout,
    values: valuesOf(report),
    absent: undefined,
    times: undefined,
    starts: undefined,
  }
}

function valuesOf(report: ScrapeReport): Float64Array {
  const values = new Float64Array(SERIES.length)
  values[0] = report.up ? 1 : 0
  values[1] = report.durationSeconds
  values[2] = report.samples
  values[3] = report.kept
  values[4] = report.added
  values[5] = report.bodyBytes
  values[6] = report.timeoutSeconds
  return values
}
