/** The metrics that are being shown: their names as bytes, and the places that the two syntaxes give them. */
import type { Metric } from '../model/series.ts'
import { placeOf, type Place, type Syntax } from './render-families.ts'
import { quotedIfNeeded, SLACK } from './render-labels.ts'
import { escapeMetricName, isPlainMetricName, type Escaping } from './render-names.ts'
import { translateMetric, type TranslationStrategy } from './prometheus-naming.ts'

/** A metric in use, one object for all layouts that have it. */
export type ShownMetric = {
  readonly metric: Metric
  /** The name of its samples as readers see it; empty where none is left of it, and then it is not shown. */
  readonly name: string
  readonly unit: string
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
  /** Unique among the metrics that are shown. */
  readonly number: number
}

export type MetricStyle = {
  readonly escaping: Escaping
  readonly namespace: string
  /** For names that came by OTLP. */
  readonly strategy: TranslationStrategy
}

/** The metrics of a layout; one object for all layouts that have the same ones in the same order. */
export type MetricList = {
  readonly shown: readonly ShownMetric[]
  /** Whether two of them have one name once they are escaped. */
  readonly namesCollide: boolean
  readonly groups: Readonly<Record<Syntax, MetricGroups>>
}

/** Metrics that have one place are one group; `groupOf` says for each metric which. */
export type MetricGroups = { readonly groupOf: Uint32Array; readonly members: readonly (readonly ShownMetric[])[] }

export class ShownMetrics {
  /** In the order in which they were first seen, which is the order in which they win conflicts. */
  readonly #metrics = new Map<Metric, ShownMetric & { uses: number }>()
  readonly #lists = new Map<string, MetricList & { key: string; uses: number }>()
  readonly #style: MetricStyle
  #made = 0

  constructor(style: MetricStyle) {
    this.#style = style
  }

  use(metrics: readonly Metric[]): MetricList {
    const shown = metrics.map(metric => this.#show(metric))
    const key = shown.map(({ number }) => number).join(' ')
    let list = this.#lists.get(key)
    if (list === undefined) {
      for (const one of shown) one.uses++
      this.#lists.set(key, (list = { ...listOf(shown), key, uses: 0 }))
    }
    list.uses++
    return list
  }

  release(list: MetricList): void {
    const held = list as MetricList & { key: string; uses: number }
    if (--held.uses > 0) return
    this.#lists.delete(held.key)
    for (const shown of held.shown) {
      const metric = this.#metrics.get(shown.metric)!
      if (--metric.uses === 0) this.#metrics.delete(shown.metric)
    }
  }

  values(): Iterable<ShownMetric> {
    return this.#metrics.values()
  }

  #show(metric: Metric): ShownMetric & { uses: number } {
    let shown = this.#metrics.get(metric)
    if (shown === undefined) {
      this.#metrics.set(metric, (shown = { ...show(metric, this.#style), number: this.#made++, uses: 0 }))
    }
    return shown
  }
}

function listOf(shown: readonly ShownMetric[]): MetricList {
  return {
    shown,
    namesCollide: hasDoubles(shown.map(({ name }) => name).filter(name => name !== '')),
    groups: { text: groupMetrics(shown, 'text'), openmetrics: groupMetrics(shown, 'openmetrics') },
  }
}

function hasDoubles(names: readonly string[]): boolean {
  return new Set(names).size < names.length
}

function groupMetrics(shown: readonly ShownMetric[], syntax: Syntax): MetricGroups {
  const groupOf = new Uint32Array(shown.length)
  const members: ShownMetric[][] = []
  const groups = new Map<string, number>()
  for (const [i, metric] of shown.entries()) {
    const { family, type } = metric.places[syntax]
    const key = `${type} ${family}`
    let group = groups.get(key)
    if (group === undefined) {
      groups.set(key, (group = members.length))
      members.push([])
    }
    groupOf[i] = group
    members[group]!.push(metric)
  }
  return { groupOf, members }
}

function show(metric: Metric, style: MetricStyle): Omit<ShownMetric, 'number'> {
  const { escaping } = style
  const named = nameFor(metric, style)
  const place = (syntax: Syntax): Place => {
    const { family, type } = placeOf(named, syntax)
    return { family: escapeMetricName(family, escaping), type }
  }
  const name = escapeMetricName(named.name, escaping)
  const written = quotedIfNeeded(name, isPlainMetricName)
  const quoted = written !== name
  const prefix = Buffer.from(quoted ? `{${written},` : written)
  const alone = Buffer.from(quoted ? `{${written}} ` : `${written} `)
  return {
    metric,
    name,
    unit: named.unit,
    prefix: padded(prefix),
    prefixLength: prefix.length,
    skip: quoted ? 1 : 0,
    alone: padded(alone),
    aloneLength: alone.length,
    places: { text: place('text'), openmetrics: place('openmetrics') },
  }
}

/** The metric by the name that it has here, whatever the scraper can read. */
function nameFor(metric: Metric, { namespace, strategy }: MetricStyle): Metric {
  if (metric.isOtel === true) {
    return { ...metric, ...(translateMetric(metric, { strategy, namespace }) ?? { name: '', family: '' }) }
  }
  if (namespace === '') return metric
  return { ...metric, name: `${namespace}_${metric.name}`, family: `${namespace}_${metric.family}` }
}

function padded(bytes: Uint8Array): DataView {
  const copy = new Uint8Array(bytes.length + SLACK)
  copy.set(bytes)
  return new DataView(copy.buffer)
}
