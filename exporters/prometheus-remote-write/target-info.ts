/**
 * `target_info`: what is known of a resource that pushes by OTLP, as labels of one series that has always the value 1, beside the `job`
 * and `instance` that its other series have.
 */
import { endBatch, type Batch, type Source } from '../../pipeline/model/batch.ts'
import { EMPTY_LABELS, labelPairs, labelsFrom, type Labels } from '../../pipeline/model/labels.ts'
import { layoutFromSeries } from '../../pipeline/model/layout.ts'
import type { AttributeValue, Attributes } from '../../pipeline/model/origin.ts'
import { metricFrom } from '../../pipeline/model/series.ts'
import { translateLabels, type TranslationStrategy } from '../../pipeline/formats/prometheus-naming.ts'

const METRIC = metricFrom({ name: 'target_info', type: 'gauge', help: 'Target metadata' })
const ONE = Float64Array.of(1)
/** What `job` and `instance` are made from. */
const IDENTITY: ReadonlySet<string> = new Set(['service.name', 'service.namespace', 'service.instance.id'])
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
  readonly #labelsOf = new WeakMap<Source, Labels>()

  constructor(strategy: TranslationStrategy) {
    this.#strategy = strategy
  }

  /** What this batch says about the resource of its source. */
  see({ source, outcome, timeMs }: Batch): Batch[] {
    const labels = this.#labels(source)
    if (labels === EMPTY_LABELS) return []
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

  /** Of a resource of which nothing more is known than what it is called, there is nothing to say. */
  #labels(source: Source): Labels {
    let labels = this.#labelsOf.get(source)
    if (labels === undefined) {
      const own = translateLabels(labelsOfAttributes(source.origin!.resource.attributes), this.#strategy)
      const identity = labelPairs(source.labels).filter(([name]) => name === 'job' || name === 'instance')
      const isKnown = own.names.length > 0 && identity.length > 0
      labels = isKnown ? labelsFrom([...labelPairs(own), ...identity]) : EMPTY_LABELS
      this.#labelsOf.set(source, labels)
    }
    return labels
  }
}

function infoOf({ component, name }: Source, labels: Labels): Info {
  const source: Source = { component, name: `target_info of ${name}`, labels }
  const layout = layoutFromSeries([{ metric: METRIC, labels }])
  return { source, batch: { source, outcome: 'ok', layout, values: ONE }, sentMs: -Infinity, users: new Set() }
}

function labelsOfAttributes(attributes: Attributes): Labels {
  return labelsFrom(
    Array.from(attributes)
      .filter(([name]) => !IDENTITY.has(name))
      .map(([name, value]) => [name, attributeText(value)] as const),
  )
}

/** As the Collector writes them. */
function attributeText(value: AttributeValue): string {
  if (value === null) return ''
  if (typeof value === 'string') return value
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64')
  return typeof value === 'object' ? JSON.stringify(value, plain) : String(value)
}

function plain(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value)
  return value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value
}
