import assert from 'node:assert/strict'
import { assignDevice } from '../../../pipeline/cluster/assign-device.ts'
import { assignmentRules } from '../../../pipeline/cluster/assignment-rules.ts'
import { publishedKey } from '../../../pipeline/cluster/claims.ts'
import type { Assignment } from '../../../pipeline/cluster/assignment.ts'
import { createCluster } from '../../../pipeline/cluster/cluster.ts'
import { seenTables, type PodReader } from '../../../pipeline/cluster/find-pod.ts'
import type { Holder, SeenDevice } from '../../../pipeline/cluster/seen.ts'
import { clusterTables } from '../../../pipeline/cluster/tables.ts'
import type { Cluster } from '../../../pipeline/component.ts'
import { haveChanged, recordLooks } from '../../../pipeline/model/dependencies.ts'
import { normalize } from '../../../processors/normalize.ts'
import { batchFromText, createSource } from '../../support/batch-from-text.ts'
import { podNamed, putNode, putPod, removePod, type PodParts } from '../../support/cluster-objects.ts'
import { configOf } from '../../support/config-of.ts'
import { testHost } from '../../support/test-host.ts'

const RESERVATION = 'runai-reservation'
const GROUP = 'df7c0dd3-9795-443c-85b9-acbf49c8fb6b'

function device(parts: Partial<SeenDevice> = {}): SeenDevice {
  return {
    id: 'GPU-1',
    part: undefined,
    profile: undefined,
    index: '0',
    model: 'NVIDIA A100-SXM4-40GB',
    host: 'node-a',
    source: createSource(),
    holders: [],
    ...parts,
  }
}

/** `name`, or `namespace/name`; a number of replicas after `*`. */
function holder(text: string, parts: Partial<Holder> = {}): Holder {
  const [, namespace = 'ns', pod, replicas] = /^(?:([^/]+)\/)?([^*]*)(?:\*(\d+))?$/.exec(text)!
  return {
    pod: pod === '' ? undefined : pod,
    namespace: pod === '' ? undefined : namespace,
    container: undefined,
    podUid: undefined,
    job: undefined,
    replicas: replicas === undefined ? undefined : Number(replicas),
    ...parts,
  }
}

function named(...texts: string[]): Pick<SeenDevice, 'holders'> {
  return { holders: texts.map(text => holder(text)) }
}

function reader(cluster: Cluster): PodReader {
  return { look: entry => entry.value, tables: clusterTables(cluster), seen: seenTables(cluster) }
}

/** `name=share ...`, what is left and why, and whether the device is shared. */
function text({ holdings, rest, isShared }: Assignment): string {
  const held = holdings.map(({ pod, job, share }) => `${[pod?.pod.name, job].filter(Boolean).join('+')}=${share}`)
  return [...held, ...(rest.share > 0 ? [`${rest.reason}=${rest.share}`] : []), ...(isShared ? ['shared'] : [])].join(
    ' ',
  )
}

type Case = {
  readonly name: string
  readonly pods?: Readonly<Record<string, PodParts>>
  readonly gone?: readonly string[]
  /** Labels of node-a. */
  readonly node?: Readonly<Record<string, string>>
  readonly device: Partial<SeenDevice>
  readonly expected: string
}

const live = { node: 'node-a' }
const reservation = {
  node: 'node-a',
  namespace: RESERVATION,
  labels: { 'runai-gpu-group': GROUP },
  annotations: { 'run.ai/reserve_for_gpu_index': 'GPU-1' },
}
function member(annotations: Readonly<Record<string, string>>, parts: PodParts = {}): PodParts {
  return { node: 'node-a', labels: { 'runai-gpu-group': GROUP }, annotations, ...parts }
}
function inGroups(...groups: string[]): PodParts {
  const labels = Object.fromEntries(groups.map(group => [`runai-gpu-group/${group}`, group]))
  return { node: 'node-a', labels, annotations: { 'gpu-fraction': '0.25', 'gpu-fraction-num-devices': '2' } }
}

