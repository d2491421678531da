import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import type { SentObject } from '../../../pipeline/cluster/keep-metadata.ts'
import { isSamePod, keepPod } from '../../../pipeline/cluster/keep-pod.ts'
import { getLabel } from '../../../pipeline/model/labels.ts'
import { sharedPath } from '../../support/shared.ts'

function pod(parts: Record<string, unknown> = {}, metadata: Record<string, unknown> = {}): SentObject {
  return { ...parts, metadata: { name: 'a', namespace: 'team', uid: 'u', ...metadata } }
}

describe('keepPod', () => {
  it('keeps what the model and the series need', () => {
    const kept = keepPod(
      pod(
        {
          spec: {
            nodeName: 'n1',
            hostNetwork: true,
            priorityClassName: 'high',
            containers: [
              {
                name: 'main',
                image: 'train:1',
                resources: { requests: { cpu: '500m' }, limits: { 'nvidia.com/gpu': '2' } },
              },
              { name: 'bare' },
            ],
            initContainers: [{ name: 'before', resources: { requests: { memory: '1Gi' } } }],
          },
          status: {
            phase: 'Failed',
            podIP: '10.0.0.1',
            hostIP: '10.1.0.1',
            startTime: '2024-01-01T00:00:10Z',
            conditions: [
              { type: 'PodScheduled', status: 'True', lastTransitionTime: '2024-01-01T00:00:05Z' },
              { type: 'Ready', status: 'False', lastTransitionTime: '2024-01-01T00:00:50Z' },
            ],
            containerStatuses: [
              { state: { terminated: { startedAt: '2024-01-01T00:00:20Z', finishedAt: '2024-01-01T00:00:40Z' } } },
              { state: { terminated: { finishedAt: '2024-01-01T00:00:30Z' } } },
            ],
          },
        },
        {
          creationTimestamp: '2024-01-01T00:00:00Z',
          labels: { app: 'x' },
          ownerReferences: [
            { apiVersion: 'batch/v1', kind: 'Job', name: 'j', uid: 'ju', controller: true },
            { apiVersion: 'v1', kind: 'ConfigMap', name: 'c', uid: 'cu' },
          ],
        },
      ),
    )
    const startMs = Date.parse('2024-01-01T00:00:00Z')
    const { labels, annotations, containers, initContainers, ...rest } = kept
    assert.deepEqual(rest, {
      group: '',
      kind: 'Pod',
      namespace: 'team',
      name: 'a',
      uid: 'u',
      owners: [
        { group: 'batch', kind: 'Job', name: 'j', uid: 'ju', controller: true },
        { group: '', kind: 'ConfigMap', name: 'c', uid: 'cu', controller: false },
      ],
      node: 'n1',
      phase: 'Failed',
      podIp: '10.0.0.1',
      createdMs: startMs,
      startedMs: startMs + 10_000,
      runningMs: startMs + 20_000,
      finishedMs: startMs + 40_000,
      deletingMs: undefined,
      hostIp: '10.1.0.1',
      hostNetwork: true,
      priorityClass: 'high',
      scheduledMs: startMs + 5000,
      initializedMs: undefined,
      readyMs: undefined,
    })
    assert.deepEqual([getLabel(labels, 'app'), annotations.names.length], ['x', 0])
    assert.deepEqual(containers, [
      { name: 'main', image: 'train:1', requests: new Map([['cpu', 0.5]]), limits: new Map([['nvidia.com/gpu', 2]]) },
      { name: 'bare', image: '', requests: new Map(), limits: new Map() },
    ])
    assert.deepEqual(initContainers[0]?.requests, new Map([['memory', 1_073_741_824]]))
  })

  it('takes a pod of which nothing is known but its name, or nothing is as it should be', () => {
    for (const parts of [{}, { spec: null, status: [] }, { spec: { containers: [null, 3] }, status: { phase: 7 } }]) {
      const { phase, node, containers } = keepPod(pod(parts, { labels: [], annotations: 'x', ownerReferences: [null] }))
      assert.deepEqual([phase, node, containers], [undefined, '', []])
    }
  })

  it('leaves out annotations that are long, or made by machines for themselves', () => {
    const { annotations } = keepPod(
      pod(
        {},
        {
          annotations: {
            user: 'ada',
            'kubectl.kubernetes.io/last-applied-configuration': '{}',
            'cni.projectcalico.org/podIP': '10.0.0.1',
            'k8s.v1.cni.cncf.io/network-status': '[]',
            'k8s.ovn.org/pod-networks': '{}',
            long: 'x'.repeat(513),
          },
        },
      ),
    )
    assert.deepEqual(annotations.names, ['user'])
  })

  it('shares what pods of one workload have in common', () => {
    const parts = () => ({ spec: { containers: [{ name: 'm', resources: { limits: { cpu: '1' } } }] } })
    const metadata = () => ({ ownerReferences: [{ apiVersion: 'batch/v1', kind: 'Job', name: 'j', uid: 'ju' }] })
    const [one, other] = [keepPod(pod(parts(), metadata())), keepPod(pod(parts(), { ...metadata(), uid: 'v' }))]
    assert.equal(one.containers, other.containers)
    assert.equal(one.owners, other.owners)
  })

  it('sees a change of what is kept, and no other', () => {
    const before = keepPod(pod({ status: { phase: 'Running', qosClass: 'Burstable' } }))
    assert.ok(isSamePod(before, keepPod(pod({ status: { phase: 'Running', qosClass: 'Other' } }))))
    assert.ok(!isSamePod(before, keepPod(pod({ status: { phase: 'Failed' } }))))
    assert.ok(!isSamePod(before, keepPod(pod({ status: { phase: 'Running' } }, { labels: { a: 'b' } }))))
  })

  it('keeps the marks of Run:ai', function () {
    const path = sharedPath('captures', 'k8s-objects', 'runai_2.17_fractional_pod.yaml')
    if (path === undefined) return this.skip()
    const { annotations, labels, owners, phase } = keepPod(parse(readFileSync(path, 'utf8')) as SentObject)
    assert.equal(getLabel(annotations, 'gpu-fraction'), '0.5')
    assert.equal(getLabel(annotations, 'user'), 'test@run.ai')
    assert.equal(getLabel(labels, 'runai-gpu-group'), 'df7c0dd3-9795-443c-85b9-acbf49c8fb6b')
    assert.deepEqual([owners[0]?.group, owners[0]?.kind, phase], ['run.ai', 'RunaiJob', 'Running'])
  })
})
