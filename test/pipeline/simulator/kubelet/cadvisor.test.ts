import assert from 'node:assert/strict'
import { kubeletSample } from '../../../../pipeline/simulator/accounting.ts'
import { checkByPromtool } from '../lint.ts'
import { byName, samplesIn, type Sample } from '../samples.ts'
import { cadvisorText, resourceText, simulated } from './test-node.ts'

/** What the real one has, too: names of labels in another style, a counter without the usual ending. */
const COMPLAINTS = /^cadvisor_version_info label names|^container_memory_failcnt counter metrics/

function micros({ value }: Sample): number {
  return Math.round(Number(value) * 1e6)
}

describe('/metrics/cadvisor of the kubelet', () => {
  const texts = simulated.state.nodes.map(node => cadvisorText(node))

  it('has families by name, each once, and no series twice', () => {
    for (const text of texts) {
      const names = [...text.matchAll(/^# TYPE (\S+) (?:counter|gauge)$/gm)].map(([, name]) => name!)
      assert.deepEqual(names, [...new Set(names)].toSorted())
      assert.ok(names.length > 35)
      const samples = samplesIn(text)
      const series = samples.map(({ name, labels }) => JSON.stringify([name, labels]))
      assert.equal(new Set(series).size, series.length)
      assert.deepEqual([...byName(samples).keys()], names)
    }
  })

  it('has labels, and rows in a family, in order', () => {
    for (const text of texts) {
      for (const [name, samples] of byName(samplesIn(text))) {
        for (const { labels } of samples) assert.deepEqual(Object.keys(labels), Object.keys(labels).toSorted())
        const rows = samples.map(({ labels }) => Object.values(labels).join('\t'))
        assert.deepEqual(rows, rows.toSorted(), name)
      }
    }
  })

  it('is what promtool takes for good, but for what real ones are told too', function () {
    for (const text of texts) checkByPromtool(this, text, COMPLAINTS)
  })

  it('has rows of groups without a pod, of pods without a container, and of the container that holds the network', () => {
    for (const [at, node] of simulated.state.nodes.entries()) {
      const rows = byName(samplesIn(texts[at]!)).get('container_memory_working_set_bytes')!
      const groups = rows.filter(({ labels }) => labels['pod'] === '')
      assert.deepEqual(
        groups.map(({ labels }) => labels['id']),
        [
          '/',
          '/kubepods',
          '/kubepods/besteffort',
          '/kubepods/burstable',
          '/system.slice/containerd.service',
          '/system.slice/kubelet.service',
        ],
      )
      const { pods } = kubeletSample(node, simulated.timeMs)
      const unnamed = rows.filter(({ labels }) => labels['pod'] !== '' && labels['container'] === '')
      assert.equal(unnamed.filter(({ labels }) => labels['image'] === '').length, pods.length)
      assert.equal(unnamed.filter(({ labels }) => /pause/.test(labels['image']!)).length, pods.length)
      const named = rows.filter(({ labels }) => labels['container'] !== '')
      assert.equal(named.length, pods.filter(({ container }) => container !== undefined).length)
      for (const { labels } of named) assert.ok(labels['image'] !== '' && labels['name'] !== '')
    }
  })

  it('counts everything three times over if nobody filters: containers in pods in groups in the node', () => {
    for (const text of texts) {
      const families = byName(samplesIn(text))
      for (const [name, read] of [
        ['container_memory_working_set_bytes', ({ value }: Sample) => Number(value)],
        ['container_cpu_usage_seconds_total', micros],
      ] as const) {
        const rows = families.get(name)!
        const sum = (matches: (labels: Sample['labels']) => boolean): number =>
          rows.filter(({ labels }) => matches(labels)).reduce((total, row) => total + read(row), 0)
        const at = (id: string): number => sum(labels => labels['id'] === id)
        const inPods = sum(({ pod, id }) => pod !== '' && /\/pod[^/]+$/.test(id!))
        assert.equal(at('/'), at('/kubepods') + sum(({ id }) => id!.startsWith('/system.slice/')))
        assert.equal(at('/kubepods'), at('/kubepods/besteffort') + at('/kubepods/burstable'))
        // CPU time of pods that are over, and of containers before a restart, is only in the sums.
        const within = sum(({ pod, id }) => pod !== '' && /\/pod[^/]+\/[^/]+$/.test(id!))
        if (name === 'container_memory_working_set_bytes') {
          assert.equal(at('/kubepods'), inPods)
          assert.equal(inPods, within)
        } else {
          assert.ok(at('/kubepods') >= inPods && inPods >= within)
        }
      }
    }
  })

  it('says of pods, containers and the node what /metrics/resource says', () => {
    for (const [at, node] of simulated.state.nodes.entries()) {
      const resource = byName(samplesIn(resourceText(node)))
      const cadvisor = byName(samplesIn(texts[at]!))
      for (const name of ['container_cpu_usage_seconds_total', 'container_memory_working_set_bytes']) {
        const describe = ({ labels, value, timeMs }: Sample): string =>
          `${labels['namespace']}/${labels['pod']}/${labels['container'] ?? ''} ${value} ${timeMs}`
        const rows = cadvisor.get(name)!
        assert.deepEqual(
          rows
            .filter(({ labels }) => labels['container'] !== '')
            .map(describe)
            .toSorted(),
          resource.get(name)!.map(describe).toSorted(),
        )
        assert.deepEqual(
          rows
            .filter(({ labels }) => labels['pod'] !== '' && labels['name'] === '')
            .map(describe)
            .toSorted(),
          resource.get(name.replace('container', 'pod'))!.map(describe).toSorted(),
        )
        const [root] = rows
        assert.equal(root!.value, resource.get(name.replace('container', 'node'))![0]!.value)
      }
    }
  })

  it('has no times where containers are described, and that of the scrape where they were last seen', () => {
    const { timeMs } = kubeletSample(simulated.state.nodes[0]!, simulated.timeMs)
    for (const [name, samples] of byName(samplesIn(texts[0]!))) {
      const expected =
        name === 'container_last_seen'
          ? simulated.timeMs
          : /^container_(?:spec|start_time|scrape)|^machine|^cadvisor/.test(name)
            ? undefined
            : timeMs
      for (const sample of samples) assert.equal(sample.timeMs, expected, name)
    }
  })

  it('shows the network where it is held', () => {
    const rows = byName(samplesIn(texts[0]!)).get('container_network_receive_bytes_total')!
    const [root, ...pods] = rows
    assert.equal(root!.labels['id'], '/')
    assert.ok(pods.length > 4)
    for (const { labels } of pods) assert.match(labels['image']!, /pause/)
    assert.ok(pods.reduce((sum, { value }) => sum + Number(value), 0) < Number(root!.value))
  })

  it('calls containers what kube-state-metrics and the API call them', () => {
    const names = new Set(
      byName(samplesIn(texts.join('')))
        .get('container_processes')!
        .filter(({ labels }) => labels['container'] !== '')
        .map(({ labels }) => labels['name']),
    )
    const running = [...simulated.state.pods].filter(({ runningMs }) => runningMs !== undefined)
    assert.equal(names.size, running.length)
    for (const pod of running)
      assert.ok(names.has(pod.uid.replaceAll('-', '') + String(pod.restarts).padStart(2, '0')), pod.name)
  })
})
