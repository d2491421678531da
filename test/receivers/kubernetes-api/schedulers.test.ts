import assert from 'node:assert/strict'
import { claimedDevices } from '../../../pipeline/cluster/claims.ts'
import { seenTables } from '../../../pipeline/cluster/find-pod.ts'
import { quotaRows } from '../../../pipeline/cluster/quota-reader.ts'
import type { GivenObject } from '../../../pipeline/simulator/kubernetes-api/object-identity.ts'
import { virtualKubernetesApi } from '../../../pipeline/simulator/kubernetes-api/serve.ts'
import { kubernetesApi } from '../../../receivers/kubernetes-api.ts'
import { configOf } from '../../support/config-of.ts'
import { owned, testReceiver, type TestReceiver } from './test-receiver.ts'

const QUEUES = 'https://api.example/apis/scheduling.run.ai/v2/'

type Parts = Record<string, unknown>

function cluster(apiVersion: string, kind: string, name: string, spec: Parts, status: Parts = {}): GivenObject {
  return { apiVersion, kind, metadata: { name, uid: `uid-${kind}-${name}` }, spec, status } as GivenObject
}
function namespaced(apiVersion: string, kind: string, name: string, spec: Parts, status: Parts = {}): GivenObject {
  const object = cluster(apiVersion, kind, name, spec, status)
  return { ...object, metadata: { ...object.metadata, namespace: 'team' } } as GivenObject
}

const resources = (field: string, gpu: number): Parts => ({ gpu: { [field]: gpu }, cpu: { [field]: 2000 } })
const project = cluster('run.ai/v2', 'Project', 'vision', {
  department: 'research',
  queues: [
    { name: 'vision-a100', nodepool: 'a100', resources: resources('deserved', 8) },
    { name: 'vision-default', nodepool: 'default', resources: resources('deserved', -1) },
  ],
})
const department = cluster('scheduling.run.ai/v2alpha2', 'Department', 'research', { deservedGpus: 20 })
const queue = cluster('scheduling.run.ai/v2', 'Queue', 'speech', {
  parentQueue: 'lab',
  resources: resources('quota', 4),
})
const clusterQueue = cluster('kueue.x-k8s.io/v1beta1', 'ClusterQueue', 'cq', {
  cohort: 'all',
  resourceGroups: [{ flavors: [{ resources: [{ name: 'nvidia.com/gpu', nominalQuota: 6 }] }] }],
})
const localQueue = namespaced('kueue.x-k8s.io/v1beta1', 'LocalQueue', 'lq', { clusterQueue: 'cq' })
const resourceQuota = namespaced(
  'v1',
  'ResourceQuota',
  'q',
  { hard: { 'requests.nvidia.com/gpu': '4' } },
  { hard: { 'requests.nvidia.com/gpu': '4' }, used: { 'requests.nvidia.com/gpu': '1' } },
)
const all = [project, department, queue, clusterQueue, localQueue, resourceQuota]
/** Kinds that have no namespaces are told by their definitions. */
const definitions = [
  ['run.ai', 'Project', 'projects', 'v2'],
  ['scheduling.run.ai', 'Department', 'departments', 'v2alpha2'],
  ['scheduling.run.ai', 'Queue', 'queues', 'v2'],
  ['kueue.x-k8s.io', 'ClusterQueue', 'clusterqueues', 'v1beta1'],
].map(([group, kind, plural, version]) =>
  cluster('apiextensions.k8s.io/v1', 'CustomResourceDefinition', `${plural}.${group}`, {
    group,
    scope: 'Cluster',
    names: { kind, plural, singular: kind!.toLowerCase() },
    versions: [{ name: version, served: true, storage: true }],
  }),
)

function rows({ tables, host }: TestReceiver): string[] {
  return [...quotaRows(tables, seenTables(host.cluster))]
    .map(({ origin, namespace, name, project: its, department: of, gpus }) =>
      [origin, namespace, name, its, of, gpus].map(one => one ?? '-').join(' '),
    )
    .toSorted()
}

