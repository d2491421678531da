import assert from 'node:assert/strict'
import { createCluster } from '../../../pipeline/cluster/cluster.ts'
import { nodeOf, nodeOfDevice } from '../../../pipeline/cluster/find-node.ts'
import { seenTables, type PodReader } from '../../../pipeline/cluster/find-pod.ts'
import type { SeenDevice } from '../../../pipeline/cluster/seen.ts'
import { clusterTables } from '../../../pipeline/cluster/tables.ts'
import type { Cluster } from '../../../pipeline/component.ts'
import { normalize } from '../../../processors/normalize.ts'
import { batchFromText, createSource } from '../../support/batch-from-text.ts'
import { podNamed, putNode, putPod, removePod } from '../../support/cluster-objects.ts'
import { configOf } from '../../support/config-of.ts'
import { testHost } from '../../support/test-host.ts'

function byApi(): Cluster {
  const cluster = createCluster()
  putNode(cluster, 'node-a', {}, ['10.0.0.1', 'fd00::1', 'node-a.example.com'])
  putPod(cluster, podNamed('exporter', { node: 'node-b', podIp: '10.1.0.7' }))
  putPod(cluster, podNamed('finished', { node: 'node-c', podIp: '10.1.0.8', phase: 'Succeeded' }))
  return cluster
}

function byMetrics(): Cluster {
  const cluster = createCluster()
  const processor = normalize.create(configOf(normalize, {}), { ...testHost(), cluster }, () => {})
  const text = `
    kube_node_info{node="node-a",internal_ip="10.0.0.1"} 1
    kube_node_status_addresses{node="node-a",type="InternalIP",address="10.0.0.1"} 1
    kube_node_status_addresses{node="node-a",type="InternalIP",address="fd00::1"} 1
    kube_node_status_addresses{node="node-a",type="InternalDNS",address="node-a.example.com"} 1
    kube_pod_info{namespace="ns",pod="exporter",uid="1",node="node-b",pod_ip="10.1.0.7",host_ip="10.0.0.2"} 1
    kube_pod_info{namespace="ns",pod="finished",uid="2",node="node-c",pod_ip="10.1.0.8",host_ip="10.0.0.3"} 1
    kube_pod_status_phase{namespace="ns",pod="finished",uid="2",phase="Succeeded"} 1
    kube_pod_info{namespace="ns",pod="on-host",uid="3",node="node-d",pod_ip="10.0.0.4",host_ip="10.0.0.4"} 1`
  processor.consume(batchFromText(text, { source: createSource('ksm') }))
  return cluster
}

function reader(cluster: Cluster): PodReader {
  return { look: entry => entry.value, tables: clusterTables(cluster), seen: seenTables(cluster) }
}

type Shown = { readonly target?: string; readonly node?: string; readonly host?: string | undefined }

function nodeFor(cluster: Cluster, { target = 'x', node, ...parts }: Shown): string | undefined {
  const none = { part: undefined, profile: undefined, model: undefined, holders: [] }
  const source = { ...createSource(target), ...(node !== undefined && { node }) }
  const device: SeenDevice = { id: 'GPU-1', index: '0', ...none, source, host: 'label', ...parts }
  return nodeOfDevice(reader(cluster), device)
}

const CASES: readonly (readonly [name: string, device: Shown, node: string | undefined])[] = [
  ['the one that discovery knows', { node: 'known', target: 'http://10.0.0.1:9400/metrics' }, 'known'],
  ['the one that has the address', { target: 'http://10.0.0.1:9400/metrics' }, 'node-a'],
  ['the one that has the IPv6 address', { target: 'http://[fd00::1]:9400/metrics' }, 'node-a'],
  ['the one that has the name', { target: 'http://node-a:9400/metrics' }, 'node-a'],
  ['the one that has the DNS name', { target: 'https://node-a.example.com/metrics' }, 'node-a'],
  ['that of the pod that has the address', { target: 'http://10.1.0.7:9400/metrics' }, 'node-b'],
  ['not that of a finished pod that had the address', { target: 'http://10.1.0.8:9400/metrics' }, 'label'],
  ['the host label where the address is of nobody', { target: 'http://10.9.9.9:9400/metrics' }, 'label'],
  ['the host label where the target is no URL', { target: 'pushed by otlp' }, 'label'],
  ['unknown where nothing tells it', { target: 'pushed by otlp', host: undefined }, undefined],
]

describe('the node of a device', () => {
  for (const [name, device, node] of CASES) {
    it(`is ${name}`, () => {
      assert.equal(nodeFor(byApi(), device), node)
      assert.equal(nodeFor(byMetrics(), device), node)
    })
  }

  it('is that of the pod that has the address now', () => {
    const cluster = byApi()
    const target = 'http://10.1.0.7:9400/metrics'
    const later = podNamed('later', { node: 'node-e', podIp: '10.1.0.7' })
    putPod(cluster, later)
    removePod(cluster, podNamed('exporter', { node: 'node-b', podIp: '10.1.0.7' }))
    assert.equal(nodeFor(cluster, { target }), 'node-e')
    removePod(cluster, later)
    assert.equal(nodeFor(cluster, { target }), 'label')
  })
})

describe('a node', () => {
  it('is that of the Kubernetes API where both tell of it', () => {
    const cluster = byMetrics()
    assert.deepEqual(nodeOf(reader(cluster), 'node-a')?.addresses, ['10.0.0.1', 'fd00::1', 'node-a.example.com'])
    putNode(cluster, 'node-a', {}, ['10.0.0.9'])
    assert.deepEqual(nodeOf(reader(cluster), 'node-a')?.addresses, ['10.0.0.9'])
    assert.equal(nodeOf(reader(cluster), ''), undefined)
    assert.equal(nodeOf(reader(cluster), 'node-z'), undefined)
  })
})