const CASES: readonly Case[] = [
  { name: 'nobody is named', device: {}, expected: 'free=1' },
  { name: 'one pod is named', pods: { a: live }, device: named('a'), expected: 'a=1' },
  {
    name: 'two containers of one pod are named',
    pods: { a: live },
    device: { holders: [holder('a', { container: 'x' }), holder('a', { container: 'y' })] },
    expected: 'a=1',
  },
  { name: 'the pod is known by nobody', device: named('a'), expected: 'unknown_pod=1' },
  {
    name: 'a container without pod is named',
    device: { holders: [holder('', { container: 'c' })] },
    expected: 'unknown_pod=1',
  },
  { name: 'the pod is gone', gone: ['a'], device: named('a'), expected: 'finished_pod=1' },
  {
    name: 'the pod has succeeded',
    pods: { a: { ...live, phase: 'Succeeded' } },
    device: named('a'),
    expected: 'finished_pod=1',
  },
  {
    name: 'the pod has failed',
    pods: { a: { ...live, phase: 'Failed' } },
    device: named('a'),
    expected: 'finished_pod=1',
  },
  { name: 'the pod is bound to no node', pods: { a: {} }, device: named('a'), expected: 'finished_pod=1' },
  { name: 'the pod starts', pods: { a: { ...live, phase: 'Pending' } }, device: named('a'), expected: 'a=1' },
  { name: 'the pod is being deleted', pods: { a: { ...live, deletingMs: 1 } }, device: named('a'), expected: 'a=1' },
  {
    name: 'the pod of that name has another uid',
    pods: { a: live },
    device: { holders: [holder('a', { podUid: 'other' })] },
    expected: 'unknown_pod=1',
  },
  {
    name: 'the pod of that name is on another node, and the node of the device is known',
    node: {},
    pods: { a: { node: 'node-b' } },
    device: named('a'),
    expected: 'unknown_pod=1',
  },
  {
    name: 'the pod is on another node than the host label says, which is no node',
    pods: { a: { node: 'node-b' } },
    device: named('a'),
    expected: 'a=1',
  },
  {
    name: 'a finished pod is named beside one that is there',
    pods: { a: { ...live, phase: 'Succeeded' }, b: live },
    device: named('a', 'b'),
    expected: 'b=1',
  },
  {
    name: 'a pod that nobody knows is named beside one that is there',
    pods: { b: live },
    device: named('a', 'b'),
    expected: 'b=1 shared',
  },

  { name: 'two pods are named', pods: { a: live, b: live }, device: named('a', 'b'), expected: 'a=0.5 b=0.5 shared' },
  {
    name: 'three pods are named',
    pods: { a: live, b: live, c: live },
    device: named('a', 'b', 'c'),
    expected: `a=${1 / 3} b=${1 / 3} c=${1 / 3} shared`,
  },
  {
    name: 'replicas are named',
    pods: { a: live, b: live },
    device: named('a*1', 'b*3'),
    expected: 'a=0.25 b=0.75 shared',
  },
  {
    name: 'the node says how many replicas there are',
    node: { 'nvidia.com/gpu.replicas': '4' },
    pods: { a: live, b: live },
    device: named('a*1', 'b*2'),
    expected: 'a=0.25 b=0.5 share_left=0.25 shared',
  },
  {
    name: 'the node says how many replicas there are, and the exporter names one pod only',
    node: { 'nvidia.com/gpu.replicas': '4' },
    pods: { a: live },
    device: named('a'),
    expected: 'a=0.25 share_left=0.75 shared',
  },
  {
    name: 'more replicas are held than the node says',
    node: { 'nvidia.com/gpu.replicas': '2' },
    pods: { a: live, b: live },
    device: named('a*1', 'b*3'),
    expected: 'a=0.25 b=0.75 shared',
  },
  {
    name: 'a node has replicas of which none is held',
    node: { 'nvidia.com/gpu.replicas': '4' },
    device: {},
    expected: 'free=1 shared',
  },
  {
    name: 'one pod has a replica, and nobody says how many there are',
    pods: { a: live },
    device: named('a*1'),
    expected: 'a=1 shared',
  },
  {
    name: 'the node shares by MPS',
    node: { 'nvidia.com/gpu.sharing-strategy': 'mps' },
    pods: { a: live },
    device: named('a'),
    expected: 'a=1 shared',
  },
  {
    name: 'the node shares nothing',
    node: { 'nvidia.com/gpu.sharing-strategy': 'none', 'nvidia.com/gpu.replicas': '1' },
    pods: { a: live },
    device: named('a'),
    expected: 'a=1',
  },
  {
    name: 'replicas of an instance',
    node: { 'nvidia.com/mig-1g.5gb.replicas': '2' },
    pods: { a: live },
    device: { part: '7', profile: '1g.5gb', ...named('a*1') },
    expected: 'a=0.5 share_left=0.5 shared',
  },

  {
    name: 'a reservation pod is named, and two pods are in its group',
    pods: { r: reservation, a: member({ 'gpu-fraction': '0.25' }), b: member({ 'gpu-fraction': '0.5' }) },
    device: named(`${RESERVATION}/r`),
    expected: 'a=0.25 b=0.5 share_left=0.25 shared',
  },
  {
    name: 'members of the group have finished, or are bound to none',
    pods: {
      r: reservation,
      a: member({ 'gpu-fraction': '0.25' }, { phase: 'Failed' }),
      b: member({ 'gpu-fraction': '0.5' }, { node: '' }),
      c: member({ 'gpu-fraction': '0.5' }),
    },
    device: named(`${RESERVATION}/r`),
    expected: 'c=0.5 share_left=0.5 shared',
  },
  {
    name: 'all members of the group have finished',
    pods: { r: reservation, a: member({ 'gpu-fraction': '0.25' }, { phase: 'Failed' }) },
    device: named(`${RESERVATION}/r`),
    expected: 'finished_pod=1 shared',
  },
  {
    name: 'nobody is in the group',
    pods: { r: reservation },
    device: named(`${RESERVATION}/r`),
    expected: 'unknown_pod=1 shared',
  },
  {
    name: 'the reservation pod is known by nobody',
    pods: { a: member({ 'gpu-fraction': '0.25' }) },
    device: named(`${RESERVATION}/r`),
    expected: 'unknown_pod=1',
  },
  {
    name: 'the exporter does not name the reservation pod that names the GPU',
    pods: { r: reservation, a: member({ 'gpu-fraction': '0.25' }) },
    device: {},
    expected: 'a=0.25 share_left=0.75 shared',
  },
  {
    name: 'the exporter names pods, and not the reservation pod that names the GPU',
    pods: { r: reservation, a: member({ 'gpu-fraction': '0.25' }) },
    device: { isKnownFree: true },
    expected: 'free=1',
  },
  {
    name: 'the exporter names a pod that has finished, and not the reservation pod that names the GPU',
    pods: { r: reservation, a: member({ 'gpu-fraction': '0.25' }), b: { ...live, phase: 'Succeeded' } },
    device: named('b'),
    expected: 'finished_pod=1',
  },
  {
    name: 'a reservation in a namespace that is for no reservations is a pod as any other',
    pods: { r: { ...reservation, namespace: 'ns', labels: {} } },
    device: {},
    expected: 'free=1',
  },
  {
    name: 'a member is named itself',
    pods: { a: member({ 'gpu-fraction': '0.25' }), b: member({ 'gpu-fraction': '0.5' }) },
    device: named('a'),
    expected: 'a=0.25 b=0.5 share_left=0.25 shared',
  },
  {
    name: 'a member asks for memory',
    node: { 'nvidia.com/gpu.memory': '40960' },
    pods: { r: reservation, a: member({ 'gpu-memory': '10240' }) },
    device: named(`${RESERVATION}/r`),
    expected: 'a=0.25 share_left=0.75 shared',
  },
  {
    name: 'nobody says how much the members have',
    pods: { r: reservation, a: member({}), b: member({ 'gpu-memory': '10240' }) },
    device: named(`${RESERVATION}/r`),
    expected: 'a=0.5 b=0.5 shared',
  },
  {
    name: 'members are in several groups',
    pods: { r: reservation, a: inGroups(GROUP, 'other'), b: inGroups('other', 'third') },
    device: named(`${RESERVATION}/r`),
    expected: 'a=0.25 share_left=0.75 shared',
  },
  {
    name: 'more is asked for than there is',
    pods: { r: reservation, a: member({ 'gpu-fraction': '0.6' }), b: member({ 'gpu-fraction': '0.6' }) },
    device: named(`${RESERVATION}/r`),
    expected: 'a=0.5 b=0.5 shared',
  },
  {
    name: 'fractions that no binary number has',
    pods: {
      r: reservation,
      a: member({ 'gpu-fraction': '0.1' }),
      b: member({ 'gpu-fraction': '0.2' }),
      c: member({ 'gpu-fraction': '0.7' }),
    },
    device: named(`${RESERVATION}/r`),
    expected: 'a=0.1 b=0.2 c=0.7 shared',
  },

  {
    name: 'an instance whose pod says so itself',
    pods: { a: { ...live, annotations: { 'runai-mig-device': '{"gpuinstanceid":9,"gpuindex":"0"}' } } },
    device: { part: '9', profile: '1g.5gb' },
    expected: 'a=1',
  },
  {
    name: 'an instance of another board',
    pods: { a: { ...live, annotations: { 'runai-mig-device': '{"gpuinstanceid":9,"gpuindex":1}' } } },
    device: { part: '9', profile: '1g.5gb' },
    expected: 'free=1',
  },
  {
    name: 'an annotation that is no device',
    pods: { a: { ...live, annotations: { 'runai-mig-device': 'null' } } },
    device: { part: '9', profile: '1g.5gb' },
    expected: 'free=1',
  },

  { name: 'a job is named', device: { holders: [holder('', { job: '17' })] }, expected: '17=1' },
  {
    name: 'a job is named with the pod it runs in',
    pods: { slurmd: live },
    device: { holders: [holder('slurmd'), holder('slurmd', { job: '17' })] },
    expected: 'slurmd+17=1',
  },
  {
    name: 'a job is named with a pod that is gone',
    gone: ['slurmd'],
    device: { holders: [holder('slurmd', { job: '17' })] },
    expected: '17=1',
  },
  {
    name: 'two jobs run in one pod',
    pods: { slurmd: live },
    device: { holders: [holder('slurmd', { job: '17' }), holder('slurmd', { job: '18' })] },
    expected: 'slurmd+17=0.5 slurmd+18=0.5 shared',
  },
]

