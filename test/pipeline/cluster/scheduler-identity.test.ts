import assert from 'node:assert/strict'
import { loadWorkloadsCatalog } from '../../../pipeline/catalog/catalogs.ts'
import { keepAdmission, keepPodGroup, podGroupKey } from '../../../pipeline/cluster/admissions.ts'
import { seenTables, type PodReader } from '../../../pipeline/cluster/find-pod.ts'
import { parseIdentityRules } from '../../../pipeline/cluster/identity.ts'
import { keepPod } from '../../../pipeline/cluster/keep-pod.ts'
import { keepClusterQueue, keepLocalQueue, keepProject, keepQueue } from '../../../pipeline/cluster/keep-quota.ts'
import { projectOfNamespace } from '../../../pipeline/cluster/namespace-project.ts'
import { identifyPod } from '../../../pipeline/cluster/pod-identity.ts'
import { quotaKey, type QuotaObject } from '../../../pipeline/cluster/quotas.ts'
import { clusterTables } from '../../../pipeline/cluster/tables.ts'
import { labelsFrom } from '../../../pipeline/model/labels.ts'
import { testHost } from '../../support/test-host.ts'

type Parts = Record<string, unknown>

const { catalogs } = testHost()
const { look_up } = loadWorkloadsCatalog(catalogs, 'workloads')
const identity = parseIdentityRules(look_up, () => undefined)
const rules = {
  identity,
  owners: { wraps: () => false, stopAt: () => false, maxDepth: 4 },
  guesses: [],
}

const KINDS: Record<string, string> = {
  'project.run.ai': 'Project.run.ai',
  'queue.scheduling.run.ai': 'Queue.scheduling.run.ai',
  'clusterqueue.kueue.x-k8s.io': 'ClusterQueue.kueue.x-k8s.io',
  'localqueue.kueue.x-k8s.io': 'LocalQueue.kueue.x-k8s.io',
}

function testReader(quotas: readonly QuotaObject[] = []): PodReader {
  const { cluster } = testHost()
  const tables = clusterTables(cluster)
  for (const quota of quotas) {
    tables.readKinds.set(KINDS[quota.origin]!, 1)
    tables.quotas.set(quotaKey(quota.origin, quota.namespace, quota.name), quota)
  }
  return { look: entry => entry.value, tables, seen: seenTables(cluster) }
}

/** `department: value (why), queue: value (why)`, those that are known. */
function decided(reader: PodReader, metadata: Parts = {}): string {
  const pod = keepPod({ metadata: { name: 'p', namespace: 'team', uid: 'pod', ...metadata }, spec: {} })
  const found = identifyPod(reader, { pod, from: 'the Kubernetes API', isGone: false }, rules)
  return (['queue', 'department'] as const)
    .map(label => [label, found.identity[label]] as const)
    .flatMap(([label, one]) => (one === undefined ? [] : [`${label}: ${one.value} (${one.because})`]))
    .join(', ')
}

const project = keepProject({ metadata: { name: 'vision' }, spec: { department: 'research', deservedGpus: 1 } })
const queue = keepQueue({ metadata: { name: 'speech' }, spec: { parentQueue: 'lab' } })
const clusterQueue = keepClusterQueue({ metadata: { name: 'cq' }, spec: { cohort: 'all' } })
const localQueue = keepLocalQueue({ metadata: { name: 'lq', namespace: 'team' }, spec: { clusterQueue: 'cq' } })

describe('what only a scheduler tells of a pod', () => {
  it('is nothing where there is none', () => {
    assert.equal(decided(testReader()), '')
  })

  it('is the department of its project', () => {
    const labels = { project: 'vision' }
    assert.equal(decided(testReader([project]), { labels }), 'department: research (the quota vision (project.run.ai))')
  })

  it('is not asked for where a label tells', () => {
    const labels = { project: 'vision', department: 'other', 'kai.scheduler/queue': 'q' }
    assert.equal(
      decided(testReader([project]), { labels }),
      'queue: q (pod.label.kai.scheduler/queue), department: other (pod.label.department)',
    )
  })

  it('is the parent of its queue', () => {
    const labels = { 'kai.scheduler/queue': 'speech' }
    assert.equal(
      decided(testReader([queue]), { labels }),
      'queue: speech (pod.label.kai.scheduler/queue), department: lab (the quota speech (queue.scheduling.run.ai))',
    )
  })

  it('is the cohort of the ClusterQueue behind its LocalQueue', () => {
    const labels = { 'kueue.x-k8s.io/queue-name': 'lq' }
    assert.equal(
      decided(testReader([clusterQueue, localQueue]), { labels }),
      'queue: lq (pod.label.kueue.x-k8s.io/queue-name), department: all (the quota cq (clusterqueue.kueue.x-k8s.io))',
    )
  })

  it('is the queue of its PodGroup', () => {
    const reader = testReader([queue])
    const group = keepPodGroup({ metadata: { name: 'pg', namespace: 'team' }, spec: { queue: 'speech' } })!
    reader.tables.readKinds.set('PodGroup.scheduling.run.ai', 1)
    reader.tables.podGroups.set(podGroupKey('team', 'pg'), group)
    assert.equal(
      decided(reader, { annotations: { 'pod-group-name': 'pg' } }),
      'queue: speech (the PodGroup pg), department: lab (the quota speech (queue.scheduling.run.ai))',
    )
  })

  it('is the queue into which Kueue put its job, and the cohort where it was admitted', () => {
    const reader = testReader([clusterQueue])
    const labels = { 'kueue.x-k8s.io/job-uid': 'job' }
    const workload = { metadata: { name: 'w', labels }, spec: { queueName: 'lq' } }
    reader.tables.readKinds.set('Workload.kueue.x-k8s.io', 1)
    reader.tables.admissions.set('job', keepAdmission(workload)!)
    reader.tables.owners.set('job', 'unreadable')
    const owner = { apiVersion: 'batch/v1', kind: 'Job', name: 'j', uid: 'job', controller: true }
    const pod = { ownerReferences: [owner] }
    assert.equal(decided(reader, pod), 'queue: lq (the Workload of Kueue for its job)')
    const status = { admission: { clusterQueue: 'cq' } }
    reader.tables.admissions.set('job', keepAdmission({ ...workload, status })!)
    assert.equal(
      decided(reader, pod),
      'queue: lq (the Workload of Kueue for its job), department: all (the quota cq (clusterqueue.kueue.x-k8s.io))',
    )
    reader.tables.owners.delete('job')
    assert.equal(decided(reader, pod), '', 'labels of an owner that has not been read would count before')
  })

  it('is not told by objects without a queue or a job', () => {
    assert.equal(keepPodGroup({ metadata: { name: 'pg' }, spec: {} }), undefined)
    assert.equal(keepAdmission({ metadata: { name: 'w' }, spec: { queueName: 'lq' } }), undefined)
  })
})

describe('the project of a namespace', () => {
  it('is what its labels say, else its name', () => {
    const reader = testReader()
    const metadata = { group: '', kind: 'Namespace', namespace: '', uid: '', annotations: labelsFrom([]), owners: [] }
    const name = 'runai-vision'
    reader.tables.namespaces.set(name, { ...metadata, name, labels: labelsFrom([['runai/queue', 'vision']]) })
    assert.deepEqual(
      [name, 'other'].map(one => projectOfNamespace(reader, one, identity)),
      ['vision', 'other'],
    )
  })
})
