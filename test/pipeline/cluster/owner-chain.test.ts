import assert from 'node:assert/strict'
import type { KubernetesMetadata, OwnerReference } from '../../../pipeline/cluster/objects.ts'
import { followOwners, type Found, type OwnerRules } from '../../../pipeline/cluster/owner-chain.ts'
import { EMPTY_LABELS } from '../../../pipeline/model/labels.ts'

const rules: OwnerRules = {
  wraps: ({ kind }) => kind === 'AppWrapper',
  stopAt: ({ kind }) => kind === 'StopHere',
  maxDepth: 16,
}

/** Objects by `Kind.group/name`; the list is a chain, each owned by the next. */
function chainOf(...names: string[]): Map<string, KubernetesMetadata> {
  const objects = names.map(name => parse(name))
  return new Map(
    objects.map((object, i) => {
      const above = objects[i + 1]
      const owners = above === undefined ? [] : [referenceTo(above)]
      return [object.uid, { ...object, owners }]
    }),
  )
}

function parse(text: string): KubernetesMetadata {
  const [, kind, group = '', name] = /^(\w+?)(?:\.([^/]+))?\/(.+)$/.exec(text)!
  return {
    group,
    kind: kind!,
    name: name!,
    namespace: 'ns',
    uid: `uid-${text}`,
    labels: EMPTY_LABELS,
    annotations: EMPTY_LABELS,
    owners: [],
  }
}

function referenceTo({ group, kind, name, uid }: KubernetesMetadata, controller = true): OwnerReference {
  return { group, kind, name, uid, controller }
}

function walk(objects: Map<string, KubernetesMetadata>, find?: (reference: OwnerReference) => Found) {
  const pod = objects.values().next().value!
  return followOwners(pod, find ?? (reference => objects.get(reference.uid) ?? 'unreadable'), rules)
}

function named(chain: ReturnType<typeof walk>): string {
  const { workload } = chain
  if (workload === undefined) return 'the pod'
  const { group, kind, name } = workload.reference
  return `${kind}${group ? `.${group}` : ''}/${name}`
}

