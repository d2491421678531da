import assert from 'node:assert/strict'
import { kubeletSample } from '../../../../pipeline/simulator/accounting.ts'
import { checkByPromtool } from '../lint.ts'
import { byName, samplesIn } from '../samples.ts'
import { resourceText, simulated } from './test-node.ts'

const FAMILIES = [
  'container_cpu_usage_seconds_total',
  'container_memory_working_set_bytes',
  'container_start_time_seconds',
  'node_cpu_usage_seconds_total',
  'node_memory_working_set_bytes',
  'pod_cpu_usage_seconds_total',
  'pod_memory_working_set_bytes',
  'resource_scrape_error',
  'scrape_error',
]

describe('/metrics/resource of the kubelet', () => {
  const [node] = simulated.state.nodes
  const text = resourceText(node!)
  const families = byName(samplesIn(text))

  it('has its families, by name', () => assert.deepEqual([...families.keys()], FAMILIES))

  it('is what promtool takes for good', function () {
    checkByPromtool(this, text, /^$/)
  })

  it('stamps samples with the moment at which they were taken, and start times not', () => {
    const { timeMs } = kubeletSample(node!, simulated.timeMs)
    assert.ok(timeMs < simulated.timeMs && timeMs % 1000 !== 0)
    for (const [name, samples] of families) {
      const stamped = !/start_time|scrape_error/.test(name)
      for (const sample of samples) assert.equal(sample.timeMs, stamped ? timeMs : undefined, name)
    }
  })

  it('stamps by a clock that is wrong, if it is', () => {
    const { timeMs } = kubeletSample(node!, simulated.timeMs)
    for (const sample of samplesIn(resourceText(node!, -90_000)))
      if (sample.timeMs !== undefined) assert.equal(sample.timeMs, timeMs - 90_000)
  })

  it('has a row for each pod and for each container that runs, by container, namespace and pod', () => {
    const { pods } = kubeletSample(node!, simulated.timeMs)
    const rows = (name: string): string[] => families.get(name)!.map(({ labels }) => Object.values(labels).join('\t'))
    const running = pods.filter(({ container }) => container !== undefined)
    assert.ok(pods.length > 4)
    assert.deepEqual(
      rows('pod_cpu_usage_seconds_total'),
      pods.map(({ pod }) => `${pod.namespace}\t${pod.name}`).toSorted(),
    )
    for (const name of FAMILIES.slice(0, 3)) {
      assert.deepEqual(
        rows(name),
        running.map(({ pod }) => `${pod.container}\t${pod.namespace}\t${pod.name}`).toSorted(),
      )
    }
  })

  it('says when containers started, as the API does', () => {
    const starts = new Map(
      families.get('container_start_time_seconds')!.map(({ labels, value }) => [labels['pod'], Number(value)]),
    )
    for (const pod of node!.accounting.pods)
      if (pod.runningMs !== undefined) assert.equal(starts.get(pod.name), pod.runningMs / 1000)
  })
})
