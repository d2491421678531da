/**
 * `target_info`: what is known of a resource that pushes by OTLP, as labels of one series that has always the value 1, beside the `job`
 * and `instance` that its other series have.
 */
import { endBatch, type Batch, type Source } from '../../pipeline/model/batch.ts'
import type { Labels } from '../../pipeline/model/labels.ts'
import { layoutFromSeries } from '../../pipeline/model/layout.ts'
import { metricFrom } from '../../pipeline/model/series.ts'
import type { TranslationStrategy } from '../../pipeline/formats/prometheus-naming.ts'
import { targetLabels } from '../../pipeline/formats/resource-labels.ts'

const METRIC = metricFrom({ name: 'target_info', family: 'target', type: 'info', help: 'Target metadata' })
const ONE = Float64Array.of(1)
/** Often enough that a query finds it: Prometheus looks back five minutes. */
const AGAIN_MS = 60_000

type Info = {
  readonly source: Source
  readonly batch: Omit<Batch, 'timeMs'>
  sentMs: number
  readonly users: Set<Source>
}

export class TargetInfos {
  readonly #strategy: TranslationStrategy
  /** Several scopes of a resource are several sources. */
  readonly #byLabels = new Map<Labels, Info>()
  readonly #labelsOf = new WeakMap<Source, { readonly labels: Labels | undefined }>()

  constructor(strategy: TranslationStrategy) {
    this.#strategy = strategy
  }

  /** What this batch says about the resource of its source. */
  see({ source, outcome, timeMs }: Batch): Batch[] {
    const labels = this.#labels(source)
    if (labels === undefined) return []
    let info = this.#byLabels.get(labels)
    if (outcome !== 'ok') {
      info?.users.delete(source)
      if (info === undefined || info.users.size > 0) return []
      this.#byLabels.delete(labels)
      return [endBatch(info.source, timeMs, 'removed')]
    }
    if (info === undefined) this.#byLabels.set(labels, (info = infoOf(source, labels)))
    info.users.add(source)
    if (timeMs - info.sentMs < AGAIN_MS) return []
    info.sentMs = timeMs
    return [{ ...info.batch, timeMs }]
  }

  #labels(source: Source): Labels | undefined {
    let known = this.#labelsOf.get(source)
    if (known === undefined) {
      known = { labels: targetLabels(source.origin!.resource.attributes, this.#strategy) }
      this.#labelsOf.set(source, known)
    }
    return known.labels
  }
}

function infoOf({ component, name }: Source, labels: Labels): Info {
  const source: Source = { component, name: `target_info of ${name}`, labels }
  const layout = layoutFromSeries([{ metric: METRIC, labels }])
  return { source, batch: { source, outcome: 'ok', layout, values: ONE }, sentMs: -Infinity, users: new Set() }
}
