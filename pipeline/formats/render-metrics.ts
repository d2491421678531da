/** The metrics that are being shown: their names as bytes, and the places that the two syntaxes give them. */
import type { Metric } from '../model/series.ts'
import { placeOf, type Place, type Syntax } from './render-families.ts'
import { quotedIfNeeded, SLACK } from './render-labels.ts'
import { escapeMetricName, isPlainMetricName, type Escaping } from './render-names.ts'

/** A metric in use, one object for all layouts that have it. */
export type ShownMetric = {
  readonly metric: Metric
  /** The name of its samples as readers see it. */
  readonly name: string
  /**
   * What stands before a label block of which the first `skip` bytes are left out, and what stands before the value where there
   * are no labels: a name in quotes stands inside the braces. Padded, like label blocks.
   */
  readonly prefix: DataView
  readonly prefixLength: number
  readonly skip: number
  readonly alone: DataView
  readonly aloneLength: number
  readonly places: Readonly<Record<Syntax, Place>>
  /** How many layouts have it. */
  uses: number
}

export type MetricStyle = { readonly escaping: Escaping; readonly namespace: string }

export class ShownMetrics {
  /** In the order in which they were first seen, which is the order in which they win conflicts. */
  readonly #metrics = new Map<Metric, ShownMetric>()
  readonly #style: MetricStyle
  /** Grows when a metric comes or goes. */
  version = 0

  constructor(style: MetricStyle) {
    this.#style = style
  }

  use(metric: Metric): ShownMetric {
    let shown = this.#metrics.get(metric)
    if (shown === undefined) {
      this.#metrics.set(metric, (shown = show(metric, this.#style)))
      this.version++
    }
    shown.uses++
    return shown
  }

  release(shown: ShownMetric): void {
    if (--shown.uses > 0) return
    this.#metrics.delete(shown.metric)
    this.version++
  }

  values(): Iterable<ShownMetric> {
    return this.#metrics.values()
  }
}

function show(metric: Metric, { escaping, namespace }: MetricStyle): ShownMetric {
  const expose = (name: string): string => escapeMetricName(namespace === '' ? name : `${namespace}_${name}`, escaping)
  const place = (syntax: Syntax): Place => {
    const { family, type } = placeOf(metric, syntax)
    return { family: expose(family), type }
  }
  const name = expose(metric.name)
  const written = quotedIfNeeded(name, isPlainMetricName)
  const quoted = written !== name
  const prefix = Buffer.from(quoted ? `{${written},` : written)
  const alone = Buffer.from(quoted ? `{${written}} ` : `${written} `)
  return {
    metric,
    name,
    prefix: padded(prefix),
    prefixLength: prefix.length,
    skip: quoted ? 1 : 0,
    alone: padded(alone),
    aloneLength: alone.length,
    places: { text: place('text'), openmetrics: place('openmetrics') },
    uses: 0,
  }
}

function padded(bytes: Uint8Array): DataView {
  const copy = new Uint8Array(bytes.length + SLACK)
  copy.set(bytes)
  return new DataView(copy.buffer)
}
