/** What travels the pipeline. Nobody writes into a batch that was handed on; who needs other numbers makes other columns. */
import { applyScale } from './scale.ts'
import { EMPTY_LAYOUT, scaleAt, type Layout } from './layout.ts'
import type { Labels } from './labels.ts'
import type { Origin } from './origin.ts'

/**
 * Where batches come from: one target of one receiver, one resource that pushes, one roll-up. Compared by identity: whoever
 * keeps state per source keeps it by this object.
 */
export type Source = {
  /** Id of the component that makes the batches. */
  readonly component: string
  /** What it is, in words that an operator knows: the URL of a target. */
  readonly name: string
  /** Labels of the source as a whole: `job`, `instance`. */
  readonly labels: Labels
  /** Of data that was pushed by OTLP: the resource and scope it came with. */
  readonly origin?: Origin
  /** The Kubernetes node the source speaks of, where that is known. */
  readonly node?: string
  /** Its series say what the model of the cluster already has from whoever makes them: nothing is learnt from them again. */
  readonly isModelled?: true
  /**
   * Of the graph alone: what it looked up for this source last, and who did. With every batch a Map would be asked the same, and it is far
   * from the processor by then.
   */
  memo?: { readonly owner: object } | undefined
}

/**
 * `ok`: the source was read. `failed`: it could not be, its series are unknown just now. `removed`: it is no more, and neither is
 * whatever was kept for it. Failed and removed come with the empty layout.
 */
export type Outcome = 'ok' | 'failed' | 'removed'

/** Ascending column numbers. */
export type Columns = Uint32Array

/** What one collection of one source saw at one moment. */
export type Batch = {
  readonly source: Source
  readonly timeMs: number
  readonly outcome: Outcome
  readonly layout: Layout
  /** As the source wrote them; the layout knows the scale that is still to be applied. */
  readonly values: Float64Array
  /** Columns without a usable sample this time; the layout stays. Their numbers mean nothing. */
  readonly absent?: Columns | undefined
  /** Where the source stamped its samples itself, in milliseconds; NaN where it did not. */
  readonly times?: Float64Array | undefined
  /** Where it said when a counter began, or, of metrics that are deltas, when the sample before was; milliseconds, NaN where it did not. */
  readonly starts?: Float64Array | undefined
}

const NO_VALUES = new Float64Array(0)

/** The batch that ends all series of a source. */
export function endBatch(source: Source, timeMs: number, outcome: 'failed' | 'removed'): Batch {
  return { source, timeMs, outcome, layout: EMPTY_LAYOUT, values: NO_VALUES }
}

/** How many samples a batch has, which is what the pipeline counts. The layout is not asked: it is far from the processor. */
export function pointCount({ values, absent }: Batch): number {
  return values.length - (absent?.length ?? 0)
}

/** Calls `visit` for every column that has a sample, with its true value. */
export function forEachSample(batch: Batch, visit: (column: number, value: number) => void): void {
  const { layout, values, absent } = batch
  let nextAbsent = 0
  for (let column = 0; column < values.length; column++) {
    if (absent !== undefined && absent[nextAbsent] === column) nextAbsent++
    else visit(column, applyScale(values[column]!, scaleAt(layout, column)))
  }
}