describe('who has which part of a device', () => {
  for (const { name, pods = {}, gone = [], node, device: parts, expected } of CASES) {
    it(`is told where ${name}`, () => {
      const cluster = createCluster()
      if (node !== undefined) putNode(cluster, 'node-a', node)
      for (const [pod, podParts] of Object.entries(pods)) putPod(cluster, podNamed(pod, podParts))
      for (const pod of gone) {
        putPod(cluster, podNamed(pod, live))
        removePod(cluster, podNamed(pod, live))
      }
      const assignment = assignDevice(reader(cluster), device(parts), assignmentRules())
      assert.equal(text(assignment), expected)
      assert.equal(
        [...assignment.holdings, assignment.rest].reduce((sum, { share }) => sum + share, 0),
        1,
      )
    })
  }

  const WEIGHTS: readonly (readonly [profile: string | undefined, model: string, weight: number])[] = [
    ['1g.5gb', 'NVIDIA A100-SXM4-40GB', 1 / 7],
    ['3g.20gb', 'NVIDIA A100-SXM4-40GB', 3 / 7],
    ['7g.80gb', 'NVIDIA H100 80GB HBM3', 1],
    ['1g.12gb+me', 'NVIDIA H100 NVL', 1 / 7],
    ['2g.12gb', 'NVIDIA A30', 0.5],
    ['1g.24gb', 'NVIDIA RTX PRO 6000 Blackwell Server Edition', 0.25],
    ['4g.24gb', 'NVIDIA-A30X', 1],
    ['cpx', 'AMD Instinct MI300X', 0.125],
    [undefined, 'NVIDIA A100-SXM4-40GB', 1 / 7],
    ['odd', 'NVIDIA A100-SXM4-40GB', 1 / 7],
  ]
  for (const [profile, model, weight] of WEIGHTS) {
    it(`weighs an instance ${profile ?? 'of unknown profile'} of ${model} ${weight}`, () => {
      const instance = device({ part: '1', profile, model })
      assert.equal(assignDevice(reader(createCluster()), instance, assignmentRules()).weight, weight)
    })
  }

  it('is told anew when something changes that it hung on, and not when something else does', () => {
    const cluster = createCluster()
    const assign = () => {
      const { tables, seen } = reader(cluster)
      return recordLooks(look =>
        text(assignDevice({ look, tables, seen }, device(named(`${RESERVATION}/r`)), assignmentRules())),
      )
    }
    const steps: readonly (readonly [change: () => void, expected: string])[] = [
      [() => {}, 'unknown_pod=1'],
      [() => putPod(cluster, podNamed('r', reservation)), 'unknown_pod=1 shared'],
      [() => putPod(cluster, podNamed('a', member({ 'gpu-fraction': '0.5' }))), 'a=0.5 share_left=0.5 shared'],
      [
        () => putPod(cluster, podNamed('a', member({ 'gpu-fraction': '0.5' }, { phase: 'Failed' }))),
        'finished_pod=1 shared',
      ],
      [() => putPod(cluster, podNamed('b', member({ 'gpu-fraction': '0.3' }))), 'b=0.3 share_left=0.7 shared'],
      [() => removePod(cluster, podNamed('r', reservation)), 'finished_pod=1'],
    ]
    let last = assign()
    for (const [change, expected] of steps.slice(1)) {
      putPod(cluster, podNamed('other', { node: 'node-a', labels: { app: `${expected}` } }))
      assert.equal(haveChanged(last.dependencies!), false)
      change()
      assert.equal(haveChanged(last.dependencies!), true)
      last = assign()
      assert.equal(last.result, expected)
    }
  })

  it('takes no label of an earlier pod for one of a later, unless the device may be in another node', () => {
    const cluster = createCluster()
    for (const name of ['node-a', 'node-b']) putNode(cluster, name, {})
    putPod(cluster, podNamed('a', { node: 'node-b' }))
    const ofTarget = (parts: Partial<SeenDevice>) =>
      text(assignDevice(reader(cluster), device({ ...named('a'), ...parts }), assignmentRules()))
    const source = { ...createSource(), node: 'node-a' }
    assert.equal(ofTarget({ source }), 'unknown_pod=1')
    // A Prometheus on node-a shows devices of all nodes.
    assert.equal(ofTarget({ source, host: 'node-b' }), 'a=1')
  })
})

