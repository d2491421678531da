/** The metrics that are being shown: their names as bytes, and the places that the two syntaxes give them. */
import type { Metric } from '../model/series.ts'
import { createdFamily, placeAlone, placeOf, type Place, type Syntax } from './render-families.ts'
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
  /** Where it is written if that is not possible. */
  readonly placesAlone: Readonly<Record<Syntax, Place>>
  /** The family that it belongs to in OpenMetrics if there is one with such a part. */
  readonly createdOf: string | undefined
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
  /** As of the last plan. */
  readonly groups: { [S in Syntax]?: MetricGroups }
}

/** Metrics that are written in one family are one group; `groupOf` says for each metric which. */
export type MetricGroups = { readonly groupOf: Uint32Array; readonly members: readonly (readonly ShownMetric[])[] }

export class ShownMetrics {
  /** In the order in which they were first seen, which is the order in which they win conflicts. */
  readonly #metrics = new Map<Metric, ShownMetric & { uses: number }>()
  readonly #lists = new Map<string, MetricList & { key: string; uses: number }>()
  /** By name as readers see it, how many sources have it. */
  readonly #sources = new Map<string, number>()
  readonly #style: MetricStyle
  #made = 0

  constructor(style: MetricStyle) {
    this.#style = style
  }

  /** For a source, which releases it when it has others. */
  use(metrics: readonly Metric[]): MetricList {
    const shown = metrics.map(metric => this.#show(metric))
    const key = shown.map(({ number }) => number).join(' ')
    let list = this.#lists.get(key)
    if (list === undefined) {
      for (const one of shown) one.uses++
      this.#lists.set(key, (list = { ...listOf(shown), key, uses: 0 }))
    }
    list.uses++
    for (const { name } of shown) this.#sources.set(name, (this.#sources.get(name) ?? 0) + 1)
    return list
  }

  /** Whether several sources have a metric of that list by its name, or one of them two. */
  isShared({ shown }: MetricList): boolean {
    return shown.some(({ name }) => this.#sources.get(name)! > 1)
  }

  release(list: MetricList): void {
    const held = list as MetricList & { key: string; uses: number }
    for (const { name } of held.shown) {
      const sources = this.#sources.get(name)! - 1
      if (sources === 0) this.#sources.delete(name)
      else this.#sources.set(name, sources)
    }
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
  const names = shown.map(({ name }) => name).filter(name => name !== '')
  return { shown, namesCollide: new Set(names).size < names.length, groups: {} }
}

/** By the family that each metric is in. The same object as before while that is so, since the order of columns hangs on it. */
export function groupMetrics(
  { shown, groups }: MetricList,
  syntax: Syntax,
  familyOf: ReadonlyMap<ShownMetric, unknown>,
): MetricGroups {
  const groupOf = new Uint32Array(shown.length)
  const members: ShownMetric[][] = []
  const numbers = new Map<unknown, number>()
  for (const [i, metric] of shown.entries()) {
    const family = familyOf.get(metric)
    let group = numbers.get(family)
    if (group === undefined) {
      numbers.set(family, (group = members.length))
      members.push([])
    }
    groupOf[i] = group
    members[group]!.push(metric)
  }
  const before = groups[syntax]
  if (before !== undefined && before.groupOf.every((group, i) => group === groupOf[i])) return before
  return (groups[syntax] = { groupOf, members })
}

function show(metric: Metric, style: MetricStyle): Omit<ShownMetric, 'number'> {
  const { escaping } = style
  const named = nameFor(metric, style)
  const escaped = ({ family, type }: Place): Place => ({ family: escapeMetricName(family, escaping), type })
  const name = escapeMetricName(named.name, escaping)
  const created = createdFamily(named)
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
    places: { text: escaped(placeOf(named, 'text')), openmetrics: escaped(placeOf(named, 'openmetrics')) },
    placesAlone: { text: escaped(placeAlone(named, 'text')), openmetrics: escaped(placeAlone(named, 'openmetrics')) },
    createdOf: created === undefined ? undefined : escapeMetricName(created, escaping),
  }
}

/** The metric by the name that it has here, whatever the scraper can read. */
function nameFor(metric: Metric, { namespace, strategy }: MetricStyle): Metric {
  if (metric.isOtel === true) {
    return { ...metric, ...(translateMetric(metric, { strategy, namespace }) ?? { name: '', family: '' }) }
  }
  if (namespace === '') return metric
  // The label of a stateset is called like its family, and would no longer be.
  const type = metric.type === 'stateset' ? 'gauge' : metric.type
  return { ...metric, type, name: `${namespace}_${metric.name}`, family: `${namespace}_${metric.family}` }
}

function padded(bytes: Uint8Array): DataView {
  const copy = new Uint8Array(bytes.length + SLACK)
  copy.set(bytes)
  return new DataView(copy.buffer)
}
