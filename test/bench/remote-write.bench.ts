import { createSource } from '../support/batch-from-text.ts'
import snappy from 'snappyjs'
import { labelsFrom } from '../../pipeline/model/labels.ts'
import { createLayout } from '../../pipeline/model/layout.ts'
import { metricFrom } from '../../pipeline/model/series.ts'
import { labelPlanOf } from '../../pipeline/formats/remote-write-labels.ts'
import { SeriesMemory } from '../../pipeline/formats/remote-write-memory.ts'
import { createWriter1 } from '../../pipeline/formats/remote-write-1.ts'
import { createWriter2 } from '../../pipeline/formats/remote-write-2.ts'
import { measure, print } from './measure.ts'
void createSource
const FIELDS = 25,
  GPUS = 8
const metrics = Array.from({ length: FIELDS }, (_, f) =>
  metricFrom({ name: `DCGM_FI_DEV_FIELD_NUMBER_${f}`, type: 'gauge', help: `Field number ${f}, as DCGM has it.` }),
)
function layoutOf(node: number) {
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
  const columns = Array.from({ length: FIELDS * GPUS }, (_, c) => c)
  return createLayout({
    metrics,
    labels,
    metricOf: Uint32Array.from(columns, c => Math.floor(c / GPUS)),
    labelsOf: Uint32Array.from(columns, c => c % GPUS),
  })
}
const plans = Array.from({ length: 1000 }, (_, n) => labelPlanOf(layoutOf(n)))
const valueOf = (node: number, column: number) => {
  const seed = (node * 7919 + column * 104_729) % 1_000_003
  return column % 5 === 0 ? seed / 1e6 : column % 5 === 1 ? seed * 86_400 : seed % 100
}
const vals = plans.map((_, n) => Float64Array.from({ length: 200 }, (_x, c) => valueOf(n, c)))
function run(w: any) {
  let bytes = 0
  plans.forEach((plan, n) => {
    w.use(plan)
    const v = vals[n]!
    const { metricOf, labelsOf } = plan.layout
    for (let i = 0; i < v.length; i++) {
      w.add(metricOf[i]!, labelsOf[i]!, v[i]!, 1.7e12 + n, NaN)
      if (w.samples >= 2000) bytes += w.finish().length
    }
  })
  return bytes
}
const m = new SeriesMemory()
const w1 = createWriter1(m),
  w2 = createWriter2(m, { sendMetadata: true })
print('v1', run(w1) / 200_000, 'bytes')
print('v2', run(w2) / 200_000, 'bytes')
w1.use(plans[0]!)
const raw: Uint8Array[] = []
{
  for (let n = 0; n < 10; n++) {
    w1.use(plans[n]!)
    for (let i = 0; i < 200; i++)
      w1.add(plans[n]!.layout.metricOf[i]!, plans[n]!.layout.labelsOf[i]!, vals[n]![i]!, 1.7e12 + n, NaN)
  }
  raw.push(snappy.uncompress(w1.finish()))
}
{
  for (let n = 0; n < 10; n++) {
    w2.use(plans[n]!)
    for (let i = 0; i < 200; i++)
      w2.add(plans[n]!.layout.metricOf[i]!, plans[n]!.layout.labelsOf[i]!, vals[n]![i]!, 1.7e12 + n, NaN)
  }
  raw.push(snappy.uncompress(w2.finish()))
}
print('raw v1', raw[0]!.length / 2000, 'bytes')
print('snappyjs v1', snappy.compress(raw[0]!).length / 2000, 'bytes')
print('raw v2', raw[1]!.length / 2000, 'bytes')
print('snappyjs v2', snappy.compress(raw[1]!).length / 2000, 'bytes')
for (const [k, v] of measure(200_000, { v1: () => run(w1), v2: () => run(w2) }, 5)) print(k, v, 'ns a sample')
for (const [k, v] of measure(
  2000,
  { 'snappyjs v1': () => snappy.compress(raw[0]!), 'snappyjs v2': () => snappy.compress(raw[1]!) },
  5,
))
  print(k, v, 'ns a sample')
