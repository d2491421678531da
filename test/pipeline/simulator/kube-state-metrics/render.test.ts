import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { createSimulatedCluster } from '../../../../pipeline/simulator/cluster.ts'
import {
  createShardRenderer,
  type KubeStateMetricsOptions,
} from '../../../../pipeline/simulator/kube-state-metrics/render.ts'
import { programOrSkip } from '../../../support/programs.ts'
import { byName, samplesIn } from '../samples.ts'

const START_MS = Date.parse('2026-03-02T09:00:00Z')
const EVERYTHING = { pods: ['*'], nodes: ['*'], namespaces: ['*'] }

const simulated = createSimulatedCluster({ seed: 3, nodes: 8, gpusPerNode: 8, startMs: START_MS })
simulated.advance(START_MS + 5 * 3_600_000)

function render(options: Partial<KubeStateMetricsOptions> = {}, shard = 0): string {
  const complete = { shards: 1, labels: EVERYTHING, annotations: EVERYTHING, ...options }
  return createShardRenderer(simulated.state, complete).render(shard).join('')
}

describe('the text of kube-state-metrics', () => {
  it('has one block per family and no series twice', () => {
    const text = render()
    const samples = samplesIn(text)
    const series = samples.map(({ name, labels }) => JSON.stringify([name, labels]))
    assert.equal(new Set(series).size, series.length)
    const families = [...text.matchAll(/^# TYPE (\S+) /gm)].map(match => match[1]!)
    assert.equal(new Set(families).size, families.length)
    for (const { name } of samples) assert.ok(families.includes(name), name)
  })

  it('is what promtool takes for good', function () {
    const promtool = programOrSkip(this, 'promtool')
    const { status, stdout, stderr } = spawnSync(promtool, ['check', 'metrics'], { input: render(), encoding: 'utf8' })
    assert.equal(stderr + stdout, '')
    assert.equal(status, 0)
  })

  it('prints the heads of families that have no series', () => {
    const text = render({ labels: {}, annotations: {} })
    for (const name of ['kube_pod_labels', 'kube_pod_annotations', 'kube_node_labels', 'kube_namespace_labels']) {
      assert.match(text, new RegExp(`^# TYPE ${name} gauge$`, 'm'))
      assert.doesNotMatch(text, new RegExp(`^${name}\\{`, 'm'))
    }
  })

  it('shows the labels and annotations that are allowed', () => {
    const text = render({ labels: { pods: ['project', 'workloadName'] }, annotations: { pods: ['user'] } })
    const families = byName(samplesIn(text))
    const names = (family: string): string[] =>
      [...new Set(families.get(family)!.flatMap(({ labels }) => Object.keys(labels)))].toSorted()
    assert.deepEqual(names('kube_pod_labels'), ['label_project', 'label_workload_name', 'namespace', 'pod', 'uid'])
    assert.deepEqual(names('kube_pod_annotations'), ['annotation_user', 'namespace', 'pod', 'uid'])
  })

  it('spreads the objects over its shards: together they are the whole, and no object is in two', () => {
    const sorted = (text: string): string[] =>
      text
        .split('\n')
        .filter(line => line !== '' && !line.startsWith('#'))
        .toSorted()
    const parts = [0, 1, 2].map(shard => render({ shards: 3 }, shard))
    assert.deepEqual(sorted(parts.join('')), sorted(render()))
    for (const part of parts) assert.ok(samplesIn(part).length > 0.15 * samplesIn(render()).length)
    const shardsOfPod = parts.map(part => new Set(samplesIn(part).map(({ labels }) => labels['uid'])))
    for (const uid of shardsOfPod[0]!)
      if (uid !== undefined) assert.ok(!shardsOfPod[1]!.has(uid) && !shardsOfPod[2]!.has(uid))
  })

  it('keeps its arbitrary order while objects stay', () => {
    const order = (text: string): (string | undefined)[] =>
      byName(samplesIn(text))
        .get('kube_pod_info')!
        .map(({ labels }) => labels['uid'])
    const before = order(render())
    assert.notDeepEqual(
      before,
      [...simulated.state.pods].map(({ uid }) => uid),
    )
    assert.deepEqual(order(render()), before)
  })

  it('writes big numbers as Go does', () => {
    const families = byName(samplesIn(render()))
    assert.match(families.get('kube_pod_created')![0]!.value, /^1\.\d+e\+09$/)
    const memory = families.get('kube_node_status_capacity')!.find(({ labels }) => labels['resource'] === 'memory')
    assert.match(memory!.value, /^\d\.\d+e\+1\d$/)
  })

  it('has five phases of each pod, of which one holds', () => {
    const phases = Map.groupBy(byName(samplesIn(render())).get('kube_pod_status_phase')!, ({ labels }) => labels['uid'])
    assert.equal(phases.size, simulated.state.pods.size)
    for (const [uid, samples] of phases) {
      assert.deepEqual(
        samples.map(({ labels }) => labels['phase']),
        ['Pending', 'Succeeded', 'Failed', 'Unknown', 'Running'],
      )
      assert.equal(samples.filter(({ value }) => value === '1').length, 1, String(uid))
    }
  })

  it('follows what changes', () => {
    const renderer = createShardRenderer(simulated.state, { shards: 1, labels: EVERYTHING, annotations: EVERYTHING })
    renderer.render(0)
    simulated.advance(simulated.timeMs + 3_600_000)
    assert.equal(renderer.render(0).join(''), render())
  })
})
