/** Makes a batch of Prometheus text, so that a test can show its input as readers know it. */
import { labelsFrom } from '../../pipeline/model/labels.ts'
import { columnCount, layoutFromSeries, seriesAt } from '../../pipeline/model/layout.ts'
import type { Batch, Source } from '../../pipeline/model/batch.ts'
import { createTextReader } from '../../pipeline/formats/prometheus-text.ts'
import type { Dialect } from '../../pipeline/formats/sample-line.ts'

export type BatchFromTextOptions = {
  source?: Source
  timeMs?: number
  /** The batch that came before it: same source, and the same layout where the series are the same. */
  after?: Batch
  dialect?: Dialect
}

/** Refuses text with a bad line or a series that comes twice. Indentation does not matter. */
export function batchFromText(text: string, options: BatchFromTextOptions = {}): Batch {
  const { after, dialect = 'text' } = options
  const reader = createTextReader()
  reader.begin(dialect)
  reader.push(Buffer.from(text))
  const { layout, values, times, starts, problem, duplicates } = reader.finish()
  if (problem !== undefined) throw new Error(`the text of the test has a bad line: ${problem}`)
  if (duplicates > 0) throw new Error('the text of the test has a series twice')
  const series = Array.from({ length: columnCount(layout) }, (_, column) => seriesAt(layout, column))
  return {
    source: options.source ?? after?.source ?? createSource(),
    timeMs: options.timeMs ?? (after === undefined ? 0 : after.timeMs + 15_000),
    outcome: 'ok',
    layout: layoutFromSeries(series, after?.layout),
    values,
    ...(times && { times }),
    ...(starts && { starts }),
  }
}

export function createSource(
  name = 'http://node-a:9400/metrics',
  labels: Readonly<Record<string, string>> = {},
): Source {
  return { component: 'test', name, labels: labelsFrom(Object.entries(labels)) }
}
