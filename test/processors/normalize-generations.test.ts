import assert from 'node:assert/strict'
import { createSimulatedCluster } from '../../pipeline/simulator/cluster.ts'
import { GENERATION, GENERATIONS, type GenerationName } from '../../pipeline/simulator/dcgm-exporter/generations.ts'
import { createNodeRenderer } from '../../pipeline/simulator/dcgm-exporter/render.ts'
import { createShardRenderer } from '../../pipeline/simulator/kube-state-metrics/render.ts'
import { forEachSample, type Batch } from '../../pipeline/model/batch.ts'
import { getLabel, labelPairs } from '../../pipeline/model/labels.ts'
import { labelsAt, metricAt } from '../../pipeline/model/layout.ts'
import { batchFromText } from '../support/batch-from-text.ts'
import { createNormalizer } from '../support/normalized.ts'

const START_MS = 1_700_000_000_000

/** All labels that a fact of a GPU may have, whichever generation it comes from. */
const LABELS = new Set(
  `DCGM_FI_DRIVER_VERSION GPU_I_ID GPU_I_PROFILE Hostname UUID container device gpu modelName namespace nvswitch pci_bus_id
   pod pod_uid vgpu`.split(/\s+/),
)

/** By fact and device, and pod where it is a reading of a pod. A second value for one is a failure. */
function factsByDevice(batch: Batch): Map<string, number> {
  const facts = new Map<string, number>()
  forEachSample(batch, (column, value) => {
    const { name } = metricAt(batch.layout, column)
    const labels = labelsAt(batch.layout, column)
    for (const label of labels.names) assert.ok(LABELS.has(label), `${name} has the label ${label}`)
    const part = name.startsWith('k8s.pod.') ? ['namespace', 'pod'] : []
    const key = [name, ...['UUID', 'GPU_I_ID', 'nvswitch', ...part].map(label => getLabel(labels, label) ?? '')].join(
      ' ',
    )
    assert.ok(!facts.has(key), `${key} is there twice`)
    facts.set(key, value)
  })
  return facts
}

describe('normalize: a fleet of all generations', () => {
  for (const seed of [1, 2, 3]) {
    it(`gives one set of facts, seed ${seed}`, function () {
      this.timeout(30_000)
      const cluster = createSimulatedCluster({ seed, nodes: 8, gpusPerNode: 8, startMs: START_MS })
      const normalizers = new Map(GENERATIONS.map(name => [name, createNormalizer()]))
      let compared = 0
      let own = 0
      for (const minute of [5, 17, 60]) {
        cluster.advance(START_MS + minute * 60_000)
        for (const node of cluster.state.nodes) {
          const facts = new Map<GenerationName, Map<string, number>>()
          for (const [generation, { consume }] of normalizers) {
            const text = createNodeRenderer(node, GENERATION[generation], 10_000).render(cluster.timeMs)
            facts.set(generation, factsByDevice(consume(batchFromText(text))))
          }
          const reference = facts.get('4.8')!
          for (const [generation, ofGeneration] of facts) {
            for (const [key, value] of ofGeneration) {
              // 1.x has PCIe throughput in whole kilobytes.
              if (!reference.has(key) || (generation === '1.x' && key.startsWith('hw.gpu.pcie'))) continue
              assert.equal(value, reference.get(key), `${key} of ${generation}, node ${node.name}`)
              compared++
            }
          }
          own += [...reference.keys()].filter(key => key.startsWith('k8s.pod.gpu')).length
          for (const fact of ['hw.gpu.power', 'hw.gpu.energy', 'hw.gpu.sm.clock']) {
            for (const [generation, ofGeneration] of facts) {
              const boards = [...ofGeneration.keys()].filter(key => key.startsWith(`${fact} `)).length
              assert.equal(boards, node.gpus.length, `${fact} of ${generation}, node ${node.name}`)
            }
          }
        }
      }
      for (const [generation, { host }] of normalizers) {
        const outside = [...host.counted.keys()].filter(name => name.startsWith('gpucol_processor_out_of_range'))
        // 1.x prints DCGM's blank value for boards without NVLink.
        const blank = outside.filter(name => !/metric="hw.gpu.nvlink.rate"/.test(name) && name.includes('{'))
        assert.deepEqual(generation === '1.x' ? blank : outside, [], generation)
      }
      assert.ok(compared > 10_000, `only ${compared} facts were compared`)
      assert.ok(own > 0, 'no pod had a reading of its own, so this shows nothing about them')
    })
  }

  it('has the readings of a device as it is, also where several pods share it', () => {
    const cluster = createSimulatedCluster({ seed: 5, nodes: 8, gpusPerNode: 8, startMs: START_MS })
    cluster.advance(START_MS + 30 * 60_000)
    const { consume } = createNormalizer()
    let shared = 0
    for (const node of cluster.state.nodes) {
      const text = createNodeRenderer(node, GENERATION['4.8'], 10_000).render(cluster.timeMs)
      const facts = factsByDevice(consume(batchFromText(text)))
      for (const { devices, uuid } of node.gpus) {
        if (devices.length > 1 || devices[0]!.claims.length < 2) continue
        const pods = [...facts].filter(([key]) => key.startsWith(`k8s.pod.gpu.memory.usage ${uuid} `))
        if (pods.length === 0) continue
        const sum = pods.reduce((total, [, value]) => total + value, 0)
        assert.ok(facts.get(`hw.gpu.memory.usage ${uuid}  `)! >= sum)
        shared++
      }
    }
    assert.ok(shared > 0, 'no GPU was shared, so this shows nothing')
  })
})

describe('normalize: kube-state-metrics of both generations', () => {
  it('gives the same facts about the same cluster', () => {
    const cluster = createSimulatedCluster({ seed: 1, nodes: 4, gpusPerNode: 8, startMs: START_MS })
    cluster.advance(START_MS + 20 * 60_000)
    const allowed = { pods: ['*'], nodes: ['*'], namespaces: ['*'] }
    const [one, two] = ([1, 2] as const).map(version => {
      const renderer = createShardRenderer(cluster.state, { version, shards: 1, labels: allowed, annotations: allowed })
      const { consume } = createNormalizer()
      const facts = new Map<string, number>()
      const batch = consume(batchFromText(renderer.render(0).join('')))
      forEachSample(batch, (column, value) => {
        const { name } = metricAt(batch.layout, column)
        if (!COMMON.test(name)) return
        // 1.x has no uids.
        const labels = labelPairs(labelsAt(batch.layout, column)).filter(([label]) => label !== 'uid')
        facts.set(JSON.stringify([name, labels]), value)
      })
      return facts
    })
    assert.ok(one!.size > 500, `only ${one!.size} facts`)
    assert.deepEqual(one, two)
  })
})

/** Facts that both have; labels of pods are behind an allow-list in 2.x, and some families are new there. */
const COMMON =
  /^kube_(pod_container_resource_(requests|limits)|node_status_(capacity|allocatable)|pod_status_phase|pod_owner|pod_start_time|pod_created|replicaset_owner|node_status_condition|namespace_status_phase)$/
