/**
 * What is counted, as OpenTelemetry instruments.
 *
 * Counts are kept as plain numbers (`own-counts.ts`) and shown to the SDK when it collects: its own counters hash the labels at each
 * call (200 ns, against 10 to 80 there).
 *
 * Nothing is registered globally: several services can run in one process.
 */
import type { Attributes } from '@opentelemetry/api'
import type { ResourceMetrics } from '@opentelemetry/sdk-metrics'
import type { CountedRow, OwnCounts } from './own-counts.ts'
import { histogramProducer } from './own-histograms.ts'

export type Instruments = {
  /** Asks everything that is observed. What could not be read is missing, and why is among the errors. */
  collect(): Promise<Collection>
  /** A collection as text, for Prometheus. */
  render(resourceMetrics: ResourceMetrics): string
  shutdown(): Promise<void>
}
export type Collection = { readonly resourceMetrics: ResourceMetrics; readonly errors: readonly unknown[] }

/** Loads the SDK, which takes a tenth of a second and 30 MB: only where somebody can look at what is counted. */
export async function createInstruments(
  { rows }: OwnCounts,
  resourceAttributes: Attributes,
  nowMs: () => number,
): Promise<Instruments> {
  const [{ ValueType }, sdk, { PrometheusSerializer }] = await Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/sdk-metrics'),
    import('@opentelemetry/exporter-prometheus'),
  ])
  const { AggregationTemporality, DataPointType, InstrumentType } = sdk
  const histograms = histogramProducer(
    SCOPE,
    rows.filter(row => row.kind === 'histogram'),
    nowMs,
    {
      aggregationTemporality: AggregationTemporality.CUMULATIVE,
      dataPointType: DataPointType.HISTOGRAM,
      valueType: ValueType.DOUBLE,
    },
  )

  class Reader extends sdk.MetricReader {
    constructor() {
      super({
        // Counters run from the start. Gauges are what is observed now: a cumulative one would show the last value of a component
        // that is gone for ever.
        aggregationTemporalitySelector: type =>
          type === InstrumentType.OBSERVABLE_GAUGE ? AggregationTemporality.DELTA : AggregationTemporality.CUMULATIVE,
        metricProducers: [histograms],
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
  let unread: unknown[] = []
  let collecting: Promise<Collection> | undefined

  for (const row of rows) {
    if (row.kind === 'histogram') continue
    const { name, unit, description } = row.metric
    const options = { unit, description }
    const observable =
      row.kind === 'gauge' ? meter.createObservableGauge(name, options) : meter.createObservableCounter(name, options)
    observable.addCallback(result => {
      const show = (value: number, attributes: Attributes): void => result.observe(value, attributes)
      unread.push(...showRow(row, show))
    })
  }

  async function collectNow(): Promise<Collection> {
    unread = []
    const { resourceMetrics, errors } = await reader.collect()
    return { resourceMetrics, errors: [...errors, ...unread] }
  }

  /** Whoever asks while a collection is under way gets the same one: a second would find the gauges already taken. */
  function collect(): Promise<Collection> {
    collecting ??= collectNow().finally(() => (collecting = undefined))
    return collecting
  }

  return {
    collect,
    render: resourceMetrics => `${serializer.serialize(resourceMetrics)}\n`,
    shutdown: () => provider.shutdown(),
  }
}

const SCOPE = 'gpucol'

/** Gives what the components threw that could not be read. */
function showRow(
  row: Exclude<CountedRow, { kind: 'histogram' }>,
  show: (value: number, attributes: Attributes) => void,
): unknown[] {
  if (row.kind === 'counter') for (const { value, attributes } of row.cells.values()) show(value, attributes)
  const errors: unknown[] = []
  for (const read of row.observed) {
    try {
      for (const { value, attributes } of read()) show(value, attributes)
    } catch (error) {
      errors.push(error)
    }
  }
  return errors
}
