import assert from 'node:assert/strict'
import { assignmentRules, isReservation, type AssignmentRules } from '../../../pipeline/cluster/assignment-rules.ts'
import { createCluster } from '../../../pipeline/cluster/cluster.ts'
import { askedGpus } from '../../../pipeline/cluster/pod-gpus.ts'
import { clusterTables } from '../../../pipeline/cluster/tables.ts'
import { containerWith, podNamed, putNode, type PodParts } from '../../support/cluster-objects.ts'

type Case = readonly [name: string, pod: PodParts, expected: string, counts?: AssignmentRules['migCounts']]

const A30 = { 'nvidia.com/gpu.memory': '24576', 'nvidia.com/gpu.product': 'NVIDIA-A30' }
const mig = { containers: [containerWith({ 'nvidia.com/mig-2g.12gb': 2, 'nvidia.com/mig-1g.6gb': 1 })] }

const CASES: readonly Case[] = [
  ['asks for no GPU', { containers: [containerWith({ cpu: 1 })] }, 'nothing'],
  ['asks for no piece of one', { containers: [containerWith({ 'nvidia.com/gpu': 0 })] }, 'nothing'],
  ['asks for GPUs', { containers: [containerWith({ 'nvidia.com/gpu': 2 })] }, 'gpus 2, devices 2'],
  [
    'has two containers with GPUs',
    { containers: [containerWith({ 'nvidia.com/gpu': 2 }), containerWith({ 'amd.com/gpu': 1 })] },
    'gpus 3, devices 3',
  ],
  ['has requests only', { containers: [containerWith({}, { 'nvidia.com/gpu.shared': 1 })] }, 'gpus 1, devices 1'],
  ['asks for instances', mig, 'gpus 5, devices 3, 2 x 2g.12gb, 1 x 1g.6gb'],
  ['asks for instances that count as one', mig, 'gpus 3, devices 3, 2 x 2g.12gb, 1 x 1g.6gb', 'instances'],
  ['asks for instances that count as parts', mig, 'gpus 1.25, devices 3, 2 x 2g.12gb, 1 x 1g.6gb', 'share'],
  [
    'asks for instances by annotation',
    { annotations: { 'nvidia.com/mig-1g.5gb': '1' } },
    'gpus 1, devices 1, 1 x 1g.5gb',
  ],
  [
    'asks for instances by an annotation as kube-state-metrics writes it',
    { annotations: { nvidia_com_mig_1g_5gb: '1' } },
    'gpus 1, devices 1, 1 x 1g.5gb',
  ],
  ['asks for a fraction', { annotations: { 'gpu-fraction': '0.5' } }, 'gpus 0.5, devices 1, fraction 0.5'],
  [
    'asks for a fraction of several',
    { annotations: { 'gpu-fraction': '0.5', 'gpu-fraction-num-devices': '3' } },
    'gpus 1.5, devices 3, fraction 0.5',
  ],
  [
    'asks for a fraction as kube-state-metrics writes it',
    { annotations: { gpu_fraction: '0.5', gpu_fraction_num_devices: '2' } },
    'gpus 1, devices 2, fraction 0.5',
  ],
  ['asks for a fraction that is none', { annotations: { 'gpu-fraction': 'half' } }, 'nothing'],
  [
    'asks for memory',
    { node: 'a30', annotations: { 'gpu-memory': '6144', 'gpu-fraction-num-devices': '2' } },
    'gpus 0.5, memory 12288, devices 2, fraction 0.25',
  ],
  [
    'asks for memory and is bound to no node',
    { annotations: { 'gpu-memory': '6144' } },
    'gpus unknown, memory 6144, devices 1',
  ],
]

describe('what a pod asks for in GPUs', () => {
  for (const [name, parts, expected, counts = 'slices'] of CASES) {
    it(`is read where it ${name}`, () => {
      const cluster = createCluster()
      putNode(cluster, 'a30', A30)
      const pod = podNamed('p', parts)
      const isBound = pod.node !== '' || counts === 'share'
      const node = isBound ? clusterTables(cluster).nodes.get('a30') : undefined
      const asked = askedGpus(pod, node, assignmentRules({ mig_counts: counts }))
      const texts = asked && [
        `gpus ${asked.gpus ?? 'unknown'}`,
        ...(asked.memoryMib === undefined ? [] : [`memory ${asked.memoryMib}`]),
        `devices ${asked.devices}`,
        ...(asked.fraction === undefined ? [] : [`fraction ${asked.fraction}`]),
        ...Array.from(asked.mig, ([profile, count]) => `${count} x ${profile}`),
      ]
      assert.equal(texts?.join(', ') ?? 'nothing', expected)
    })
  }

  it('counts nowhere if the pod only reserves a GPU for others', () => {
    const inNamespace = (namespace: string) => podNamed('p', { namespace })
    const usual = assignmentRules()
    assert.deepEqual(
      ['runai-reservation', 'kai-resource-reservation', 'mine'].map(one => isReservation(inNamespace(one), usual)),
      [true, true, false],
    )
    assert.equal(isReservation(inNamespace('mine'), assignmentRules({ reservation_namespaces: ['mine'] })), true)
  })
})
