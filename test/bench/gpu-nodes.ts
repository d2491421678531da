/** The latest batches of many nodes with GPUs, for benchmarks of exporters. */
import type { Batch } from '../../pipeline/model/batch.ts'
import { labelsFrom } from '../../pipeline/model/labels.ts'
import { createLayout, type Layout } from '../../pipeline/model/layout.ts'
import { metricFrom } from '../../pipeline/model/series.ts'

export const FIELDS = 25
export const GPUS = 8
export const metrics = Array.from({ length: FIELDS }, (_, field) =>
  metricFrom({
    name: `DCGM_FI_DEV_FIELD_NUMBER_${field}`,
    type: 'gauge',
    help: `Field number ${field}, as DCGM has it.`,
  }),
)

export function gpuNodes(nodes: number): Batch[] {
  return Array.from({ length: nodes }, (_, node) => {
    const layout = createLayoutOf(node)
    const values = Float64Array.from(layout.metricOf, (_metric, column) => valueOf(node, column))
    const source = { component: 'bench', name: `node-${node}`, labels: labelsFrom([]) }
    return { source, timeMs: 0, outcome: 'ok', layout, values }
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

/** As DCGM prints them: whole numbers of all sizes, and decimals of six places. */
function valueOf(node: number, column: number): number {
  const seed = (node * 7919 + column * 104_729) % 1_000_003
  if (column % 5 === 0) return seed / 1e6
  return column % 5 === 1 ? seed * 86_400 : seed % 100
}
