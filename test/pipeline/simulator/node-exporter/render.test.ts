import assert from 'node:assert/strict'
import { sampleNode } from '../../../../pipeline/simulator/accounting.ts'
import { createSimulatedCluster } from '../../../../pipeline/simulator/cluster.ts'
import { renderNodeExporter } from '../../../../pipeline/simulator/node-exporter/render.ts'
import { checkByPromtool } from '../lint.ts'
import { byName, samplesIn, type Sample } from '../samples.ts'

const START_MS = Date.parse('2026-03-02T09:00:00Z')
const MODES = ['idle', 'iowait', 'irq', 'nice', 'softirq', 'steal', 'system', 'user']

const simulated = createSimulatedCluster({ seed: 2, nodes: 4, gpusPerNode: 8, startMs: START_MS })
simulated.advance(START_MS + 2 * 3_600_000)

function render(node: number): string {
  return renderNodeExporter(simulated.state.nodes[node]!, simulated.timeMs, simulated.timeMs)
}

function sum(samples: readonly Sample[]): number {
  return samples.reduce((total, { value }) => total + Number(value), 0)
}

describe('the text of node-exporter', () => {
  it('has families by name, each once, no series twice, and rows in order', () => {
    for (let node = 0; node < 4; node++) {
      const text = render(node)
      const names = [...text.matchAll(/^# TYPE (\S+) (?:counter|gauge)$/gm)].map(([, name]) => name!)
      assert.deepEqual(names, [...new Set(names)].toSorted())
      const families = byName(samplesIn(text))
      assert.deepEqual([...families.keys()], names)
      for (const [name, samples] of families) {
        const rows = samples.map(({ labels }) => Object.values(labels).join('\t'))
        assert.deepEqual(rows, [...new Set(rows)].toSorted(), name)
      }
    }
  })

  it('is what promtool takes for good, but for the names of the kernel', function () {
    checkByPromtool(this, render(0), /^node_memory_\w+ metric names should be written in 'snake_case'/)
  })

  it('has no times: it reads the kernel when it is asked', () => {
    for (const { timeMs } of samplesIn(render(0))) assert.equal(timeMs, undefined)
  })

  it('has every CPU in every mode; what was not used was idle', () => {
    for (const [at, node] of simulated.state.nodes.entries()) {
      const rows = byName(samplesIn(render(at))).get('node_cpu_seconds_total')!
      assert.equal(rows.length, node.pool.cpus * MODES.length)
      const upSeconds = (simulated.timeMs - node.createdMs) / 1000
      const byCpu = Map.groupBy(rows, ({ labels }) => labels['cpu'])
      assert.equal(byCpu.size, node.pool.cpus)
      for (const samples of byCpu.values()) {
        assert.deepEqual(
          samples.map(({ labels }) => labels['mode']),
          MODES,
        )
        // Hundredths are cut off in each mode.
        assert.ok(Math.abs(sum(samples) - upSeconds) < 0.08)
      }
      const busy = sum(rows.filter(({ labels }) => !['idle', 'iowait'].includes(labels['mode']!)))
      const used = sampleNode(node, simulated.timeMs).whole.cpuMicros / 1e6
      assert.ok(busy <= used + 1e-3 && used - busy < 0.01 * rows.length, `${busy} of ${used}`)
    }
  })

  it('never counts back, in any series', () => {
    const own = createSimulatedCluster({ seed: 9, nodes: 4, gpusPerNode: 8, startMs: START_MS })
    const latest = new Map<string, number>()
    for (let minute = 0; minute < 300; minute += 3) {
      own.advance(START_MS + minute * 60_000)
      const text = renderNodeExporter(own.state.nodes[3]!, own.timeMs, own.timeMs)
      for (const { name, labels, value } of samplesIn(text)) {
        if (!name.endsWith('_total')) continue
        const key = `${name} ${Object.values(labels).join(' ')}`
        assert.ok(Number(value) >= (latest.get(key) ?? 0), `${key}: ${value} after ${latest.get(key)}`)
        latest.set(key, Number(value))
      }
    }
  })

  it('says how much memory is available: what is not is the working set of the node', () => {
    for (const [at, node] of simulated.state.nodes.entries()) {
      const families = byName(samplesIn(render(at)))
      const bytes = (name: string): number => Number(families.get(`node_memory_${name}_bytes`)![0]!.value)
      const { memoryBytes } = sampleNode(node, simulated.timeMs).whole
      assert.equal(bytes('MemTotal'), node.pool.memoryKiB * 1024)
      assert.equal(bytes('MemTotal') - bytes('MemAvailable'), memoryBytes)
      assert.ok(bytes('MemFree') > 0 && bytes('MemFree') + bytes('Cached') < bytes('MemTotal'))
    }
  })

  it('has a load that is what the node does', () => {
    const [node] = simulated.state.nodes
    const micros = (timeMs: number): number => sampleNode(node!, timeMs).whole.cpuMicros
    const cores = (micros(simulated.timeMs) - micros(simulated.timeMs - 60_000)) / 60e6
    assert.ok(cores > 1)
    const [load] = byName(samplesIn(render(0))).get('node_load1')!
    assert.ok(Math.abs(Number(load!.value) - cores) < 0.01)
  })
})
