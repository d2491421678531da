/** Whether the simulated text looks like that of a real node-exporter, where there is one. */
import assert from 'node:assert/strict'
import { createSimulatedCluster } from '../../../../pipeline/simulator/cluster.ts'
import { renderNodeExporter } from '../../../../pipeline/simulator/node-exporter/render.ts'
import { eventually, freePorts, get, startProcess } from '../../../support/gpucol-process.ts'
import { programOrSkip } from '../../../support/programs.ts'
import { familiesIn } from '../families.ts'

const START_MS = Date.parse('2026-03-02T09:00:00Z')

describe('simulated node-exporter beside a real one', function () {
  this.timeout(20_000)

  it('has its families in the same order, with the same types and labels', async function () {
    const program = programOrSkip(this, 'prometheus-node-exporter')
    const [port] = await freePorts(1)
    const { child, ended } = startProcess(program, [`--web.listen-address=127.0.0.1:${port}`])
    try {
      const text = await eventually(
        () => get(`http://127.0.0.1:${port}/metrics`).catch(() => ''),
        text => text !== '',
      )
      const real = familiesIn(text)
      const { state } = createSimulatedCluster({ seed: 1, nodes: 1, gpusPerNode: 8, startMs: START_MS })
      const ours = familiesIn(renderNodeExporter(state.nodes[0]!, START_MS, START_MS))
      assert.ok(ours.size > 50)
      assert.deepEqual(
        [...ours.keys()],
        [...real.keys()].filter(name => ours.has(name)),
      )
      for (const [name, { type, labels }] of ours) {
        assert.equal(type, real.get(name)!.type, name)
        // Later versions have more labels.
        const known = labels.filter(label => real.get(name)!.labels.includes(label))
        assert.deepEqual(known, real.get(name)!.labels, name)
      }
    } finally {
      child.kill('SIGKILL')
      await ended
    }
  })
})
