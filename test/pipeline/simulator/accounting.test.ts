import assert from 'node:assert/strict'
import {
  kubeletSample,
  sampleNode,
  sumOf,
  type NodeSample,
  type PodSample,
} from '../../../pipeline/simulator/accounting.ts'
import {
  createSimulatedCluster,
  type ClusterOptions,
  type SimulatedCluster,
} from '../../../pipeline/simulator/cluster.ts'
import { claimActivity } from '../../../pipeline/simulator/gpu.ts'
import { qosClassOf } from '../../../pipeline/simulator/pod.ts'

const START_MS = Date.parse('2026-03-02T09:00:00Z')
const MINUTE_MS = 60_000

function cluster(options: Partial<ClusterOptions> = {}): SimulatedCluster {
  return createSimulatedCluster({ seed: 4, nodes: 4, gpusPerNode: 8, startMs: START_MS, ...options })
}

function total({ classes, services }: NodeSample): unknown {
  return sumOf([...Object.values(classes), ...services])
}

describe('what the kernel of a simulated node counts', function () {
  this.timeout(20_000)

  for (const gpusPerNode of [1, 8, 16]) {
    it(`adds up from containers to a node with ${gpusPerNode} GPUs, and fits into it, for a day`, () => {
      const simulated = cluster({ gpusPerNode })
      for (let minute = 0; minute < 24 * 60; minute += 7) {
        simulated.advance(START_MS + minute * MINUTE_MS)
        for (const node of simulated.state.nodes) {
          const sample = sampleNode(node, simulated.timeMs)
          assert.deepEqual(sample.whole, total(sample))
          for (const qosClass of ['BestEffort', 'Burstable'] as const) {
            const pods = sample.pods.filter(({ pod }) => qosClassOf(pod) === qosClass)
            const bytes = pods.reduce((sum, { whole }) => sum + whole.memoryBytes, 0)
            assert.equal(sample.classes[qosClass].memoryBytes, bytes)
          }
          for (const { pod, whole, pause, container } of sample.pods) {
            assert.equal(container === undefined, pod.runningMs === undefined)
            const parts = sumOf(container === undefined ? [pause] : [pause, container])
            assert.equal(whole.memoryBytes, parts.memoryBytes)
            assert.equal(whole.cpuMicros, parts.cpuMicros + (pod.endedMicros ?? 0))
          }
          assert.ok(sample.whole.memoryBytes < node.pool.memoryKiB * 1024)
          const requested = sample.pods.reduce((sum, { pod }) => sum + pod.cpuMillis, 0)
          assert.ok(requested < 1000 * node.pool.cpus - 500, `${requested} on ${node.name}`)
        }
      }
    })
  }

  it('never goes back, except that the container of a pod begins at zero when it starts again', () => {
    const simulated = cluster()
    const latest = new Map<unknown, number>()
    const grows = (subject: unknown, micros: number): void => {
      assert.ok(micros >= (latest.get(subject) ?? 0), `${micros} after ${latest.get(subject)}`)
      latest.set(subject, micros)
    }
    const containers = new Map<string, { restarts: number; micros: number }>()
    let restarted = 0
    for (let minute = 0; minute < 12 * 60; minute++) {
      simulated.advance(START_MS + minute * MINUTE_MS)
      for (const node of simulated.state.nodes) {
        const { whole, classes, pods } = sampleNode(node, simulated.timeMs)
        grows(node, whole.cpuMicros)
        grows(`${node.name} burstable`, classes.Burstable.cpuMicros)
        grows(`${node.name} besteffort`, classes.BestEffort.cpuMicros)
        for (const { pod, whole, container } of pods) {
          grows(pod, whole.cpuMicros)
          if (container === undefined) continue
          const before = containers.get(pod.uid)
          if (before !== undefined && container.restarts > before.restarts) {
            restarted++
            assert.ok(container.cpuMicros < before.micros)
            assert.ok(whole.cpuMicros > before.micros)
          } else if (before !== undefined) assert.ok(container.cpuMicros >= before.micros)
          containers.set(pod.uid, { restarts: container.restarts, micros: container.cpuMicros })
        }
      }
    }
    assert.ok(restarted > 0)
  })

  it('goes with what the GPUs of a pod do, and never beyond its request', () => {
    const simulated = cluster()
    simulated.advance(START_MS + 30 * MINUTE_MS)
    const before = simulated.state.nodes.flatMap(node => sampleNode(node, simulated.timeMs).pods)
    simulated.advance(simulated.timeMs + MINUTE_MS)
    const after = new Map(
      simulated.state.nodes
        .flatMap(node => sampleNode(node, simulated.timeMs).pods)
        .map((sample): [string, PodSample] => [`${sample.pod.uid}/${sample.pod.restarts}`, sample]),
    )
    const seen = { busy: 0, resting: 0 }
    for (const { pod, container } of before) {
      const later = after.get(`${pod.uid}/${pod.restarts}`)?.container
      if (container === undefined || later === undefined || pod.cpuMillis === 0) continue
      const cores = (later.cpuMicros - container.cpuMicros) / 60_000_000
      assert.ok(cores > 0 && cores <= pod.cpuMillis / 1000, `${cores} of ${pod.cpuMillis}`)
      const share = cores / (pod.cpuMillis / 1000)
      const activities = [0, -30_000, -60_000].map(ms =>
        pod.claims.length === 0 ? 0 : claimActivity(pod.claims[0]!, simulated.timeMs + ms, 0),
      )
      if (activities.every(activity => activity > 0.5)) {
        seen.busy++
        assert.ok(share > 0.14, `${share} of ${pod.name}`)
      } else if (activities.every(activity => activity === 0)) {
        seen.resting++
        assert.ok(share < 0.05, `${share} of ${pod.name}`)
      }
    }
    assert.ok(seen.busy > 3 && seen.resting > 3)
  })

  it('is sampled by the kubelet every ten seconds: nothing that happens later changes a sample', () => {
    const often = cluster()
    const once = cluster()
    const seen = new Map<string, string>()
    const describe = (sample: NodeSample): string =>
      JSON.stringify({
        ...sample,
        pods: sample.pods.map(({ pod, whole, container }) => [pod.uid, whole, container]),
      })
    let changed = 0
    for (let second = 1; second <= 1800; second++) {
      often.advance(START_MS + second * 1000)
      for (const node of often.state.nodes) {
        const sample = kubeletSample(node, often.timeMs)
        const key = `${node.name} ${sample.timeMs}`
        assert.ok(sample.timeMs < often.timeMs && sample.timeMs > often.timeMs - 10_000)
        assert.notEqual(sample.timeMs % 1000, 0)
        assert.equal(describe(sample), seen.get(key) ?? describe(sample))
        seen.set(key, describe(sample))
        if (node.accounting.kept === sample) changed++
      }
    }
    assert.ok(changed > 20)
    once.advance(often.timeMs)
    for (const [at, node] of once.state.nodes.entries()) {
      const sample = kubeletSample(node, once.timeMs)
      assert.equal(describe(sample), describe(kubeletSample(often.state.nodes[at]!, often.timeMs)))
    }
  })

  it('begins at zero when a node boots', () => {
    const simulated = cluster({ reboots: [{ nodeName: 'node-1', timesMs: [START_MS + 10 * MINUTE_MS] }] })
    simulated.advance(START_MS + 10 * MINUTE_MS - 1000)
    const [other, node] = simulated.state.nodes
    const before = sampleNode(node!, simulated.timeMs)
    simulated.advance(START_MS + 10 * MINUTE_MS + 5000)
    const after = sampleNode(node!, simulated.timeMs)
    assert.equal(after.bootMs, START_MS + 10 * MINUTE_MS)
    assert.ok(before.whole.cpuMicros > 1e12)
    assert.ok(after.whole.cpuMicros < 5e6 * node!.pool.cpus && after.whole.cpuMicros > 0)
    assert.ok(after.pods.every(({ whole }) => whole.cpuMicros < 5e6 * 64))
    assert.ok(sampleNode(other!, simulated.timeMs).whole.cpuMicros > 1e12)
  })
})
