import assert from 'node:assert/strict'
import { clusterTables } from '../../../pipeline/cluster/tables.ts'
import { seenTables } from '../../../pipeline/cluster/find-pod.ts'
import type { Container } from '../../../pipeline/cluster/objects.ts'
import { PodRecords, podKey, type PodQuantity, type PodRecord } from '../../../processors/roll-up/pod-records.ts'
import {
  containerWith,
  objectNamed,
  podNamed,
  putNode,
  putPod,
  referenceTo,
  type PodParts,
} from '../../support/cluster-objects.ts'
import { modelRules } from '../../support/roll-up-cycle.ts'
import { testHost } from '../../support/test-host.ts'

function recordOf(parts: PodParts, nodeLabels: Record<string, string> = {}): PodRecord {
  const host = testHost()
  putNode(host.cluster, 'node-a', nodeLabels)
  putPod(host.cluster, podNamed('p', parts))
  for (const { uid } of parts.owners ?? []) clusterTables(host.cluster).owners.set(uid, 'unreadable')
  const records = new PodRecords()
  records.refresh(clusterTables(host.cluster), seenTables(host.cluster), modelRules(host))
  return records.all.get('uid-Pod/p')!
}

const GPU: readonly Container[] = [containerWith({ 'nvidia.com/gpu': 2 })]

