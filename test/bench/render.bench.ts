/**
 * What an exposition costs: ours beside the OpenTelemetry exporter's serializer, over the same series in one run.
 *
 * 200,000 series are 1,000 nodes with 8 GPUs and 25 fields each. Ours also writes 2 million, where what counts is how long the event
 * loop is held up.
 */
import { PrometheusSerializer } from '@opentelemetry/exporter-prometheus'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { AggregationTemporality, DataPointType, type ResourceMetrics } from '@opentelemetry/sdk-metrics'
import { labelPairs, labelsFrom, type Labels } from '../../pipeline/model/labels.ts'
import { createLayout, labelsAt } from '../../pipeline/model/layout.ts'
import type { Batch } from '../../pipeline/model/batch.ts'
import { metricFrom, type Metric } from '../../pipeline/model/series.ts'
import { createPage, renderPiece, START, type Cursor } from '../../pipeline/formats/render-chunks.ts'
import { renderPieces } from '../../pipeline/formats/render-text.ts'
import { Renderer, type Snapshot } from '../../pipeline/formats/render-snapshot.ts'
import { finishInTurns, finishNow } from '../../pipeline/formats/render-work.ts'
import { FIELDS, GPUS, gpuNodes, metrics } from './gpu-nodes.ts'
import { measure, print } from './measure.ts'

const small = gpuNodes(1000)
const renderer = new Renderer()
const page = createPage()
const serializer = new PrometheusSerializer('', false, undefined, true, true)
const resourceMetrics = asResourceMetrics(small)
const results = measure(
  1000 * GPUS * FIELDS,
  {
    gpucol: () => write(finishNow(renderer.take(small))),
    OpenTelemetry: () => serializer.serialize(resourceMetrics).length,
  },
  5,
)
for (const [name, nanoseconds] of results) print(`render 200k series, ${name}`, nanoseconds, 'ns a series')
print('render 200k series, ratio', results.get('OpenTelemetry')! / results.get('gpucol')!, 'times (goal 100)')
print('render 200k series, text', write(finishNow(renderer.take(small))) / 1e6, 'MB')

const large = gpuNodes(10_000)
const other = new Renderer()
const turns = 'longest turn of the event loop'
print(`render 2M series, first time, ${turns}`, await longestTurnMs(other, large), 'ms (goal 50)')
print(`render 2M series, again, ${turns}`, await longestTurnMs(other, large), 'ms (goal 50)')
const [one, ...rest] = large
const change = [{ ...one!, layout: createLayout(one!.layout) }, ...rest]
print(`render 2M series, one layout is new, ${turns}`, await longestTurnMs(other, change), 'ms (goal 50)')
const changes = large.map(batch => ({ ...batch, layout: createLayout(batch.layout) }))
print(`render 2M series, all layouts are new, ${turns}`, await longestTurnMs(other, changes), 'ms (goal 50)')
const largeResults = measure(10_000 * GPUS * FIELDS, { gpucol: () => write(finishNow(other.take(large))) }, 3)
print('render 2M series, gpucol', largeResults.get('gpucol')!, 'ns a series')

const podsRenderer = new Renderer()
const pods = podStates(1_000_000)
print(`render 1M series of one source, first time, ${turns}`, await longestTurnMs(podsRenderer, [pods]), 'ms (goal 50)')
const more = podStates(1_000_001, pods)
print(`render 1M series of one source, one more, ${turns}`, await longestTurnMs(podsRenderer, [more]), 'ms (goal 50)')

/** One source like kube-state-metrics, where each series has labels of its own. */
function podStates(count: number, after?: Batch): Batch {
  const metric = metricFrom({ name: 'kube_pod_status_phase', type: 'gauge' })
  const known = after?.layout.labels ?? []
  const labels = Array.from({ length: count }, (_, i) => known[i] ?? podLabels(i))
  const layout = createLayout({
    metrics: [metric],
    labels,
    metricOf: new Uint32Array(count),
    labelsOf: Uint32Array.from(labels, (_, i) => i),
    ...(after && { keptFrom: { id: after.layout.id, runs: Uint32Array.of(0, 0, known.length) } }),
  })
  const source = after?.source ?? { component: 'bench', name: 'kube-state-metrics', labels: labelsFrom([]) }
  return { source, timeMs: 0, outcome: 'ok', layout, values: new Float64Array(count) }
}

function podLabels(i: number): Labels {
  const uid = `7d5f0c1e-52c1-4b8e-9d3a-${String(i).padStart(12, '0')}`
  return labelsFrom(Object.entries({ namespace: `team-${i % 40}`, pod: `train-${i}-worker-0`, uid, phase: 'Running' }))
}

function asResourceMetrics(batches: readonly Batch[]): ResourceMetrics {
  const points = new Map<Metric, { attributes: Record<string, string>; value: number }[]>(metrics.map(one => [one, []]))
  const attributesOf = new Map<Labels, Record<string, string>>()
  for (const { layout, values } of batches) {
    for (const [column, value] of values.entries()) {
      const labels = labelsAt(layout, column)
      let attributes = attributesOf.get(labels)
      if (attributes === undefined) attributesOf.set(labels, (attributes = Object.fromEntries(labelPairs(labels))))
      points.get(layout.metrics[layout.metricOf[column]!]!)!.push({ attributes, value })
    }
  }
  return {
    resource: resourceFromAttributes({}),
    scopeMetrics: [
      {
        scope: { name: 'bench' },
        metrics: [...points].map(([metric, dataPoints]) => ({
          descriptor: { name: metric.name, description: metric.help, unit: '', valueType: 1 },
          aggregationTemporality: AggregationTemporality.CUMULATIVE,
          dataPointType: DataPointType.GAUGE,
          dataPoints: dataPoints.map(point => ({ ...point, startTime: [0, 0], endTime: [0, 0] })),
        })),
      },
    ],
  }
}

function write(snapshot: Snapshot): number {
  let bytes = 0
  for (const piece of renderPieces(snapshot, () => page)) bytes += piece.length
  return bytes
}

/** Of the exporter's way, which lets the event loop turn between pieces. By CPU time, so that other processes do not count. */
async function longestTurnMs(from: Renderer, batches: readonly Batch[]): Promise<number> {
  let longest = 0
  let before = process.threadCpuUsage()
  let turning = setImmediate(function turn() {
    const now = process.threadCpuUsage()
    longest = Math.max(longest, now.user + now.system - before.user - before.system)
    before = now
    turning = setImmediate(turn)
  })
  const snapshot = await finishInTurns(from.take(batches))
  let pieces = 0
  for (let cursor: Cursor | undefined = START; cursor !== undefined;) {
    cursor = renderPiece(snapshot, cursor, page).next
    if ((++pieces & 3) === 0) await new Promise(resolve => setImmediate(resolve))
  }
  clearImmediate(turning)
  return longest / 1000
}