describe('the owner chain', () => {
  // The chains of real workloads: the pod first, the workload last.
  for (const chain of [
    ['Pod/p', 'ReplicaSet.apps/web-7cc77d965f', 'Deployment.apps/web'],
    ['Pod/p', 'ReplicaSet.apps/roll-687d76d795', 'Rollout.argoproj.io/roll'],
    ['Pod/p', 'StatefulSet.apps/db'],
    ['Pod/p', 'DaemonSet.apps/agent'],
    ['Pod/p', 'Job.batch/train'],
    ['Pod/p', 'Job.batch/nightly-29120880', 'CronJob.batch/nightly'],
    ['Pod/p', 'PyTorchJob.kubeflow.org/bert'],
    ['Pod/p', 'Job.batch/mpi-launcher', 'MPIJob.kubeflow.org/mpi'],
    ['Pod/p', 'Job.batch/t-0', 'JobSet.jobset.x-k8s.io/t', 'TrainJob.trainer.kubeflow.org/t'],
    ['Pod/p', 'Job.batch/s-0', 'JobSet.jobset.x-k8s.io/s'],
    ['Pod/leader', 'StatefulSet.apps/lws', 'LeaderWorkerSet.leaderworkerset.x-k8s.io/lws'],
    [
      'Pod/worker',
      'StatefulSet.apps/lws-0',
      'Pod/leader',
      'StatefulSet.apps/lws',
      'LeaderWorkerSet.leaderworkerset.x-k8s.io/lws',
    ],
    ['Pod/p', 'RayCluster.ray.io/r-raycluster', 'RayJob.ray.io/r'],
    ['Pod/submitter', 'Job.batch/r', 'RayJob.ray.io/r'],
    ['Pod/p', 'RayCluster.ray.io/r', 'RayService.ray.io/r'],
    ['Pod/p', 'Job.batch.volcano.sh/v'],
    ['Pod/driver', 'SparkApplication.sparkoperator.k8s.io/spark'],
    ['Pod/executor', 'Pod/driver', 'SparkApplication.sparkoperator.k8s.io/spark'],
    ['Pod/p', 'Workflow.argoproj.io/w', 'CronWorkflow.argoproj.io/w'],
    [
      'Pod/p',
      'ReplicaSet.apps/k-1',
      'Deployment.apps/k',
      'Revision.serving.knative.dev/k',
      'Configuration.serving.knative.dev/k',
      'Service.serving.knative.dev/k',
      'InferenceService.serving.kserve.io/k',
    ],
    ['Pod/p', 'RunaiJob.run.ai/j', 'TrainingWorkload.run.ai/j'],
    ['Pod/p', 'PodClique.grove.io/c', 'PodCliqueSet.grove.io/c', 'DynamoGraphDeployment.nvidia.com/c'],
    ['Pod/p', 'NeverHeardOf.example.com/x'],
  ]) {
    it(`of ${chain.join(' -> ')}`, () => {
      const result = walk(chainOf(...chain))
      assert.equal(named(result), chain.at(-1))
      assert.equal(result.end, 'top')
    })
  }

  it('tells two kinds called Job apart', () => {
    assert.equal(named(walk(chainOf('Pod/p', 'Job.batch/x'))), 'Job.batch/x')
    assert.equal(named(walk(chainOf('Pod/p', 'Job.batch.volcano.sh/x'))), 'Job.batch.volcano.sh/x')
  })

  it('leaves a pod without owner, or owned by its node, to itself', () => {
    assert.equal(named(walk(chainOf('Pod/p'))), 'the pod')
    const ofNode = walk(chainOf('Pod/p', 'Node/node-a'))
    assert.deepEqual([named(ofNode), ofNode.end], ['the pod', 'node'])
  })

  it('takes an owner that cannot be read for the workload', () => {
    const objects = chainOf('Pod/p', 'ReplicaSet.apps/web-1', 'Deployment.apps/web')
    const result = walk(objects, () => 'unreadable')
    assert.deepEqual([named(result), result.end], ['ReplicaSet.apps/web-1', 'unreadable'])
  })

  it('does not take an object of the same name for the owner', () => {
    const objects = chainOf('Pod/p', 'Job.batch/x', 'CronJob.batch/x')
    const result = walk(objects, reference => ({ ...objects.get(reference.uid)!, uid: 'another' }))
    assert.deepEqual([named(result), result.end], ['Job.batch/x', 'unreadable'])
  })

  it('waits for an owner of which nothing is known yet', () => {
    const result = walk(chainOf('Pod/p', 'Job.batch/x', 'CronJob.batch/x'), () => undefined)
    assert.deepEqual([named(result), result.end], ['Job.batch/x', 'waiting'])
  })

  it('prefers the controller, and else takes the first owner', () => {
    const objects = chainOf('Pod/p')
    const [a, b] = [parse('A.x/a'), parse('B.x/b')]
    const pod = objects.values().next().value!
    const owned = (owners: OwnerReference[]) => followOwners({ ...pod, owners }, () => 'unreadable', rules)
    assert.equal(named(owned([referenceTo(a, false), referenceTo(b, true)])), 'B.x/b')
    const first = owned([referenceTo(a, false), referenceTo(b, false)])
    assert.deepEqual([named(first), first.workload!.how], ['A.x/a', 'first of several owners'])
  })

  it('ends in a circle, and after so many steps', () => {
    const objects = chainOf('Pod/p', 'A.x/a', 'B.x/b')
    const circle = new Map(objects)
    circle.set('uid-B.x/b', { ...parse('B.x/b'), owners: [referenceTo(parse('A.x/a'))] })
    assert.deepEqual([named(walk(circle)), walk(circle).end], ['B.x/b', 'cycle'])
    const long = walk(chainOf('Pod/p', ...Array.from({ length: 40 }, (_, i) => `K.x/${i}`)))
    assert.deepEqual([long.steps.length, long.end], [16, 'depth'])
  })

  it('stops where it is told to, and looks into wrappers', () => {
    assert.equal(named(walk(chainOf('Pod/p', 'StopHere.x/s', 'Above.x/a'))), 'StopHere.x/s')
    assert.equal(named(walk(chainOf('Pod/p', 'Job.batch/j', 'AppWrapper.workload.codeflare.dev/w'))), 'Job.batch/j')
    assert.equal(
      named(walk(chainOf('Pod/p', 'AppWrapper.workload.codeflare.dev/w'))),
      'AppWrapper.workload.codeflare.dev/w',
    )
  })
})
