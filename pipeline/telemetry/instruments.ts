/**
 * The rows of the table as OpenTelemetry instruments.
 *
 * Counts are kept here, as plain numbers, and shown to the SDK when it collects: its own counters hash the labels at each call
 * (200 ns, against 10 to 80 here).
 *
 * Nothing is registered globally: several services can run in one process.
 */
import type { Attributes, Meter, Observable } from '@opentelemetry/api'
import type { ResourceMetrics } from '@opentelemetry/sdk-metrics'
import type { Counters } from '../component.ts'
import { createOwnHistograms, type HistogramCell, type OwnHistograms } from './own-histograms.ts'
import { OWN_METRICS, type OwnMetric } from './own-metrics.ts'

export type Instruments = {
  /** Counts with these labels added to everything. */
  counters(labels: Readonly<Record<string, string>>): Counters
  /** Asks everything that is observed. What could not be read is missing, and why is among the errors. */
  collect(): Promise<Collection>
  /** A collection as text, for Prometheus. */
  render(resourceMetrics: ResourceMetrics): string
  shutdown(): Promise<void>
}
export type Collection = { readonly resourceMetrics: ResourceMetrics; readonly errors: readonly unknown[] }

type Labels = Readonly<Record<string, string>>
type Cell = { value: number; readonly attributes: Attributes }

/** Loads the SDK, which takes a tenth of a second: only what runs a service calls this. */
export async function createInstruments(resourceAttributes: Attributes, nowMs: () => number): Promise<Instruments> {
  const [{ ValueType }, sdk, { PrometheusSerializer }] = await Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/sdk-metrics'),
    import('@opentelemetry/exporter-prometheus'),
  ])
  const { AggregationTemporality, DataPointType, InstrumentType } = sdk
  const histograms = createOwnHistograms(SCOPE, nowMs, {
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
    dataPointType: DataPointType.HISTOGRAM,
    valueType: ValueType.DOUBLE,
  })

  class Reader extends sdk.MetricReader {
    constructor() {
      super({
        // Counters run from the start. Gauges are what is observed now: a cumulative one would show the last value of a component
        // that is gone for ever.
        aggregationTemporalitySelector: type =>
          type === InstrumentType.OBSERVABLE_GAUGE ? AggregationTemporality.DELTA : AggregationTemporality.CUMULATIVE,
        metricProducers: [histograms.producer],
      })
    }
    protected override async onForceFlush(): Promise<void> {}
    protected override async onShutdown(): Promise<void> {}
  }

  const reader = new Reader()
  const resource: ResourceMetrics['resource'] = {
    attributes: resourceAttributes,
    merge: () => resource,
    getRawAttributes: () => Object.entries(resourceAttributes),
  }
  const provider = new sdk.MeterProvider({ readers: [reader], resource })
  const meter = provider.getMeter(SCOPE)
  const serializer = new PrometheusSerializer(undefined, false, undefined, true, true)
  const instruments = new Map(OWN_METRICS.map(metric => [metric.name, createInstrument(meter, histograms, metric)]))
  let collecting: Promise<Collection> | undefined

  // Who counts what is not in the table, or as something else than it is there, has a mistake in the code.
  function find<K extends Instrument['kind']>(name: string, ...kinds: readonly K[]): InstrumentOf<K> {
    const found = instruments.get(name)
    if (found !== undefined && kinds.includes(found.kind as K)) return found as InstrumentOf<K>
    throw new Error(`"${name}" is no ${kinds.join(' or ')} in the table of own metrics`)
  }

  /** Whoever asks while a collection is under way gets the same one: a second would find the gauges already taken. */
  function collect(): Promise<Collection> {
    collecting ??= reader.collect().finally(() => (collecting = undefined))
    return collecting
  }

  return {
    counters: labels => bindCounters(labels, find),
    collect,
    render: resourceMetrics => `${serializer.serialize(resourceMetrics)}\n`,
    shutdown: () => provider.shutdown(),
  }
}

const SCOPE = 'gpucol'

type Instrument =
  | { readonly kind: 'counter'; readonly observable: Observable; cell(labels: Labels): Cell }
  | { readonly kind: 'gauge'; readonly observable: Observable }
  | { readonly kind: 'histogram'; cell(labels: Labels): HistogramCell }
type InstrumentOf<K> = Extract<Instrument, { kind: K }>
type Find = <K extends Instrument['kind']>(name: string, ...kinds: readonly K[]) => InstrumentOf<K>

function createInstrument(meter: Meter, histograms: OwnHistograms, metric: OwnMetric): Instrument {
  const { name, kind, unit, description } = metric
  const options = { unit, description }
  if (kind === 'gauge') return { kind, observable: meter.createObservableGauge(name, options) }
  if (kind === 'histogram') return { kind, cell: labels => histograms.cell(metric, labels, sortedKeyOf(labels)) }

  // One cell per label set, whoever counts: a component that was made anew at a reload goes on where its predecessor stopped.
  const cells = new Map<string, Cell>()
  const observable = meter.createObservableCounter(name, options)
  observable.addCallback(result => {
    for (const { value, attributes } of cells.values()) result.observe(value, attributes)
  })
  return {
    kind,
    observable,
    cell(labels) {
      const key = sortedKeyOf(labels)
      let cell = cells.get(key)
      if (cell === undefined) cells.set(key, (cell = { value: 0, attributes: labels }))
      return cell
    },
  }
}

function bindCounters(own: Labels, find: Find): Counters {
  const cells = new Map<string, Map<string, Cell>>()
  const histogramCells = new Map<string, Map<string, HistogramCell>>()
  const attributes = new Map<string, Attributes>()

  function withOwn(labels: Labels | undefined): Attributes {
    const key = labels === undefined ? '' : keyOf(labels)
    let bound = attributes.get(key)
    if (bound === undefined) attributes.set(key, (bound = { ...own, ...labels }))
    return bound
  }

  return {
    add(name, amount, labels) {
      let ofName = cells.get(name)
      if (ofName === undefined) cells.set(name, (ofName = new Map()))
      const key = labels === undefined ? '' : keyOf(labels)
      let cell = ofName.get(key)
      if (cell === undefined) ofName.set(key, (cell = find(name, 'counter').cell({ ...own, ...labels })))
      cell.value += amount
    },
    record(name, value, labels) {
      let ofName = histogramCells.get(name)
      if (ofName === undefined) histogramCells.set(name, (ofName = new Map()))
      const key = labels === undefined ? '' : keyOf(labels)
      let cell = ofName.get(key)
      if (cell === undefined) ofName.set(key, (cell = find(name, 'histogram').cell({ ...own, ...labels })))
      cell.record(value)
    },
    observe(name, read) {
      const { observable } = find(name, 'counter', 'gauge')
      const show: Parameters<Observable['addCallback']>[0] = result => {
        for (const { value, labels } of read()) result.observe(value, withOwn(labels))
      }
      observable.addCallback(show)
      return () => observable.removeCallback(show)
    },
  }
}

/** The same for equal labels in any order. */
function sortedKeyOf(labels: Labels): string {
  const names = Object.keys(labels).sort()
  return keyOf(Object.fromEntries(names.map(name => [name, labels[name]!])))
}

/** Different for different labels, as long as neither names nor values hold a zero byte. */
function keyOf(labels: Labels): string {
  let key = ''
  for (const name in labels) key += `${name}\0${labels[name]}\0`
  return key
}
