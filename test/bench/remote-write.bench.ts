/**
 * What remote write costs: nanoseconds and bytes for a sample, beside what snappyjs would need to compress the same message, and what
 * is kept for a series.
 *
 * 200,000 series are 1,000 nodes with 8 GPUs and 25 fields each. In the other shape every series has a label set of its own, as
 * kube-state-metrics has them.
 */
import snappy from 'snappyjs'
import { createEncoder, type RemoteWriteEncoder } from '../../exporters/prometheus-remote-write/encoder.ts'
import type { Request } from '../../exporters/delivery/payload.ts'
import { EMPTY_LABELS, labelsFrom, type Labels } from '../../pipeline/model/labels.ts'
import { createLayout } from '../../pipeline/model/layout.ts'
import type { Batch } from '../../pipeline/model/batch.ts'
import { metricFrom, type Metric } from '../../pipeline/model/series.ts'
import { collectGarbage } from '../support/garbage.ts'
import { testHost } from '../support/test-host.ts'
import { measure, print } from './measure.ts'

const NODES = 1000
const FIELDS = 25
const GPUS = 8
const SERIES = NODES * FIELDS * GPUS

const shapes: Record<string, Batch[]> = {
  GPUs: Array.from({ length: NODES }, (_, node) =>
    batchOf(
      node,
      Array.from({ length: FIELDS }, (_one, field) => gauge(`DCGM_FI_DEV_FIELD_NUMBER_${field}`)),
      Array.from({ length: GPUS }, (_one, gpu) => gpuLabels(node, gpu)),
    ),
  ),
  'a label set each': Array.from({ length: 10 }, (_, shard) =>
    batchOf(
      shard,
      [gauge('kube_pod_status_ready')],
      Array.from({ length: SERIES / 10 }, (_one, pod) => podLabels(shard * 20_000 + pod)),
    ),
  ),
}

let timeMs = 1_700_000_000_000
for (const [shape, batches] of Object.entries(shapes)) {
  for (const version of [1, 2] as const) {
    let samples = 0
    let bytes = 0
    let last: Request | undefined
    const take = (request: Request): void => {
      samples += request.points
      bytes += request.body.length
      if (request.points >= 2000) last = request
    }
    await collectGarbage()
    const before = memory()
    const encoder = encoderOf(version, take)
    send(encoder, batches)
    await collectGarbage()
    const kept = (memory() - before) / SERIES
    const times = measure(SERIES, { encode: () => send(encoder, batches) }, 3)
    const message = snappy.uncompress(last!.body)
    const others = measure(last!.points, { snappyjs: () => snappy.compress(message) }, 3)
    const title = `remote write ${version}.0, ${shape}`
    print(`${title}, encoded and compressed`, times.get('encode')!, 'ns a sample')
    print(`${title}, sent`, bytes / samples, 'bytes a sample')
    print(`${title}, kept`, kept, 'bytes a series')
    print(`${title}, message before compression`, message.length / last!.points, 'bytes a sample')
    print(`${title}, compressed by snappyjs`, snappy.compress(message).length / last!.points, 'bytes a sample')
    print(`${title}, time of snappyjs alone`, others.get('snappyjs')!, 'ns a sample')
  }
}

function encoderOf(version: 1 | 2, emit: (request: Request) => void): RemoteWriteEncoder {
  const options = {
    naming: { strategy: 'UnderscoreEscapingWithSuffixes' as const },
    externalLabels: EMPTY_LABELS,
    rules: [],
    shards: 4,
    maxSamples: 2000,
    sendMetadata: true,
    targetInfo: true,
    version: () => version,
  }
  return createEncoder(options, testHost(), emit)
}

/** Fresh numbers of all sources. */
function send(encoder: RemoteWriteEncoder, batches: readonly Batch[]): void {
  timeMs += 15_000
  for (const batch of batches) encoder.add({ ...batch, timeMs })
  encoder.flush()
}

function memory(): number {
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

function gauge(name: string): Metric {
  return metricFrom({ name, type: 'gauge', help: `${name}, as its exporter describes it.` })
}

function batchOf(node: number, metrics: readonly Metric[], labels: readonly Labels[]): Batch {
  const columns = Array.from({ length: metrics.length * labels.length }, (_, column) => column)
  const layout = createLayout({
    metrics,
    labels,
    metricOf: Uint32Array.from(columns, column => Math.floor(column / labels.length)),
    labelsOf: Uint32Array.from(columns, column => column % labels.length),
  })
  const source = { component: 'bench', name: `node-${node}`, labels: EMPTY_LABELS }
  return { source, timeMs: 0, outcome: 'ok', layout, values: Float64Array.from(columns, one => valueOf(node, one)) }
}

function gpuLabels(node: number, gpu: number): Labels {
  return labelsFrom(
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
  )
}

function podLabels(pod: number): Labels {
  return labelsFrom(
    Object.entries({
      namespace: `team-${pod % 40}`,
      pod: `training-job-${pod % 767}-worker-${pod}`,
      uid: uidOf(pod),
      condition: pod % 2 === 0 ? 'true' : 'false',
      job: 'kube-state-metrics',
      instance: '10.0.0.1:8080',
    }),
  )
}

/** No two have anything in common, as it is with uids. */
function uidOf(number: number): string {
  const [a, b, c, d] = [0x9e3779b1, 0x85ebca6b, 0xc2b2ae35, 0x27d4eb2f].map(factor =>
    (Math.imul(number + 1, factor) >>> 0).toString(16).padStart(8, '0'),
  )
  return `${a}-${b!.slice(4)}-${b!.slice(0, 4)}-${c!.slice(4)}-${c!.slice(0, 4)}${d}`
}

/** As DCGM prints them: whole numbers of all sizes, and decimals of six places. */
function valueOf(node: number, column: number): number {
  const seed = (node * 7919 + column * 104_729) % 1_000_003
  if (column % 5 === 0) return seed / 1e6
  return column % 5 === 1 ? seed * 86_400 : seed % 100
}
