/**
 * What encoding OTLP costs: ours beside `@opentelemetry/otlp-transformer`, over the same series in one run.
 *
 * 200,000 series are 1,000 nodes with 8 GPUs and 25 fields each. The transformer knows one resource per request, so both write all
 * labels to the points at first; then ours writes a resource for each GPU, as the exporter does.
 */
import { resourceFromAttributes } from '@opentelemetry/resources'
import { AggregationTemporality, DataPointType, type ResourceMetrics } from '@opentelemetry/sdk-metrics'
import { JsonMetricsSerializer, ProtobufMetricsSerializer } from '@opentelemetry/otlp-transformer'
import type { Batch } from '../../pipeline/model/batch.ts'
import { labelPairs, labelsFrom, type Labels } from '../../pipeline/model/labels.ts'
import { createLayout, labelsAt, type Layout } from '../../pipeline/model/layout.ts'
import { metricFrom, type Metric } from '../../pipeline/model/series.ts'
import { createOtlpEncoder, type OtlpEncoder, type OtlpEncoding } from '../../pipeline/formats/otlp-encoder.ts'
import { ANY_NAME } from '../../pipeline/formats/otlp-names.ts'
import { RESOURCE_TABLE } from '../../pipeline/formats/otlp-resource-table.ts'
import { collect, heapBytes } from '../support/garbage.ts'
import { measure, print } from './measure.ts'

const NODES = 1000
const GPUS = 8
const FIELDS = 25
const POINTS = NODES * GPUS * FIELDS
const TIME_MS = 1_700_000_000_123
const TIMES = 10

const metrics = Array.from({ length: FIELDS }, (_, field) =>
  metricFrom({
    name: `DCGM_FI_DEV_FIELD_NUMBER_${field}`,
    type: 'gauge',
    help: `Field number ${field}, as DCGM has it.`,
  }),
)
const batches = createBatches()
let sentBytes = 0

const flat = createEncoder('proto', [])
const byGpu = createEncoder('proto', RESOURCE_TABLE)
const flatJson = createEncoder('json', [])
const byGpuJson = createEncoder('json', RESOURCE_TABLE)
const data = asResourceMetrics(batches)

// What others leave behind is collected before each: it would be collected at the cost of whoever comes next.
const results = new Map([
  ...measure(
    POINTS,
    {
      'gpucol protobuf, labels at points': () => encodeOften(flat),
      'gpucol protobuf, a resource for each GPU': () => encodeOften(byGpu),
      'otlp-transformer protobuf': () => ProtobufMetricsSerializer.serializeRequest(data)!.length,
    },
    5,
    collect,
  ),
  ...measure(
    POINTS,
    {
      'gpucol JSON, labels at points': () => encodeOften(flatJson),
      'gpucol JSON, a resource for each GPU': () => encodeOften(byGpuJson),
      'otlp-transformer JSON': () => JsonMetricsSerializer.serializeRequest(data)!.length,
    },
    5,
    collect,
  ),
])
for (const [name, nanoseconds] of results) if (name.startsWith('gpucol')) results.set(name, nanoseconds / TIMES)
for (const [name, nanoseconds] of results) print(`otlp 200k points, ${name}`, nanoseconds, 'ns a point')
for (const encoding of ['protobuf', 'JSON']) {
  for (const way of ['labels at points', 'a resource for each GPU']) {
    const ratio = results.get(`otlp-transformer ${encoding}`)! / results.get(`gpucol ${encoding}, ${way}`)!
    print(`otlp 200k points, ${encoding}, ${way}, ratio`, ratio, 'times (goal 100)')
  }
}
print('otlp 200k points, protobuf, labels at points', encode(flat) / 1e6, 'MB')
print('otlp 200k points, protobuf, a resource for each GPU', encode(byGpu) / 1e6, 'MB')
await printMemory('labels at points', [])
await printMemory('a resource for each GPU', RESOURCE_TABLE)

/** What an encoder keeps, as the difference that it makes for the process. */
async function printMemory(way: string, table: readonly (readonly [string, string])[]): Promise<void> {
  // What is the same for any number of series is not counted: the room that requests are written in.
  const encoder = createEncoder('proto', table)
  for (const batch of batches.slice(0, 100)) encoder.add(batch)
  encoder.flush()
  const before = await heapBytes()
  encode(encoder)
  const kept = (await heapBytes()) - before
  print(`otlp 200k points, kept, ${way}`, kept / (POINTS * 0.9), 'bytes a series')
  // Until here it must not be collected.
  if (encoder.pendingPoints > 0) throw new Error('an encoder that was flushed has nothing to send')
}

