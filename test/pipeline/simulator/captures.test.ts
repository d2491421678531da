/** Whether the simulated text looks like scrapes of real servers, where such are at hand. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createSimulatedCluster } from '../../../pipeline/simulator/cluster.ts'
import { GENERATION, type GenerationName } from '../../../pipeline/simulator/dcgm-exporter/generations.ts'
import { createNodeRenderer } from '../../../pipeline/simulator/dcgm-exporter/render.ts'
import { createShardRenderer } from '../../../pipeline/simulator/kube-state-metrics/render.ts'
import { sharedPath } from '../../support/shared.ts'
import { byName, samplesIn } from './samples.ts'

const START_MS = Date.parse('2026-03-02T09:00:00Z')
const simulated = createSimulatedCluster({ seed: 1, nodes: 8, gpusPerNode: 8, startMs: START_MS })
simulated.advance(START_MS + 8 * 3_600_000)

/** Families in order, with type and the label names of their first sample. */
function familiesIn(text: string): Map<string, { type: string; labels: string[] }> {
  const samples = byName(samplesIn(text))
  const families = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(
    ([, name, type]) => [name!, { type: type!, labels: Object.keys(samples.get(name!)?.[0]?.labels ?? {}) }] as const,
  )
  return new Map(families)
}

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
})
