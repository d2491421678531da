/** Whether the simulated text looks like scrapes of real servers, where such are at hand. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createSimulatedCluster } from '../../../pipeline/simulator/cluster.ts'
import { GENERATION, type GenerationName } from '../../../pipeline/simulator/dcgm-exporter/generations.ts'
import { createNodeRenderer } from '../../../pipeline/simulator/dcgm-exporter/render.ts'
import { kubeletSample } from '../../../pipeline/simulator/accounting.ts'
import { createCadvisorRenderer } from '../../../pipeline/simulator/kubelet/cadvisor.ts'
import { createShardRenderer } from '../../../pipeline/simulator/kube-state-metrics/render.ts'
import { sharedPath } from '../../support/shared.ts'
import { familiesIn } from './families.ts'
import { samplesIn } from './samples.ts'

const START_MS = Date.parse('2026-03-02T09:00:00Z')
const simulated = createSimulatedCluster({ seed: 1, nodes: 8, gpusPerNode: 8, startMs: START_MS })
simulated.advance(START_MS + 8 * 3_600_000)

function readOrSkip(context: Mocha.Context, ...parts: string[]): string {
  const path = sharedPath('captures', ...parts)
  return path === undefined ? context.skip() : readFileSync(path, 'latin1')
}

describe('simulated text beside real scrapes', () => {
  const exporters: [GenerationName, node: number, file: string][] = [
    ['2.x', 1, 'runai_lt2.9_fraction_1_workload_2xT4.txt'],
    ['2.x', 2, 'runai_lt2.9_mig_4_workloads_A100-40GB.txt'],
    ['4.8', 3, 'cncf-ai-conformance_v1.35_upcloud_L40S.txt'],
  ]
  for (const [version, node, file] of exporters) {
    it(`has the families of dcgm-exporter in the order, with the types and labels of ${file}`, function () {
      const real = familiesIn(readOrSkip(this, 'dcgm', file))
      const ours = familiesIn(
        createNodeRenderer(simulated.state.nodes[node]!, GENERATION[version], 10_000).render(simulated.timeMs),
      )
      const common = [...ours.keys()].filter(name => real.has(name))
      assert.ok(common.length >= 12)
      assert.deepEqual(
        common,
        [...real.keys()].filter(name => ours.has(name)),
      )
      for (const name of common) {
        assert.equal(ours.get(name)!.type, real.get(name)!.type, name)
        const labels = ours.get(name)!.labels.filter(label => real.get(name)!.labels.includes(label))
        assert.deepEqual(labels, real.get(name)!.labels, name)
      }
    })
  }

  it('has the families of kube-state-metrics with the types and labels of 2.19', function () {
    const real = familiesIn(readOrSkip(this, 'ksm', 'elastic-beats_ksm.v2.19.1.plain'))
    const ours = familiesIn(
      createShardRenderer(simulated.state, { shards: 1, labels: {}, annotations: {} }).render(0).join(''),
    )
    assert.ok(ours.size > 50)
    for (const [name, { type, labels }] of ours) {
      assert.equal(real.get(name)?.type, type, name)
      const expected = real.get(name)!.labels
      if (expected.length > 0 && labels.length > 0) assert.deepEqual(labels, expected, name)
    }
    assert.deepEqual(
      [...ours.keys()],
      [...real.keys()].filter(name => ours.has(name)),
    )
  })

  /** That capture is put together from several versions: families of 1.9 are not all in it, and labels are in order. */
  it('has the families of kube-state-metrics 1.x with the types and labels of a real one', function () {
    const real = familiesIn(readOrSkip(this, 'ksm', 'datadog_kubernetes_state_prometheus.txt'))
    const options = { version: 1, shards: 1, labels: {}, annotations: {} } as const
    const ours = familiesIn(createShardRenderer(simulated.state, options).render(0).join(''))
    const common = [...ours].filter(([name]) => real.has(name))
    assert.ok(common.length > 45, String(common.length))
    for (const [name, { type, labels }] of common) {
      const { type: realType, labels: realLabels } = real.get(name)!
      // Times of jobs were counters once; the label of jobs had another name.
      if (!name.startsWith('kube_job_')) assert.equal(type, realType, name)
      if (/_labels$|^kube_job|_info$/.test(name) || labels.length === 0 || realLabels.length === 0) continue
      assert.deepEqual(labels.toSorted(), realLabels.toSorted(), name)
    }
    for (const name of ['kube_pod_container_resource_requests_cpu_cores', 'kube_node_status_capacity_memory_bytes'])
      assert.ok(common.some(([known]) => known === name))
  })

  it('has the families of cAdvisor in the order, with the types, labels and times of a real one', function () {
    const text = readOrSkip(this, 'newrelic-k8s-1_34', 'kubelet_metrics_cadvisor')
    const [node] = simulated.state.nodes
    const rendered = createCadvisorRenderer()
      .render(node!, kubeletSample(node!, simulated.timeMs), simulated.timeMs, 0)
      .join('')
    const real = familiesIn(text)
    const ours = familiesIn(rendered)
    assert.deepEqual(
      [...ours.keys()],
      [...real.keys()].filter(name => ours.has(name)),
    )
    for (const [name, family] of ours) assert.deepEqual(family, real.get(name), name)
    const stamped = (text: string): Set<string> =>
      new Set(samplesIn(text).flatMap(({ name, timeMs }) => (timeMs === undefined ? [] : [name])))
    const known = stamped(text)
    assert.deepEqual(stamped(rendered), new Set([...ours.keys()].filter(name => known.has(name))))
  })

  it('has the same sorts of rows as a real cAdvisor', function () {
    const text = readOrSkip(this, 'newrelic-k8s-1_34', 'kubelet_metrics_cadvisor')
    const [node] = simulated.state.nodes
    const sorts = (text: string): Set<string> =>
      new Set(
        samplesIn(text)
          .filter(({ name }) => name === 'container_memory_working_set_bytes')
          .map(({ labels }) =>
            ['container', 'image', 'name', 'namespace', 'pod']
              .map(label => `${label}${labels[label] === '' ? ' empty' : ''}`)
              .join(', '),
          ),
      )
    const rendered = createCadvisorRenderer().render(node!, kubeletSample(node!, simulated.timeMs), 0, 0)
    assert.deepEqual(sorts(rendered.join('')), sorts(text))
  })
})
