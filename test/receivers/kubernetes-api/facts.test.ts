import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { createSimulatedCluster } from '../../../pipeline/simulator/cluster.ts'
import { createShardRenderer } from '../../../pipeline/simulator/kube-state-metrics/render.ts'
import type { GivenObject } from '../../../pipeline/simulator/kubernetes-api/object-identity.ts'
import { labelsFrom } from '../../../pipeline/model/labels.ts'
import { columnCount } from '../../../pipeline/model/layout.ts'
import { RefusedError } from '../../../pipeline/component.ts'
import { samplesIn } from '../../pipeline/simulator/samples.ts'
import { sharedPath } from '../../support/shared.ts'
import { TEST_START_MS } from '../../support/test-host.ts'
import { factSamples } from './fact-samples.ts'
import { owned, testReceiver, type TestReceiver } from './test-receiver.ts'

type Status = { node?: string; phase?: string; startTime?: string }

function pod(name: string, { node, ...status }: Status = {}): GivenObject {
  const resources = { requests: { cpu: '1500m', memory: '1Gi' }, limits: { 'nvidia.com/gpu': '2' } }
  const spec = { ...(node !== undefined && { nodeName: node }), containers: [{ name: 'main', resources }] }
  return owned('v1', 'Pod', name, `uid-${name}`, undefined, { spec, status })
}

const node: GivenObject = {
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'n1', uid: 'n', labels: { 'nvidia.com/gpu.product': 'H100' } },
  status: {
    capacity: { cpu: '64', memory: '1Ti', 'nvidia.com/gpu': '8', 'hugepages-2Mi': '0' },
    conditions: [{ type: 'Ready', status: 'True' }],
    addresses: [{ type: 'InternalIP', address: '10.0.0.1' }],
  },
}

/** Batches since the last call, in words. */
function sent(receiver: TestReceiver): string[] {
  return receiver.batches
    .splice(0)
    .map(({ source, outcome, layout }) => `${source.name}: ${outcome === 'ok' ? columnCount(layout) : outcome}`)
}