describe('who has which part of a device, as exporters show it', () => {
  const gpu = 'gpu="0",UUID="GPU-1",Hostname="node-a"'
  for (const [name, rows, expected] of [
    [
      'replicas on rows of their own',
      `DCGM_FI_DEV_GPU_UTIL{${gpu},pod="a",namespace="ns",container="c",vgpu="0"} 1
       DCGM_FI_DEV_GPU_UTIL{${gpu},pod="a",namespace="ns",container="d",vgpu="1"} 1
       DCGM_FI_DEV_GPU_UTIL{${gpu},pod="b",namespace="ns",container="c",vgpu="2"} 1`,
      `a=${2 / 3} b=${1 / 3} shared`,
    ],
    [
      'pods that share a claim',
      `DCGM_FI_DEV_GPU_UTIL{${gpu},pod="a",namespace="ns",dra_claim_name="x",dra_claim_namespace="ns"} 1
       DCGM_FI_DEV_GPU_UTIL{${gpu},pod="b",namespace="ns",dra_claim_name="x",dra_claim_namespace="ns"} 1`,
      'a=0.5 b=0.5 shared',
    ],
    [
      'a claim of one pod, on the rows of two containers',
      `DCGM_FI_DEV_GPU_UTIL{${gpu},pod="a",namespace="ns",container="c",dra_claim_name="x"} 1
       DCGM_FI_DEV_GPU_UTIL{${gpu},pod="a",namespace="ns",container="d",dra_claim_name="x"} 1`,
      'a=1',
    ],
    [
      'a row of the device beside those of pods',
      `DCGM_FI_DEV_GPU_UTIL{${gpu}} 3
       DCGM_FI_DEV_GPU_UTIL{${gpu},pod="a",namespace="ns",pod_uid="uid-Pod/a"} 1
       DCGM_FI_DEV_GPU_UTIL{${gpu},pod="b",namespace="ns",pod_uid="uid-Pod/b"} 2`,
      'a=0.5 b=0.5 shared',
    ],
    [
      'jobs',
      `DCGM_FI_DEV_GPU_UTIL{${gpu},hpc_job="17"} 1
       DCGM_FI_DEV_GPU_UTIL{${gpu},hpc_job="18"} 1`,
      '17=0.5 18=0.5 shared',
    ],
    ['labels that are there and empty', `DCGM_FI_DEV_GPU_UTIL{${gpu},pod="",namespace="",container=""} 1`, 'free=1'],
  ] as const) {
    it(`is told by ${name}`, () => {
      const cluster = createCluster()
      for (const pod of ['a', 'b']) putPod(cluster, podNamed(pod, live))
      const processor = normalize.create(configOf(normalize, {}), { ...testHost(), cluster }, () => {})
      processor.consume(batchFromText(rows))
      const devices = [...seenTables(cluster).devices.values()]
      assert.deepEqual(
        devices.map(one => text(assignDevice(reader(cluster), one, assignmentRules()))),
        [expected],
      )
    })
  }
})

