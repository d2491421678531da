/** `target_info`: one series for each resource whose data was pushed, with its attributes as labels. */
import type { Batch, Source } from '../../pipeline/model/batch.ts'
import type { Labels } from '../../pipeline/model/labels.ts'
import { layoutFromSeries, type Layout } from '../../pipeline/model/layout.ts'
import { metricFrom } from '../../pipeline/model/series.ts'
import type { TranslationStrategy } from '../../pipeline/formats/prometheus-naming.ts'
import { targetLabels } from '../../pipeline/formats/resource-labels.ts'
import { EMPTY_LABELS } from '../../pipeline/model/labels.ts'

const METRIC = metricFrom({ name: 'target_info', family: 'target', type: 'info', help: 'Target metadata' })

export class TargetInfo {
  readonly #source: Source
  readonly #strategy: TranslationStrategy
  readonly #labels = new WeakMap<Source, { readonly labels: Labels | undefined }>()
  #layout: Layout | undefined

  constructor(component: string, strategy: TranslationStrategy) {
    this.#source = { component, name: 'target_info', labels: EMPTY_LABELS }
    this.#strategy = strategy
  }

  /** Of the sources of these batches; undefined where none of them was pushed. */
  batch(batches: readonly Batch[]): Batch | undefined {
    // The same resource may have several scopes, each of them a source.
    const timesByLabels = new Map<Labels, number>()
    for (const { source, outcome, timeMs } of batches) {
      const labels = outcome === 'ok' ? this.#labelsOf(source) : undefined
      if (labels !== undefined) timesByLabels.set(labels, Math.max(timeMs, timesByLabels.get(labels) ?? -Infinity))
    }
    if (timesByLabels.size === 0) return undefined
    const series = Array.from(timesByLabels.keys(), labels => ({ metric: METRIC, labels }))
    const layout = (this.#layout = layoutFromSeries(series, this.#layout))
    const times = Float64Array.from(timesByLabels.values())
    const values = new Float64Array(series.length).fill(1)
    return { source: this.#source, timeMs: times[0]!, outcome: 'ok', layout, values, times }
  }

  #labelsOf(source: Source): Labels | undefined {
    const { origin } = source
    if (origin === undefined) return undefined
    let known = this.#labels.get(source)
    if (known === undefined) {
      known = { labels: targetLabels(origin.resource.attributes, this.#strategy) }
      this.#labels.set(source, known)
    }
    return known.labels
  }
}
