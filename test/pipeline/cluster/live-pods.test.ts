import assert from 'node:assert/strict'
import { createCluster } from '../../../pipeline/cluster/cluster.ts'
import { seenTables } from '../../../pipeline/cluster/find-pod.ts'
import { liveNodes, livePods } from '../../../pipeline/cluster/live-pods.ts'
import { clusterTables } from '../../../pipeline/cluster/tables.ts'
import type { Cluster } from '../../../pipeline/component.ts'
import { batchFromText, createSource } from '../../support/batch-from-text.ts'
import { podNamed, putNode, putPod, removePod } from '../../support/cluster-objects.ts'
import { configOf } from '../../support/config-of.ts'
import { testHost } from '../../support/test-host.ts'
import { normalize } from '../../../processors/normalize.ts'

function show(cluster: Cluster, text: string, source = 'ksm'): void {
  const processor = normalize.create(configOf(normalize, {}), { ...testHost(), cluster }, () => {})
  processor.consume(batchFromText(text, { source: createSource(source) }))
}

function pods(cluster: Cluster): string[] {
  const found = livePods(clusterTables(cluster), seenTables(cluster))
  return Array.from(found, ({ pod, from }) => `${pod.namespace}/${pod.name}/${pod.uid} from ${from}`)
}

function nodes(cluster: Cluster): string[] {
  return Array.from(liveNodes(clusterTables(cluster), seenTables(cluster)), ({ name }) => name)
}

describe('all pods that there are', () => {
  it('are each there once, and the Kubernetes API counts', () => {
    const cluster = createCluster()
    const [both, gone] = [podNamed('both', { uid: '1' }), podNamed('gone', { uid: '2' })]
    const named = podNamed('named', { uid: '5' })
    for (const pod of [both, gone, named]) putPod(cluster, pod)
    removePod(cluster, gone)
    show(
      cluster,
      `kube_pod_info{namespace="ns",pod="both",uid="1",node="n"} 1
       kube_pod_info{namespace="ns",pod="gone",uid="2",node="n"} 1
       kube_pod_info{namespace="ns",pod="seen",uid="3",node="n"} 1
       kube_pod_info{namespace="ns",pod="named",node="n"} 1
       kube_pod_info{namespace="ns",pod="nameless",node="n"} 1`,
    )
    assert.deepEqual(pods(cluster), [
      'ns/both/1 from the Kubernetes API',
      'ns/named/5 from the Kubernetes API',
      'ns/seen/3 from kube-state-metrics',
      'ns/nameless/ from kube-state-metrics',
    ])
  })

  it('are each there once where two series tell of one, with uid and without', () => {
    const cluster = createCluster()
    show(cluster, `kube_pod_info{namespace="ns",pod="p",node="n"} 1`, 'old')
    show(cluster, `kube_pod_info{namespace="ns",pod="p",uid="1",node="n"} 1`, 'new')
    assert.deepEqual(pods(cluster), ['ns/p/1 from kube-state-metrics'])
  })
})

describe('all nodes that there are', () => {
  it('are those of the Kubernetes API, or else those that series tell of', () => {
    const cluster = createCluster()
    show(cluster, `kube_node_info{node="a"} 1\nkube_node_info{node="b"} 1`)
    assert.deepEqual(nodes(cluster), ['a', 'b'])
    putNode(cluster, 'a', {})
    assert.deepEqual(nodes(cluster), ['a'])
  })
})
