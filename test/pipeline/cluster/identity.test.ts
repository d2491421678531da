import assert from 'node:assert/strict'
import { identify, parseIdentityRules, type Identity } from '../../../pipeline/cluster/identity.ts'
import { metricSpelling, parseLookUp } from '../../../pipeline/cluster/look-up.ts'
import type { KubernetesMetadata } from '../../../pipeline/cluster/objects.ts'
import { followOwners } from '../../../pipeline/cluster/owner-chain.ts'
import { labelsFrom } from '../../../pipeline/model/labels.ts'

const rules = parseIdentityRules(
  {
    workload_id: ['pod.annotation.workloadId', 'pod.label.run.ai/top-owner-uid'],
    workload_name: ['pod.label.workloadName'],
    workload_kind: ['pod.label.workloadKind'],
    project: ['pod.label.project', 'namespace.label.runai/queue', 'namespace.name'],
    user: ['pod.annotation.user'],
    nodepool: ['node.label.runai/node-pool'],
  },
  (kind, group) =>
    ({
      TrainingWorkload: 'training',
      Deployment: 'inference',
      Job: group === 'batch.volcano.sh' ? 'distributed' : 'training',
    })[kind],
)

function object(
  parts: Partial<Omit<KubernetesMetadata, 'labels' | 'annotations'>> & {
    labels?: Record<string, string>
    annotations?: Record<string, string>
  },
): KubernetesMetadata {
  const { labels = {}, annotations = {}, ...rest } = parts
  return {
    group: '',
    kind: 'Pod',
    namespace: 'runai-team-a',
    name: 'p',
    uid: 'pod-uid',
    owners: [],
    ...rest,
    labels: labelsFrom(Object.entries(labels)),
    annotations: labelsFrom(Object.entries(annotations)),
  }
}

function identityOf(
  pod: KubernetesMetadata,
  around: { namespace?: KubernetesMetadata; node?: KubernetesMetadata; owner?: KubernetesMetadata } = {},
): Identity {
  const chain = followOwners(pod, () => around.owner ?? 'unreadable', {
    wraps: () => false,
    stopAt: () => false,
    maxDepth: 8,
  })
  return identify({ pod, namespace: around.namespace, node: around.node, chain }, rules)
}

function values(identity: Identity): Record<string, string> {
  return Object.fromEntries(Object.entries(identity).map(([label, { value }]) => [label, value]))
}

describe('what a pod belongs to', () => {
  it('is what the marks of Run:ai say, before all owners', () => {
    const pod = object({
      owners: [{ group: 'run.ai', kind: 'RunaiJob', name: 'j', uid: 'job-uid', controller: true }],
      labels: {
        project: 'team-a',
        workloadName: 'train-x',
        workloadKind: 'TrainingWorkload',
        'run.ai/top-owner-uid': 'top',
      },
      annotations: { workloadId: 'w-1', user: 'ann@example.com' },
    })
    assert.deepEqual(values(identityOf(pod)), {
      workload_id: 'w-1',
      workload_name: 'train-x',
      workload_kind: 'TrainingWorkload',
      workload_type: 'training',
      project: 'team-a',
      user: 'ann@example.com',
    })
  })

  it('is found also where kube-state-metrics spells the names', () => {
    const pod = object({
      labels: { run_ai_top_owner_uid: 'top', workload_name: 'train-x' },
      annotations: { user: 'ann' },
    })
    const { workload_id, workload_name, user } = values(identityOf(pod))
    assert.deepEqual([workload_id, workload_name, user], ['top', 'train-x', 'ann'])
    assert.equal(metricSpelling('kueue.x-k8s.io/queue-name'), 'kueue_x_k8s_io_queue_name')
    assert.equal(metricSpelling('workloadName'), 'workload_name')
  })

  it('is what the owners say where there are no marks', () => {
    const owner = { group: 'batch.volcano.sh', kind: 'Job', name: 'v', uid: 'job-uid', controller: true }
    assert.deepEqual(values(identityOf(object({ owners: [owner] }))), {
      workload_id: 'job-uid',
      workload_name: 'v',
      workload_kind: 'Job',
      workload_type: 'distributed',
      project: 'runai-team-a',
    })
  })

  it('has an id made of names where no uid is known', () => {
    const owner = { group: undefined, kind: 'Job', name: 'j', uid: '', controller: true }
    assert.equal(values(identityOf(object({ owners: [owner] })))['workload_id'], 'runai-team-a/Job/j')
  })

  it('is the pod itself where nobody owns it', () => {
    const { workload_id, workload_name, workload_kind } = values(identityOf(object({})))
    assert.deepEqual([workload_id, workload_name, workload_kind], ['pod-uid', 'p', 'Pod'])
  })

  it('takes from namespace and node what they have, and says what decided', () => {
    const identity = identityOf(object({}), {
      namespace: object({
        kind: 'Namespace',
        namespace: '',
        name: 'runai-team-a',
        labels: { 'runai/queue': 'team-a' },
      }),
      node: object({ kind: 'Node', namespace: '', name: 'node-a', labels: { 'runai/node-pool': 'a100' } }),
    })
    assert.deepEqual(identity.project, { value: 'team-a', because: 'namespace.label.runai/queue' })
    assert.deepEqual(identity.nodepool, { value: 'a100', because: 'node.label.runai/node-pool' })
  })

  for (const text of ['project', 'pod.labels.x', 'pod.label.', 'owner', 'cluster.name']) {
    it(`refuses the look-up ${text}`, () => {
      assert.throws(() => parseLookUp(text), /is no look-up; write pod, owner/)
    })
  }
})
