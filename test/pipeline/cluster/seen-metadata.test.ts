import assert from 'node:assert/strict'
import { metadataFromSeen, nodeFromSeen, podFromSeen } from '../../../pipeline/cluster/seen-metadata.ts'
import type { SeenObject } from '../../../pipeline/cluster/seen-object.ts'
import { forEachSample } from '../../../pipeline/model/batch.ts'
import { labelPairs } from '../../../pipeline/model/labels.ts'
import { labelsAt, metricAt } from '../../../pipeline/model/layout.ts'
import { batchFromText } from '../../support/batch-from-text.ts'

function seen(kind: string, text: string, uid?: string): SeenObject {
  const batch = batchFromText(text)
  const facts: SeenObject['facts'][number][] = []
  forEachSample(batch, (column, value) => {
    facts.push({ name: metricAt(batch.layout, column).name, labels: labelsAt(batch.layout, column), value })
  })
  return { kind, namespace: 'ns', name: 'x', uid, facts, source: batch.source }
}

describe('what kube-state-metrics tells about an object', () => {
  it('is a pod with all that it can know', () => {
    const pod = podFromSeen(
      seen(
        'Pod',
        `kube_pod_info{node="node-a",pod_ip="10.0.0.7",created_by_kind="Job",created_by_name="j"} 1
         kube_pod_owner{owner_kind="Job",owner_name="j",owner_is_controller="true"} 1
         kube_pod_owner{owner_kind="Widget",owner_name="w",owner_is_controller="false"} 1
         kube_pod_labels{label_app="x",instance="ksm"} 1
         kube_pod_annotations{annotation_user="ann"} 1
         kube_pod_status_phase{phase="Succeeded"} 1
         kube_pod_created 100
         kube_pod_status_scheduled_time 101
         kube_pod_start_time 101.5
         kube_pod_completion_time 300
         kube_pod_deletion_timestamp 290
         kube_pod_container_resource_requests{container="c",resource="nvidia_com_gpu",unit="integer"} 2
         kube_pod_container_resource_requests{container="c",resource="cpu",unit="core"} 0.5
         kube_pod_container_resource_limits{container="c",resource="nvidia_com_mig_1g_5gb",unit="integer"} 1
         kube_pod_container_resource_limits{container="d",resource="ephemeral_storage",unit="byte"} 7`,
        'u-1',
      ),
    )
    assert.deepEqual([labelPairs(pod.labels), labelPairs(pod.annotations)], [[['app', 'x']], [['user', 'ann']]])
    assert.deepEqual(
      { ...pod, labels: undefined, annotations: undefined },
      {
        group: '',
        kind: 'Pod',
        namespace: 'ns',
        name: 'x',
        uid: 'u-1',
        labels: undefined,
        annotations: undefined,
        owners: [
          { group: undefined, kind: 'Job', name: 'j', uid: '', controller: true },
          { group: undefined, kind: 'Widget', name: 'w', uid: '', controller: false },
        ],
        node: 'node-a',
        podIp: '10.0.0.7',
        phase: 'Succeeded',
        createdMs: 100_000,
        scheduledMs: 101_000,
        startedMs: 101_500,
        runningMs: undefined,
        finishedMs: 300_000,
        deletingMs: 290_000,
        containers: [
          {
            name: 'c',
            requests: new Map([
              ['nvidia.com/gpu', 2],
              ['cpu', 0.5],
            ]),
            limits: new Map([['nvidia.com/mig-1g.5gb', 1]]),
          },
          { name: 'd', requests: new Map(), limits: new Map([['ephemeral-storage', 7]]) },
        ],
      },
    )
  })

  it('has finished when its phase says so, not when one of its containers has', () => {
    const ended = (phase: string) =>
      podFromSeen(seen('Pod', `kube_pod_status_phase{phase="${phase}"} 1\nkube_pod_completion_time 300`)).finishedMs
    assert.deepEqual([ended('Running'), ended('Failed')], [undefined, 300_000])
  })

  it('leaves out what is not told', () => {
    const pod = podFromSeen(seen('Pod', 'kube_pod_created 1'))
    assert.deepEqual(
      [pod.uid, pod.node, pod.phase, pod.startedMs, pod.owners, pod.containers],
      ['', '', undefined, undefined, [], []],
    )
  })

  it('is an owner with its owners, of the group that it can only be of', () => {
    const owner = metadataFromSeen(
      seen('ReplicaSet', 'kube_replicaset_owner{owner_kind="Deployment",owner_name="d",owner_is_controller="true"} 1'),
    )
    assert.deepEqual(
      [owner.group, owner.uid, owner.owners.map(({ kind, name }) => `${kind}/${name}`)],
      ['apps', '', ['Deployment/d']],
    )
    assert.deepEqual(metadataFromSeen(seen('Job', 'kube_job_owner{owner_kind=""} 1')).owners, [])
  })

  it('is a node with all that it can know', () => {
    const node = nodeFromSeen(
      seen(
        'Node',
        `kube_node_info{node="x",internal_ip="10.0.0.1"} 1
         kube_node_labels{node="x",label_nvidia_com_gpu_count="4"} 1
         kube_node_status_addresses{node="x",type="InternalIP",address="10.0.0.1"} 1
         kube_node_status_addresses{node="x",type="Hostname",address="x.local"} 1
         kube_node_status_capacity{node="x",resource="nvidia_com_gpu",unit="integer"} 4
         kube_node_status_capacity{node="x",resource="nvidia_com_mig_1g_5gb_me",unit="integer"} 1
         kube_node_status_allocatable{node="x",resource="gpu_intel_com_i915",unit="integer"} 3
         kube_node_status_condition{node="x",condition="Ready",status="unknown"} 1
         kube_node_status_condition{node="x",condition="Ready",status="true"} 0
         kube_node_spec_unschedulable{node="x"} 1`,
      ),
    )
    assert.deepEqual(labelPairs(node.labels), [['nvidia_com_gpu_count', '4']])
    assert.deepEqual(node.addresses, ['10.0.0.1', 'x.local'])
    assert.deepEqual(
      [...node.capacity],
      [
        ['nvidia.com/gpu', 4],
        ['nvidia.com/mig-1g.5gb.me', 1],
      ],
    )
    assert.deepEqual([...node.allocatable], [['gpu.intel.com/i915', 3]])
    assert.deepEqual([...node.conditions], [['Ready', 'Unknown']])
    assert.equal(node.schedulable, false)
    assert.equal(nodeFromSeen(seen('Node', 'kube_node_info{node="y"} 1')).schedulable, true)
  })
})
