/** The series that the exporters have just now, each with its one value. */
import { forEachSample, type Batch, type Source } from '../model/batch.ts'
import { labelsAt, metricAt } from '../model/layout.ts'
import type { Labels } from '../model/labels.ts'
import type { ExportedState } from './exported-state.ts'
import { seriesText } from './series-text.ts'

export type LiveSeries = {
  readonly name: string
  readonly labels: Labels
  readonly text: string
  readonly value: number
  /** When the sample was taken, as its source said or else by the time of the batch. */
  readonly timeMs: number
  /** Somebody else has the series, too, and there can be only one value. */
  readonly rival?: { readonly value: number; readonly between: string }
}

/** By their text. */
export type Live = ReadonlyMap<string, LiveSeries>

/** Of all exporters together, or of one; `isWanted` is asked once per metric. */
export function liveSeries(
  state: ExportedState,
  isWanted: (name: string) => boolean,
  exporter?: string,
): Map<string, LiveSeries> {
  const all = new Map<string, LiveSeries>()
  for (const [id, batches] of state.batches) {
    if (exporter !== undefined && id !== exporter) continue
    for (const [text, series] of seriesOf(id, batches, isWanted)) {
      const known = all.get(text)
      if (known === undefined) all.set(text, series)
      else if (known.rival === undefined && (series.rival !== undefined || !Object.is(known.value, series.value))) {
        const rival = series.rival ?? { value: series.value, between: `exporter ${id} and another one` }
        all.set(text, { ...known, rival })
      }
    }
  }
  return all
}

function seriesOf(
  exporter: string,
  batches: ReadonlyMap<Source, Batch>,
  isWanted: (name: string) => boolean,
): Map<string, LiveSeries> {
  const own = new Map<string, LiveSeries & { source: Source }>()
  for (const [source, batch] of batches) {
    const wanted = batch.layout.metrics.map(({ name }) => isWanted(name))
    if (!wanted.includes(true)) continue
    forEachSample(batch, (column, value) => {
      if (!wanted[batch.layout.metricOf[column]!]) return
      const { name } = metricAt(batch.layout, column)
      const labels = labelsAt(batch.layout, column)
      const text = seriesText(name, labels)
      const known = own.get(text)
      if (known === undefined) {
        own.set(text, { name, labels, text, value, timeMs: timeOf(batch, column), source })
      } else if (known.rival === undefined) {
        const between = `${describe(known.source)} and ${describe(source)} in exporter ${exporter}`
        own.set(text, { ...known, rival: { value, between } })
      }
    })
  }
  return own
}

function timeOf({ times, timeMs }: Batch, column: number): number {
  const time = times?.[column] ?? NaN
  return Number.isNaN(time) ? timeMs : time
}

function describe({ component, name }: Source): string {
  return component === name ? name : `${component} ${name}`
}