function createEncoder(encoding: OtlpEncoding, table: readonly (readonly [string, string])[]): OtlpEncoder {
  return createOtlpEncoder({
    encoding,
    resourceTable: new Map(table),
    resourceDefaults: new Map(),
    names: ANY_NAME,
    dropSummaries: false,
    maxBuckets: Infinity,
    dropNotANumber: false,
    maxAttributes: Infinity,
    maxPoints: 10_000,
    maxBytes: 4 * 2 ** 20,
    leftOut: () => {},
    emit: ({ body }) => void (sentBytes += body.length),
  })
}

/** Several times, so that what a collection of garbage leaves to be done is a small part. */
function encodeOften(encoder: OtlpEncoder): number {
  for (let i = 0; i < TIMES; i++) encode(encoder)
  return sentBytes
}

function encode(encoder: OtlpEncoder): number {
  sentBytes = 0
  for (const batch of batches) encoder.add(batch)
  encoder.flush()
  return sentBytes
}

function createBatches(): Batch[] {
  return Array.from({ length: NODES }, (_, node) => {
    const layout = createLayoutOf(node)
    const values = Float64Array.from(layout.metricOf, (_metric, column) => ((node * 7919 + column) % 100_003) / 8)
    const source = { component: 'bench', name: `node-${node}`, labels: labelsFrom([]) }
    return { source, timeMs: TIME_MS, outcome: 'ok', layout, values }
  })
}

function createLayoutOf(node: number): Layout {
  const labels = Array.from({ length: GPUS }, (_, gpu) =>
    labelsFrom(
      Object.entries({
        gpu: String(gpu),
        UUID: `GPU-${String(node * GPUS + gpu).padStart(8, '0')}-74f2-1d3c-9a5b-0123456789ab`,
        pci_bus_id: `00000000:${gpu}B:00.0`,
        device: `nvidia${gpu}`,
        modelName: 'NVIDIA H100 80GB HBM3',
        hostname: `gpu-node-${node}.cluster.internal`,
        DCGM_FI_DRIVER_VERSION: '550.54.15',
        container: 'main',
        namespace: `team-${node % 40}`,
        pod: `training-job-${node % 767}-worker-${gpu}`,
        job: 'dcgm',
        instance: `10.0.${node >> 8}.${node & 255}:9400`,
      }),
    ),
  )
  const columns = Array.from({ length: FIELDS * GPUS }, (_, column) => column)
  return createLayout({
    metrics,
    labels,
    metricOf: Uint32Array.from(columns, column => Math.floor(column / GPUS)),
    labelsOf: Uint32Array.from(columns, column => column % GPUS),
  })
}

function asResourceMetrics(all: readonly Batch[]): ResourceMetrics {
  const points = new Map<Metric, { attributes: Record<string, string>; value: number }[]>(metrics.map(one => [one, []]))
  const attributesOf = new Map<Labels, Record<string, string>>()
  for (const { layout, values } of all) {
    for (const [column, value] of values.entries()) {
      const labels = labelsAt(layout, column)
      let attributes = attributesOf.get(labels)
      if (attributes === undefined) attributesOf.set(labels, (attributes = Object.fromEntries(labelPairs(labels))))
      points.get(layout.metrics[layout.metricOf[column]!]!)!.push({ attributes, value })
    }
  }
  const time: [number, number] = [Math.floor(TIME_MS / 1000), (TIME_MS % 1000) * 1e6]
  return {
    resource: resourceFromAttributes({ 'service.name': 'bench' }),
    scopeMetrics: [
      {
        scope: { name: 'bench' },
        metrics: [...points].map(([metric, dataPoints]) => ({
          descriptor: { name: metric.name, description: metric.help, unit: '', valueType: 1 },
          aggregationTemporality: AggregationTemporality.CUMULATIVE,
          dataPointType: DataPointType.GAUGE,
          dataPoints: dataPoints.map(point => ({ ...point, startTime: time, endTime: time })),
        })),
      },
    ],
  }
}