describe('kubernetes_api and schedulers', () => {
  it('reads quotas of Run:ai, KAI, Kueue and plain Kubernetes', async () => {
    const receiver = testReceiver([...all, ...definitions])
    await receiver.start()
    assert.equal(receiver.feed(), 'complete')
    assert.deepEqual(rows(receiver), [
      'clusterqueue.kueue.x-k8s.io  cq - all 6',
      'department.scheduling.run.ai  research - research 20',
      'localqueue.kueue.x-k8s.io team lq - - -',
      'project.run.ai  vision-a100 vision research 8',
      'project.run.ai  vision-default vision research Infinity',
      'queue.scheduling.run.ai  speech speech lab 4',
      'resourcequota team q - - 4',
    ])
    const name = '{"scheduling.queue.gpu.quota",department='
    const job = 'job="kubernetes_api"'
    assert.deepEqual(receiver.text('{"scheduling.queue.gpu.quota"'), [
      `${name}"all",${job},origin="clusterqueue.kueue.x-k8s.io",queue="cq"} 6`,
      `${name}"lab",${job},origin="queue.scheduling.run.ai",project="speech",queue="speech"} 4`,
      `${name}"research",${job},nodepool="a100",origin="project.run.ai",project="vision",queue="vision-a100"} 8`,
      `${name}"research",${job},nodepool="default",origin="project.run.ai",project="vision",queue="vision-default"} +Inf`,
      `${name}"research",${job},origin="department.scheduling.run.ai",queue="research"} 20`,
    ])
    assert.deepEqual(receiver.text('kube_resourcequota'), [
      'kube_resourcequota{job="kubernetes_api",namespace="team",resource="requests.nvidia.com/gpu",resourcequota="q",type="hard"} 4',
      'kube_resourcequota{job="kubernetes_api",namespace="team",resource="requests.nvidia.com/gpu",resourcequota="q",type="used"} 1',
    ])
    receiver.stop()
    assert.deepEqual([rows(receiver), receiver.tables.readKinds.size], [[], 0])
  })

  it('follows a quota that changes, and one that goes', async () => {
    const receiver = testReceiver([...all, ...definitions])
    await receiver.start()
    const more = cluster('scheduling.run.ai/v2', 'Queue', 'speech', {
      parentQueue: 'lab',
      resources: resources('quota', 5),
    })
    receiver.store.apply([
      { type: 'MODIFIED', object: more },
      { type: 'DELETED', object: resourceQuota },
    ])
    await receiver.clock.advance(2000)
    const left = rows(receiver)
    assert.ok(left.includes('queue.scheduling.run.ai  speech speech lab 5'), left.join('\n'))
    assert.ok(!left.some(row => row.startsWith('resourcequota')), left.join('\n'))
    assert.deepEqual(receiver.text('kube_resourcequota'), [])
    receiver.stop()
  })

  it('says once which rule is missing for a kind that it may not read, and reads the others', async () => {
    const receiver = testReceiver(
      [...all, ...definitions],
      {},
      {
        deny: [{ apiGroups: ['run.ai'], resources: ['projects'], verbs: ['*'] }],
      },
    )
    await receiver.start()
    await receiver.clock.advance(600_000)
    assert.equal(receiver.feed(), 'complete')
    assert.deepEqual(
      rows(receiver).filter(row => row.startsWith('project') || row.startsWith('queue')),
      ['queue.scheduling.run.ai  speech speech lab 4'],
    )
    const lines = receiver.host.logged.filter(line => line.includes('projects.run.ai'))
    assert.equal(lines.length, 1, lines.join('\n'))
    assert.match(lines[0]!, /projects.*run\.ai/)
    receiver.stop()
  })

  it('finds a kind whose definition comes later, and lets go of one whose definition goes', async () => {
    const receiver = testReceiver([resourceQuota])
    await receiver.start()
    assert.equal(receiver.feed(), 'complete')
    receiver.store.apply([...definitions, queue].map(object => ({ type: 'ADDED' as const, object })))
    await receiver.clock.advance(121_000)
    assert.deepEqual(rows(receiver), ['queue.scheduling.run.ai  speech speech lab 4', 'resourcequota team q - - 4'])
    receiver.network.serve(QUEUES, (_, response) => {
      response.head(404, {})
      response.end()
    })
    receiver.api.setFaults({ watches: 'drop' })
    receiver.api.setFaults({})
    await receiver.clock.advance(120_000)
    assert.deepEqual(rows(receiver), ['resourcequota team q - - 4'])
    assert.equal(receiver.tables.readKinds.entry('Queue.scheduling.run.ai').value, undefined)
    receiver.network.serve(QUEUES, virtualKubernetesApi(receiver.api))
    await receiver.clock.advance(121_000)
    assert.deepEqual(rows(receiver), ['queue.scheduling.run.ai  speech speech lab 4', 'resourcequota team q - - 4'])
    receiver.stop()
  })

  it('leaves what its successor has put in when it is stopped', async () => {
    const receiver = testReceiver([queue, ...definitions])
    await receiver.start()
    const successor = kubernetesApi.create(configOf(kubernetesApi, {}), receiver.host, () => {})
    await successor.start?.()
    await receiver.clock.advance(0)
    receiver.stop()
    assert.deepEqual(rows(receiver), ['queue.scheduling.run.ai  speech speech lab 4'])
    assert.equal(receiver.tables.readKinds.entry('Queue.scheduling.run.ai').value, 1)
    await successor.stop?.(0)
    assert.deepEqual([rows(receiver), receiver.tables.readKinds.size], [[], 0])
  })

  it('reads only the namespaces that it is told of', async () => {
    const other = { ...resourceQuota, metadata: { ...resourceQuota.metadata, namespace: 'other', uid: 'other' } }
    const receiver = testReceiver([resourceQuota, other as GivenObject, queue, ...definitions], {
      namespaces: ['team'],
    })
    await receiver.start()
    assert.deepEqual(rows(receiver), ['queue.scheduling.run.ai  speech speech lab 4', 'resourcequota team q - - 4'])
    receiver.stop()
  })

  it('keeps nothing but the quota of an object of 5 MB, and gets over half a document', async () => {
    const large = { ...queue, metadata: { ...queue.metadata, annotations: { note: 'x'.repeat(5_000_000) } } }
    const receiver = testReceiver([large as GivenObject, resourceQuota, ...definitions])
    receiver.api.setFaults({ truncate: true })
    await receiver.start()
    await receiver.clock.advance(5000)
    assert.equal(receiver.feed(), 'reading')
    receiver.api.setFaults({})
    await receiver.clock.advance(60_000)
    assert.equal(receiver.feed(), 'complete')
    assert.deepEqual(rows(receiver), ['queue.scheduling.run.ai  speech speech lab 4', 'resourcequota team q - - 4'])
    receiver.stop()
  })

  it('is complete without kinds of which nothing is heard', async () => {
    const receiver = testReceiver([queue, ...definitions])
    receiver.network.serve('https://api.example/apis/scheduling.run.ai/', () => () => {})
    await receiver.start()
    assert.equal(receiver.feed(), 'reading')
    await receiver.clock.advance(30_000)
    assert.equal(receiver.feed(), 'complete')
    receiver.stop()
  })

  it('follows pods to the workloads of Run:ai', async () => {
    const workload = ['run.ai/v2alpha1', 'TrainingWorkload', 'train', 'tw'] as const
    const job = ['run.ai/v1', 'RunaiJob', 'train', 'rj'] as const
    const receiver = testReceiver([
      owned('v1', 'Pod', 'train-0-0', 'p', job),
      owned(...job, workload),
      owned(...workload),
      project,
      ...definitions,
    ])
    await receiver.start()
    assert.equal(receiver.chain('team', 'train-0-0'), 'RunaiJob/train TrainingWorkload/train')
    assert.equal(receiver.feed(), 'complete')
    receiver.stop()
  })

  it('knows the devices that a pod has by its claims', async () => {
    const slice = cluster('resource.k8s.io/v1', 'ResourceSlice', 'n1-gpu', {
      driver: 'gpu.nvidia.com',
      nodeName: 'n1',
      pool: { name: 'n1', generation: 1, resourceSliceCount: 1 },
      devices: [
        { name: 'gpu-0', attributes: { uuid: { string: 'GPU-0' }, type: { string: 'gpu' } } },
        { name: 'gpu-1', basic: { attributes: { 'gpu.nvidia.com/uuid': { string: 'GPU-1' } } } },
      ],
    })
    const result = (device: string): Parts => ({ request: 'gpu', driver: 'gpu.nvidia.com', pool: 'n1', device })
    const reserved = (uid: string): Parts[] => [{ resource: 'pods', name: 'p', uid }]
    const claim = (name: string, device: string, uid: string): GivenObject =>
      namespaced(
        'resource.k8s.io/v1',
        'ResourceClaim',
        name,
        {},
        {
          allocation: { devices: { results: [result(device)] } },
          reservedFor: reserved(uid),
        },
      )
    const pod = owned('v1', 'Pod', 'p', 'pod', undefined, {
      spec: {
        resourceClaims: [
          { name: 'one', resourceClaimName: 'mine' },
          { name: 'two', resourceClaimTemplateName: 'template' },
          { name: 'three', resourceClaimName: 'of-another' },
        ],
      },
      status: { resourceClaimStatuses: [{ name: 'two', resourceClaimName: 'p-two-x' }] },
    })
    const receiver = testReceiver([
      slice,
      pod,
      claim('mine', 'gpu-0', 'pod'),
      claim('p-two-x', 'gpu-1', 'pod'),
      claim('of-another', 'gpu-0', 'before'),
    ])
    await receiver.start()
    const reader = {
      look: <V>(entry: { readonly value: V | undefined }) => entry.value,
      tables: receiver.tables,
      seen: seenTables(receiver.host.cluster),
    }
    const devices = (): string[] =>
      claimedDevices(reader, receiver.tables.pods.entry('pod').value!).map(
        ({ claim: name, device, uuid, node }) => `${name} ${device} ${uuid} ${node}`,
      )
    assert.deepEqual(devices(), ['mine gpu-0 GPU-0 n1', 'p-two-x gpu-1 GPU-1 n1'])
    assert.deepEqual(receiver.text('{"scheduling.claim.device"').slice(0, 1), [
      '{"scheduling.claim.device",claim="mine",device="gpu-0",driver="gpu.nvidia.com",job="kubernetes_api",namespace="team",pod="p",pool="n1",uid="pod"} 1',
    ])
    receiver.store.apply([{ type: 'DELETED', object: slice }])
    await receiver.clock.advance(0)
    assert.deepEqual(devices(), ['mine gpu-0 undefined undefined', 'p-two-x gpu-1 undefined undefined'])
    receiver.stop()
  })
})