describe('a device that is claimed', () => {
  /** Two pods share a claim, of which the driver publishes the UUID. */
  function claimed(parts: Partial<SeenDevice>): string {
    const cluster = createCluster()
    const { claims, publishedDevices } = clusterTables(cluster)
    const pods = ['a', 'b'].map(name => podNamed(name, live))
    for (const pod of pods) putPod(cluster, pod)
    const gpu = { driver: 'gpu.nvidia.com', pool: 'node-a', device: 'gpu-0' }
    const reservedFor = [...pods, { name: 'x', uid: 'nobody' }]
    claims.set('ns/c', {
      kind: 'ResourceClaim',
      namespace: 'ns',
      name: 'c',
      uid: 'c',
      pods: reservedFor,
      devices: [gpu],
    })
    const published = { uuid: 'GPU-1', parentUuid: undefined, profile: undefined, node: 'node-a' }
    publishedDevices.set(publishedKey(gpu), published)
    return text(assignDevice(reader(cluster), device(parts), assignmentRules()))
  }

  it('is that of the pods that the claim is reserved for, where the exporter names nobody', () => {
    assert.equal(claimed({}), 'a=0.5 b=0.5 shared')
  })

  it('is that of the pod that the exporter names', () => {
    assert.equal(claimed(named('a')), 'a=1')
  })

  it('is free where no claim got it', () => {
    assert.equal(claimed({ id: 'GPU-2' }), 'free=1')
  })
})
