/**
 * One series for all of a metric that are over a limit, for each source. Counters and buckets become the increases since they are over
 * it, because a sum of counters would fall whenever one of them goes, and be taken for a restart; gauges are added up. What makes no
 * sense in a sum (quantiles, information) is left out.
 */
import { endBatch, type Batch, type Source } from '../../pipeline/model/batch.ts'
import { carried } from '../../pipeline/model/carried.ts'
import { getLabel, labelsFrom, labelPairs, type Labels } from '../../pipeline/model/labels.ts'
import {
  columnCount,
  EMPTY_LAYOUT,
  labelsAt,
  layoutFromSeries,
  metricAt,
  scaleAt,
  type Layout,
} from '../../pipeline/model/layout.ts'
import { columnsOf } from '../../pipeline/model/plan.ts'
import { applyScale } from '../../pipeline/model/scale.ts'
import type { Metric, MetricType, Series } from '../../pipeline/model/series.ts'
import type { Admitted } from './admission.ts'

export type Overflow = {
  /** The batch that goes beside what is let through; undefined if there is and was nothing to say. */
  collapse(batch: Batch, admitted: Admitted): Batch | undefined
  /** The batch that ends the series of a source. */
  end(batch: Batch): Batch | undefined
}

type How = 'increase' | 'sum'
const HOW: Partial<Record<MetricType, How>> = {
  counter: 'increase',
  histogram: 'increase',
  gauge: 'sum',
  unknown: 'sum',
}

type State = {
  readonly source: Source
  admitted: Admitted
  layout: Layout
  /** For each column that is over the limit its outgoing column, -1 if it has none. */
  outputs: Int32Array
  /** The last value of each incoming column, NaN if there was none. */
  last: Float64Array
  /** Of each outgoing column. */
  totals: Float64Array
}

export function createOverflow(component: string, label: string): Overflow {
  const states = new Map<Source, State>()

  function seriesOf(source: Source, metric: Metric, labels: Labels): Series {
    const bound = getLabel(labels, 'le') ?? ''
    return { metric, labels: labelsFrom([...labelPairs(source.labels), ['le', bound], [label, 'true']]) }
  }

  function arrange(batch: Batch, admitted: Admitted, known: State | undefined): State {
    const { layout: input, refused } = admitted
    const numbers = new Map<Labels, Map<string, number>>()
    const series: Series[] = []
    const outputs = Int32Array.from(refused, column => {
      const metric = metricAt(input, column)
      if (HOW[metric.type] === undefined) return -1
      const one = seriesOf(batch.source, metric, labelsAt(input, column))
      let byName = numbers.get(one.labels)
      if (byName === undefined) numbers.set(one.labels, (byName = new Map()))
      if (!byName.has(metric.name)) byName.set(metric.name, series.push(one) - 1)
      return byName.get(metric.name)!
    })
    const layout = layoutFromSeries(series, known?.layout)
    const before = known && carried(known.admitted.layout, input)
    const last = new Float64Array(columnCount(input)).fill(NaN)
    for (const column of refused) {
      const from = before?.[column] ?? -1
      if (from >= 0) last[column] = known!.last[from]!
    }
    const outputsBefore = known && carried(known.layout, layout)
    const totals = Float64Array.from(series, (_, i) => {
      const from = outputsBefore?.[i] ?? -1
      return from < 0 ? 0 : known!.totals[from]!
    })
    const source = known?.source ?? {
      component,
      name: `over the limit: ${batch.source.name}`,
      labels: batch.source.labels,
    }
    return { source, admitted, layout, outputs, last, totals }
  }

  return {
    collapse(batch, admitted) {
      const known = states.get(batch.source)
      if (known === undefined && admitted.refused.length === 0) return undefined
      if (admitted.refused.length === 0) {
        states.delete(batch.source)
        return endBatch(known!.source, batch.timeMs, 'removed')
      }
      const state = known?.admitted === admitted ? known : arrange(batch, admitted, known)
      states.set(batch.source, state)
      return { ...added(batch, state), source: state.source }
    },
    end(batch) {
      const known = states.get(batch.source)
      if (known === undefined) return undefined
      if (batch.outcome === 'removed') states.delete(batch.source)
      return { ...batch, source: known.source, layout: EMPTY_LAYOUT }
    },
  }
}

function added(batch: Batch, { admitted, layout, outputs, last, totals }: State): Batch {
  const values = new Float64Array(columnCount(layout))
  const isThere = new Uint8Array(values.length)
  const absent = new Set(batch.absent)
  admitted.refused.forEach((column, i) => {
    const output = outputs[i]!
    const value = applyScale(batch.values[column]!, scaleAt(batch.layout, column))
    if (output < 0 || absent.has(column) || Number.isNaN(value)) return
    isThere[output] = 1
    if (HOW[metricAt(layout, output).type] === 'sum') values[output]! += value
    else {
      const before = last[column]!
      if (!Number.isNaN(before)) totals[output]! += value < before ? value : value - before
      last[column] = value
    }
  })
  for (let i = 0; i < values.length; i++) {
    if (HOW[metricAt(layout, i).type] === 'increase') values[i] = totals[i]!
  }
  const missing = columnsOf(isThere.map(flag => 1 - flag))
  return {
    source: batch.source,
    timeMs: batch.timeMs,
    outcome: 'ok',
    layout,
    values,
    ...(missing && { absent: missing }),
  }
}