describe('metrics of kubernetes_api', () => {
  it('are those of kube-state-metrics', async function () {
    this.timeout(20_000)
    const cluster = createSimulatedCluster({ seed: 3, nodes: 6, gpusPerNode: 8, startMs: TEST_START_MS })
    cluster.advance(TEST_START_MS + 7 * 3_600_000)
    const text = createShardRenderer(cluster.state, { shards: 1, labels: {}, annotations: {} }).render(0).join('')
    const receiver = testReceiver([...cluster.objects()] as GivenObject[])
    await receiver.start()
    // Kube-state-metrics shows labels only if it is told to, and the simulated one neither addresses nor all times.
    const others = /^kube_(node_labels|node_status_addresses|pod_status_initialized_time)$/
    const theirs = factSamples(samplesIn(text), family => !others.test(family))
    const ours = factSamples(samplesIn(`${receiver.text('kube_').join('\n')}\n`), family => !others.test(family))
    assert.ok(theirs.length > 500, `${theirs.length} samples`)
    assert.deepEqual(ours, theirs)
    receiver.stop()
  })

  it('are of a real cluster those that its kube-state-metrics had at that moment', async function () {
    const folder = sharedPath('captures', 'newrelic-k8s-1_34')
    if (folder === undefined) return this.skip()
    const objects = ['pods', 'nodes', 'namespaces'].flatMap(
      kind => (parse(readFileSync(join(folder, `${kind}.yaml`), 'utf8')) as { items: GivenObject[] }).items,
    )
    const receiver = testReceiver(objects)
    await receiver.start()
    // It was not told to show labels.
    const isCommon = (family: string): boolean => /^kube_(pod|node)_/.test(family) && family !== 'kube_node_labels'
    const theirs = factSamples(samplesIn(readFileSync(join(folder, 'ksm_metrics'), 'utf8')), isCommon)
    const ours = factSamples(samplesIn(`${receiver.text('kube_').join('\n')}\n`), isCommon)
    assert.ok(theirs.length > 200, `${theirs.length} samples`)
    assert.deepEqual(ours, theirs)
    receiver.stop()
  })

  it('have the units of resources, and the names of 1.x that dashboards ask for', async () => {
    const receiver = testReceiver([node, pod('a', { node: 'n1', phase: 'Running', startTime: '2023-11-14T22:00:00Z' })])
    await receiver.start()
    const identity = 'job="kubernetes_api",namespace="team"'
    const container = `{container="main",${identity},node="n1",pod="a"`
    assert.deepEqual(receiver.text('kube_pod_container_resource'), [
      `kube_pod_container_resource_limits${container},resource="nvidia_com_gpu",uid="uid-a",unit="integer"} 2`,
      `kube_pod_container_resource_requests_cpu_cores${container},uid="uid-a"} 1.5`,
      `kube_pod_container_resource_requests_memory_bytes${container},uid="uid-a"} 1073741824`,
      `kube_pod_container_resource_requests${container},resource="cpu",uid="uid-a",unit="core"} 1.5`,
      `kube_pod_container_resource_requests${container},resource="memory",uid="uid-a",unit="byte"} 1073741824`,
    ])
    assert.deepEqual(receiver.text('kube_pod_start_time'), [
      `kube_pod_start_time{${identity},pod="a",uid="uid-a"} 1699999200`,
    ])
    assert.deepEqual(receiver.text('kube_node_status_c'), [
      'kube_node_status_capacity{job="kubernetes_api",node="n1",resource="cpu",unit="core"} 64',
      'kube_node_status_capacity{job="kubernetes_api",node="n1",resource="hugepages_2Mi",unit="byte"} 0',
      'kube_node_status_capacity{job="kubernetes_api",node="n1",resource="memory",unit="byte"} 1099511627776',
      'kube_node_status_capacity{job="kubernetes_api",node="n1",resource="nvidia_com_gpu",unit="integer"} 8',
      'kube_node_status_condition{condition="Ready",job="kubernetes_api",node="n1",status="false"} 0',
      'kube_node_status_condition{condition="Ready",job="kubernetes_api",node="n1",status="true"} 1',
      'kube_node_status_condition{condition="Ready",job="kubernetes_api",node="n1",status="unknown"} 0',
    ])
    assert.deepEqual(receiver.text('kube_node_labels'), [
      'kube_node_labels{job="kubernetes_api",label_nvidia_com_gpu_product="H100",node="n1"} 1',
    ])
    receiver.stop()
  })

  it('say what pods ask for in GPUs, in any way, and what they have', async () => {
    const asking = (name: string, annotations: Record<string, string>, parts: Partial<GivenObject> = {}): GivenObject =>
      owned('v1', 'Pod', name, `uid-${name}`, undefined, {
        spec: { nodeName: 'n1', containers: [{ name: 'main' }] },
        ...parts,
        metadata: { name, annotations },
      })
    const instance = { name: 'main', resources: { limits: { 'nvidia.com/mig-2g.10gb': 1 } } }
    const receiver = testReceiver([
      pod('waiting'),
      pod('done', { node: 'n1', phase: 'Succeeded' }),
      asking('half', { 'gpu-fraction': '0.5', 'gpu-fraction-num-devices': '2' }),
      asking('memory', { 'gpu-memory': '1024' }),
      asking('slice', {}, { spec: { nodeName: 'n1', containers: [instance] } }),
      asking('none', {}),
      owned('v1', 'Pod', 'reserve', 'r', undefined, {
        metadata: { name: 'reserve', namespace: 'runai-reservation' },
        spec: { nodeName: 'n1', containers: [{ name: 'c', resources: { limits: { 'nvidia.com/gpu': 1 } } }] },
      }),
    ])
    await receiver.start()
    const short = receiver
      .text('{"k8s.pod.gpu.')
      .map(line => line.replace(/^\{"k8s\.pod\.gpu\.([a-z.]+)",.*pod="(\w+)".*\} (.*)$/, '$2 $1 $3'))
    assert.deepEqual(short.toSorted(), [
      'done requested 2',
      'half allocated 1',
      'half requested 1',
      'memory memory.requested 1073741824',
      'slice allocated 2',
      'slice requested 2',
      'waiting requested 2',
    ])
    receiver.stop()
  })

  it('of a node are sent when something of it changes, at most once a second', async () => {
    const receiver = testReceiver([node, pod('a', { node: 'n1' }), pod('b', { node: 'n2' }), pod('c')])
    const { start, stop, store, clock } = receiver
    await start()
    sent(receiver)
    await clock.advance(5000)
    assert.deepEqual(sent(receiver), [])
    store.apply([{ type: 'MODIFIED', object: pod('b', { node: 'n2', phase: 'Running' }) }])
    await clock.advance(0)
    assert.deepEqual(sent(receiver), ['node n2: 10'])
    store.apply([{ type: 'MODIFIED', object: pod('b', { node: 'n2', phase: 'Failed' }) }])
    store.apply([{ type: 'MODIFIED', object: pod('c', { node: 'n2', phase: 'Pending' }) }])
    await clock.advance(999)
    assert.deepEqual(sent(receiver), [])
    await clock.advance(1)
    assert.deepEqual(sent(receiver), ['pods without a node: removed', 'node n2: 19'])
    store.apply([{ type: 'DELETED', object: pod('b') }])
    store.apply([{ type: 'DELETED', object: pod('c') }])
    await clock.advance(1000)
    assert.deepEqual(sent(receiver), ['node n2: removed'])
    stop()
    assert.deepEqual(sent(receiver), ['node n1: removed', 'the Kubernetes API: removed'])
  })

  it('keep their layout while only values change, and say what they kept when series do', async () => {
    const receiver = testReceiver([
      pod('a', { node: 'n1' }),
      pod('b', { node: 'n1', startTime: '2023-11-14T22:00:00Z' }),
    ])
    const { start, stop, store, clock, batches } = receiver
    await start()
    const first = batches.at(-1)!
    store.apply([{ type: 'MODIFIED', object: pod('b', { node: 'n1', startTime: '2023-11-14T22:00:01Z' }) }])
    await clock.advance(1000)
    const second = batches.at(-1)!
    assert.notEqual(second, first)
    assert.equal(second.layout, first.layout)
    assert.deepEqual([first.values.includes(1_699_999_200), second.values.includes(1_699_999_201)], [true, true])
    store.apply([{ type: 'MODIFIED', object: pod('a', { node: 'n1', phase: 'Running' }) }])
    await clock.advance(1000)
    const third = batches.at(-1)!
    assert.equal(columnCount(third.layout), columnCount(first.layout) + 1)
    assert.equal(third.layout.keptFrom?.id, first.layout.id)
    const kept = third.layout.keptFrom!.runs.filter((_, i) => i % 3 === 2).reduce((sum, length) => sum + length, 0)
    assert.equal(kept, columnCount(first.layout))
    assert.deepEqual([third.source.node, third.source.labels], ['n1', labelsFrom([['job', 'kubernetes_api']])])
    stop()
  })

  it('are sent again when nothing changes, in turns', async () => {
    const pods = Array.from({ length: 30 }, (_, i) => pod(`p${i}`, { node: `n${i}` }))
    const receiver = testReceiver(pods, { interval: '30s' })
    await receiver.start()
    sent(receiver)
    await receiver.clock.advance(29_000)
    assert.deepEqual(sent(receiver), [])
    await receiver.clock.advance(1000)
    assert.equal(sent(receiver).length, 1 + 2)
    await receiver.clock.advance(29_000)
    assert.equal(sent(receiver).length, 28)
    receiver.stop()
  })

  it('are left out where they are not wanted', async () => {
    const receiver = testReceiver([node, pod('a', { node: 'n1' })], { metrics: false })
    await receiver.start()
    assert.deepEqual(receiver.text('kube'), [])
    assert.deepEqual(receiver.text('up'), ['up{job="kubernetes_api"} 1'])
    assert.equal(receiver.tables.pods.size, 1)
    receiver.stop()
  })

  it('are offered again when nobody took them', async () => {
    let refusing = true
    const receiver = testReceiver([pod('a', { node: 'n1' })], {}, {}, () => {
      if (refusing) throw new RefusedError('full')
    })
    await receiver.start()
    refusing = false
    await receiver.clock.advance(2000)
    assert.deepEqual(sent(receiver), ['node n1: 9'])
    receiver.stop()
  })
})
