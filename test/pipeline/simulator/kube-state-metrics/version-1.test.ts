import assert from 'node:assert/strict'
import { createSimulatedCluster } from '../../../../pipeline/simulator/cluster.ts'
import { createShardRenderer } from '../../../../pipeline/simulator/kube-state-metrics/render.ts'
import { checkByPromtool } from '../lint.ts'
import { byName, samplesIn, type Sample } from '../samples.ts'

const START_MS = Date.parse('2026-03-02T09:00:00Z')
const EVERYTHING = { pods: ['*'], nodes: ['*'], namespaces: ['*'] }

const simulated = createSimulatedCluster({ seed: 3, nodes: 8, gpusPerNode: 8, startMs: START_MS })
simulated.advance(START_MS + 5 * 3_600_000)

function render(version: 1 | 2, shards = 1): string {
  const renderer = createShardRenderer(simulated.state, {
    version,
    shards,
    labels: EVERYTHING,
    annotations: EVERYTHING,
  })
  return Array.from({ length: shards }, (_, shard) => renderer.render(shard).join('')).join('')
}

describe('the text of kube-state-metrics 1.x', () => {
  const text = render(1)
  const families = byName(samplesIn(text))
  const of2 = byName(samplesIn(render(2)))

  function labelNames(name: string): string {
    return Object.keys(families.get(name)![0]!.labels).join(' ')
  }

  it('has one block per family and no series twice', () => {
    const heads = [...text.matchAll(/^# TYPE (\S+) /gm)].map(match => match[1]!)
    assert.equal(new Set(heads).size, heads.length)
    for (const [name, samples] of families) {
      assert.ok(heads.includes(name), name)
      assert.equal(new Set(samples.map(({ labels }) => JSON.stringify(labels))).size, samples.length, name)
    }
  })

  it('is what promtool takes for good, but for labels that keep their case', function () {
    checkByPromtool(this, text, /^kube_\w+_labels label names should be written in 'snake_case'/)
  })

  it('promises nothing in its help', () => assert.doesNotMatch(text, /STABLE/))

  const LABELS: [name: string, labels: string][] = [
    ['kube_pod_info', 'namespace pod host_ip pod_ip uid node created_by_kind created_by_name priority_class'],
    ['kube_pod_owner', 'namespace pod owner_kind owner_name owner_is_controller'],
    ['kube_pod_container_info', 'namespace pod container image image_id container_id'],
    ['kube_pod_container_resource_requests', 'namespace pod container node resource unit'],
    ['kube_pod_container_resource_requests_cpu_cores', 'namespace pod container node'],
    ['kube_pod_container_resource_requests_memory_bytes', 'namespace pod container node'],
    ['kube_node_status_capacity_cpu_cores', 'node'],
    ['kube_node_status_allocatable_pods', 'node'],
    ['kube_cronjob_info', 'namespace cronjob schedule concurrency_policy'],
  ]
  for (const [name, labels] of LABELS) {
    it(`has ${name} with the labels ${labels}`, () => assert.equal(labelNames(name), labels))
  }

  it('has a uid in kube_pod_info only', () => {
    for (const [name, samples] of families) {
      for (const { labels } of samples) assert.equal('uid' in labels, name === 'kube_pod_info', name)
    }
  })

  it('has no annotations, and none of the families that came later', () => {
    for (const name of [
      'kube_pod_annotations',
      'kube_namespace_annotations',
      'kube_pod_deletion_timestamp',
      'kube_pod_status_qos_class',
      'kube_deployment_owner',
    ]) {
      assert.ok(of2.has(name) || render(2).includes(`# TYPE ${name} `), name)
      assert.doesNotMatch(text, new RegExp(`${name}[ {]`))
    }
  })

  it('shows all labels without a list, under names that keep their case', () => {
    const renderer = createShardRenderer(simulated.state, { version: 1, shards: 1, labels: {}, annotations: {} })
    assert.equal(renderer.render(0).join(''), text)
    const names = new Set(families.get('kube_pod_labels')!.flatMap(({ labels }) => Object.keys(labels)))
    for (const name of ['label_workloadName', 'label_run_ai_top_owner_uid', 'label_runai_gpu_group']) {
      assert.ok(names.has(name), name)
    }
    assert.ok(!names.has('label_workload_name'))
  })

  it('has requests twice: in a family of their own what the generic one has', () => {
    for (const [resource, family] of [
      ['cpu', 'kube_pod_container_resource_requests_cpu_cores'],
      ['memory', 'kube_pod_container_resource_requests_memory_bytes'],
    ] as const) {
      const describe = ({ labels, value }: Sample): string =>
        `${labels['namespace']}/${labels['pod']}/${labels['container']} ${labels['node']} ${value}`
      const generic = families
        .get('kube_pod_container_resource_requests')!
        .filter(({ labels }) => labels['resource'] === resource)
      assert.ok(generic.length > 20)
      assert.deepEqual(families.get(family)!.map(describe).toSorted(), generic.map(describe).toSorted())
    }
  })

  it('has a series for each reason, of which one holds, or none', () => {
    const waiting = Map.groupBy(
      families.get('kube_pod_container_status_waiting_reason')!,
      ({ labels }) => `${labels['namespace']}/${labels['pod']}`,
    )
    for (const samples of waiting.values()) {
      assert.equal(samples.length, 7)
      assert.ok(samples.filter(({ value }) => value === '1').length <= 1)
    }
    assert.ok(waiting.size > 20)
  })

  it('says <none> where there is no owner', () => {
    const none = (samples: readonly Sample[], value: string): string[] =>
      samples
        .filter(({ labels }) => labels['owner_kind'] === value)
        .map(({ labels }) => `${labels['namespace']}/${labels['pod']}`)
        .toSorted()
    const bare = none(families.get('kube_pod_owner')!, '<none>')
    assert.ok(bare.length > 0)
    assert.deepEqual(bare, none(of2.get('kube_pod_owner')!, ''))
    assert.deepEqual(none(families.get('kube_pod_owner')!, ''), [])
  })

  it('tells of pods that are being deleted under another name', () => {
    const own = createSimulatedCluster({ seed: 3, nodes: 8, gpusPerNode: 8, startMs: START_MS })
    const deleting = (): boolean => [...own.state.pods].some(({ deletionMs }) => deletionMs !== undefined)
    while (!deleting()) own.advance(own.timeMs + 1000)
    const shown = (version: 1 | 2): Map<string, Sample[]> =>
      byName(
        samplesIn(
          createShardRenderer(own.state, { version, shards: 1, labels: {}, annotations: {} }).render(0).join(''),
        ),
      )
    const values = (samples: readonly Sample[]): string[] =>
      samples.map(({ labels, value }) => `${labels['pod']} ${value}`).toSorted()
    assert.deepEqual(values(shown(1).get('kube_pod_deleted')!), values(shown(2).get('kube_pod_deletion_timestamp')!))
  })

  it('can be cut into shards, too', () => {
    const sorted = (text: string): string[] =>
      text
        .split('\n')
        .filter(line => line !== '' && !line.startsWith('#'))
        .toSorted()
    assert.deepEqual(sorted(render(1, 3)), sorted(text))
  })
})