describe('records of pods', () => {
  const conditions: [PodParts, string[]][] = [
    [{ containers: GPU, node: 'node-a' }, ['active', 'bound', 'gpu', 'running', 'unfinished']],
    [{ containers: GPU, phase: 'Pending' }, ['active', 'gpu', 'pending', 'unfinished']],
    [{ node: 'node-a', phase: 'Pending' }, ['active', 'bound', 'pending', 'unfinished']],
    [{ node: 'node-a', phase: 'Unknown' }, ['active', 'bound', 'unfinished']],
    [{ containers: GPU, node: 'node-a', phase: 'Succeeded' }, ['bound', 'gpu']],
    [{ containers: GPU, node: 'node-a', namespace: 'runai-reservation' }, ['active', 'bound', 'running', 'unfinished']],
  ]
  for (const [parts, expected] of conditions) {
    const { containers, ...rest } = parts
    it(`meet ${expected.join(', ')} for ${JSON.stringify(rest)} ${containers === undefined ? 'without' : 'with'} GPUs`, () => {
      assert.deepEqual([...recordOf(parts).conditions].sort(), expected)
    })
  }

  for (const [share, parts] of [
    ['whole', { containers: GPU }],
    ['part', { annotations: { 'gpu-fraction': '0.5' } }],
    ['part', { annotations: { 'gpu-memory': '2000' } }],
    ['instance', { containers: [containerWith({ 'nvidia.com/mig-3g.40gb': 2 })] }],
    [undefined, { containers: [containerWith({ cpu: 1 })] }],
    [undefined, { containers: GPU, namespace: 'kai-resource-reservation' }],
  ] as const) {
    it(`say that ${JSON.stringify(parts.containers?.[0]?.limits.keys().toArray() ?? parts)} is ${share ?? 'no'} GPU`, () => {
      assert.equal(recordOf(parts).get('gpu_share'), share)
    })
  }

  it('have the image of the container that has the GPUs, else of the first', () => {
    const [cpu, gpu] = [containerWith({ cpu: 1 }), containerWith({ 'nvidia.com/gpu': 1 })]
    const [proxy, train] = [
      { ...cpu, image: 'proxy:1' },
      { ...gpu, image: 'train:1' },
    ]
    assert.equal(recordOf({ containers: [proxy, train] }).get('image'), 'train:1')
    assert.equal(recordOf({ containers: [proxy, cpu] }).get('image'), 'proxy:1')
    assert.equal(recordOf({ containers: [gpu] }).get('image'), '')
  })

  const none = NaN
  const quantities: [string, PodParts, Partial<Record<PodQuantity, number>>][] = [
    ['whole GPUs', { containers: GPU }, { gpus: 2, gpu_memory: 0 }],
    ['fractions', { annotations: { 'gpu-fraction': '0.5' } }, { gpus: 0.5, gpu_memory: 0 }],
    [
      'fractions of several',
      { annotations: { 'gpu-fraction': '0.5', 'gpu-fraction-num-devices': '3' } },
      { gpus: 1.5 },
    ],
    ['memory', { annotations: { 'gpu-memory': '2000' } }, { gpus: none, gpu_memory: 2000 }],
    [
      'memory of a node that says how much it has',
      { node: 'node-a', annotations: { 'gpu-memory': '20000' } },
      { gpus: 0.25, gpu_memory: 20_000 },
    ],
    ['instances, by slices', { containers: [containerWith({ 'nvidia.com/mig-3g.40gb': 2 })] }, { gpus: 6 }],
    ['none', { containers: [containerWith({ cpu: 1 })] }, { gpus: none, gpu_memory: none }],
    ['a reserved one', { containers: GPU, namespace: 'kai-resource-reservation' }, { gpus: none, gpu_memory: none }],
    [
      'CPU and memory, over all containers that say so',
      { containers: [containerWith({ cpu: 2 }, { cpu: 0.1, memory: 5 }), containerWith({}, { cpu: 0.2 })] },
      { cpu_requests: 0.1 + 0.2, millicpus: 300, memory_requests: 5, cpu_limits: 2, memory_limits: none },
    ],
  ]
  for (const [what, parts, expected] of quantities) {
    it(`have the quantities of a pod that asks for ${what}`, () => {
      const record = recordOf(parts, { 'nvidia.com/gpu.memory': '80000' })
      for (const [name, amount] of Object.entries(expected)) {
        assert.equal(record.quantities[name as PodQuantity], amount, name)
      }
    })
  }

  it('have the job that Run:ai marks a pod with, else what controls it', () => {
    const job = objectNamed('Job.batch/train')
    const owners = [referenceTo(job)]
    const ids = (parts: PodParts) => ['job_id', 'job_name', 'job_type'].map(name => recordOf(parts).get(name))
    assert.deepEqual(ids({ owners }), [job.uid, 'train', 'training'])
    const [id, name] = ids({ owners, annotations: { 'runai-job-id': 'marked' }, labels: { release: 'named' } })
    assert.deepEqual([id, name], ['marked', 'named'])
  })

  it('find what labels and annotations say, and nothing for what is no look-up', () => {
    const record = recordOf({ labels: { team: 'x' } })
    assert.equal(record.get('pod.label.team'), 'x')
    assert.equal(record.get('no.such.thing'), undefined)
    assert.equal(record.get('nothing'), undefined)
  })

  it('have the uid for a key, and the name where nobody tells one', () => {
    assert.equal(podKey(podNamed('p')), 'uid-Pod/p')
    assert.equal(podKey(podNamed('p', { uid: '' })), 'ns/p')
  })

  it('stay the same while nothing changes', () => {
    const host = testHost()
    const [tables, seen, rules] = [clusterTables(host.cluster), seenTables(host.cluster), modelRules(host)]
    putPod(host.cluster, podNamed('p'))
    putPod(host.cluster, podNamed('q'))
    const records = new PodRecords()
    const changed = (): string[] =>
      records.refresh(tables, seen, rules).map(({ before, now }) => (now ?? before)!.pod.name)
    assert.deepEqual(changed(), ['p', 'q'])
    const q = records.all.get('uid-Pod/q')
    assert.deepEqual(changed(), [])
    putPod(host.cluster, podNamed('p', { node: 'node-a' }))
    assert.deepEqual(changed(), ['p'])
    assert.equal(records.all.get('uid-Pod/q'), q)
    tables.pods.delete('uid-Pod/p')
    assert.deepEqual(changed(), ['p'])
    assert.equal(records.all.size, 1)
  })
})
