import assert from 'node:assert/strict'
import { createSimulatedCluster } from '../../../../pipeline/simulator/cluster.ts'
import { GENERATION } from '../../../../pipeline/simulator/dcgm-exporter/generations.ts'
import { createNodeRenderer } from '../../../../pipeline/simulator/dcgm-exporter/render.ts'
import { renderRunaiNodeExporter } from '../../../../pipeline/simulator/runai-node-exporter/render.ts'
import { checkByPromtool } from '../lint.ts'
import { byName, samplesIn, type Sample } from '../samples.ts'

const START_MS = Date.parse('2026-03-02T09:00:00Z')
const INTERVAL_MS = 10_000
const MEBIBYTE = 1_048_576

const simulated = createSimulatedCluster({ seed: 3, nodes: 8, gpusPerNode: 8, startMs: START_MS })

function render(node: number): Map<string, Sample[]> {
  return byName(samplesIn(renderRunaiNodeExporter(simulated.state.nodes[node]!, simulated.timeMs, INTERVAL_MS)))
}

function sumByGpu(samples: readonly Sample[]): Map<string, number> {
  const sums = new Map<string, number>()
  for (const { labels, value } of samples) {
    sums.set(labels['gpu']!, (sums.get(labels['gpu']!) ?? 0) + Number(value))
  }
  return sums
}

describe("the text of Run:ai's node exporter", () => {
  it('shows every pod with a part of a GPU by Run:ai while it runs, by uid and UUID, and no other pod', () => {
    let most = 0
    for (let minute = 0; minute < 600; minute += 7) {
      simulated.advance(START_MS + minute * 60_000)
      const shown: string[] = []
      for (let node = 0; node < 8; node++) {
        for (const { labels } of render(node).get('runai_pod_gpu_utilization') ?? []) {
          assert.deepEqual(Object.keys(labels), ['gpu', 'pod_uuid'])
          shown.push(`${labels['pod_uuid']} ${labels['gpu']}`)
        }
      }
      const fractions = [...simulated.state.pods].filter(
        ({ request, schedulerName, runningMs }) =>
          request.kind === 'fraction' && schedulerName === 'runai-scheduler' && runningMs !== undefined,
      )
      const expected = fractions.flatMap(({ uid, claims }) => claims.map(({ device }) => `${uid} ${device.gpu.uuid}`))
      assert.deepEqual(shown.toSorted(), expected.toSorted())
      most = Math.max(most, shown.length)
    }
    assert.ok(most > 3)
  })

  it('tells of each pod what dcgm-exporter tells of the GPU: together they are the whole', () => {
    let compared = 0
    for (let step = 0; step < 60; step++) {
      simulated.advance(simulated.timeMs + 97_000)
      for (const [at, node] of simulated.state.nodes.entries()) {
        const families = render(at)
        const utilisation = sumByGpu(families.get('runai_pod_gpu_utilization') ?? [])
        const memory = sumByGpu(families.get('runai_pod_gpu_memory_used_bytes') ?? [])
        if (utilisation.size === 0) continue
        const text = createNodeRenderer(node, GENERATION['4.8'], INTERVAL_MS).render(simulated.timeMs)
        const devices = byName(samplesIn(text))
        const device = (name: string, uuid: string): number =>
          Number(devices.get(name)!.find(({ labels }) => labels['UUID'] === uuid)!.value)
        for (const [uuid, percent] of utilisation) {
          const pods = families.get('runai_pod_gpu_utilization')!.filter(({ labels }) => labels['gpu'] === uuid).length
          assert.ok(Math.abs(percent - device('DCGM_FI_DEV_GPU_UTIL', uuid)) <= pods / 2 + 0.5)
          // The driver has a few MiB of its own.
          assert.equal(memory.get(uuid)! / MEBIBYTE + 4, device('DCGM_FI_DEV_FB_USED', uuid))
          compared++
        }
      }
    }
    assert.ok(compared > 30)
  })

  it('leaves out what has no series, and tells of itself', () => {
    const [node] = createSimulatedCluster({ seed: 1, nodes: 1, gpusPerNode: 1, startMs: START_MS }).state.nodes
    for (const device of node!.gpus[0]!.devices) device.claims.length = 0
    const text = renderRunaiNodeExporter(node!, START_MS, INTERVAL_MS)
    assert.doesNotMatch(text, /runai_/)
    assert.match(text, /^process_start_time_seconds /m)
  })

  it('is what promtool takes for good, but for the names of its counts', function () {
    const at = simulated.state.nodes.findIndex((_, node) => render(node).has('runai_pod_gpu_utilization'))
    const text = renderRunaiNodeExporter(simulated.state.nodes[at]!, simulated.timeMs, INTERVAL_MS)
    checkByPromtool(this, text, /^runai_gpu_oomkill_\w+_count non-histogram/)
  })
})
