import assert from 'node:assert/strict'
import { createVirtualClock } from '../../pipeline/clock/virtual-clock.ts'
import { clusterTables } from '../../pipeline/cluster/tables.ts'
import type { Processor } from '../../pipeline/component.ts'
import { endBatch, type Batch } from '../../pipeline/model/batch.ts'
import { joinWorkload } from '../../processors/join-workload.ts'
import { batchFromText, createSource } from '../support/batch-from-text.ts'
import {
  objectNamed,
  podNamed,
  putChain,
  putNamespace,
  putNode,
  putPod,
  referenceTo,
  removePod,
} from '../support/cluster-objects.ts'
import { configOf } from '../support/config-of.ts'
import { testHost, type TestHost } from '../support/test-host.ts'
import { textFromBatch } from '../support/text-from-batch.ts'

type Joining = {
  readonly host: TestHost
  join(text: string): string
  readonly processor: Processor
  readonly out: Batch[]
}

function joining(config: object = {}, host: TestHost = testHost()): Joining {
  const out: Batch[] = []
  const processor = joinWorkload.create(configOf(joinWorkload, config), host, batch => void out.push(batch))
  let before: Batch | undefined
  return {
    host,
    processor,
    out,
    join(text) {
      before = batchFromText(text, before && { after: before })
      processor.consume(before)
      return textFromBatch(out.at(-1)!)
    },
  }
}

const ONLY_WORKLOAD = {
  labels: { pod_uuid: '', node: '', workload_id: '', project: '', queue: '', user: '' },
}

describe('join_workload', () => {
  // The chains of real workloads: pod first, with the kind, name and type that come out.
  for (const [chain, expected] of [
    [['Pod/p', 'ReplicaSet.apps/web-7cc77d965f', 'Deployment.apps/web'], 'Deployment/web'],
    [['Pod/p', 'ReplicaSet.apps/roll-687d76d795', 'Rollout.argoproj.io/roll'], 'Rollout/roll'],
    [['Pod/p', 'StatefulSet.apps/db'], 'StatefulSet/db'],
    [['Pod/p', 'DaemonSet.apps/agent'], 'DaemonSet/agent'],
    [['Pod/p'], 'Pod/p'],
    [['Pod/p', 'Node/node-a'], 'Pod/p'],
    [['Pod/p', 'Job.batch/train'], 'Job/train training'],
    [['Pod/p', 'Job.batch/nightly-29120880', 'CronJob.batch/nightly'], 'CronJob/nightly training'],
    [['Pod/p', 'PyTorchJob.kubeflow.org/bert'], 'PyTorchJob/bert distributed'],
    [['Pod/p', 'TFJob.kubeflow.org/tf'], 'TFJob/tf distributed'],
    [['Pod/p', 'XGBoostJob.kubeflow.org/xg'], 'XGBoostJob/xg distributed'],
    [['Pod/p', 'JAXJob.kubeflow.org/jax'], 'JAXJob/jax distributed'],
    [['Pod/p', 'PaddleJob.kubeflow.org/pad'], 'PaddleJob/pad distributed'],
    [['Pod/worker', 'MPIJob.kubeflow.org/mpi'], 'MPIJob/mpi distributed'],
    [['Pod/launcher', 'Job.batch/mpi-launcher', 'MPIJob.kubeflow.org/mpi'], 'MPIJob/mpi distributed'],
    [
      ['Pod/p', 'Job.batch/t-0', 'JobSet.jobset.x-k8s.io/t', 'TrainJob.trainer.kubeflow.org/t'],
      'TrainJob/t distributed',
    ],
    [['Pod/p', 'Job.batch/s-0', 'JobSet.jobset.x-k8s.io/s'], 'JobSet/s distributed'],
    [
      ['Pod/leader', 'StatefulSet.apps/lws', 'LeaderWorkerSet.leaderworkerset.x-k8s.io/lws'],
      'LeaderWorkerSet/lws inference',
    ],
    [
      [
        'Pod/worker',
        'StatefulSet.apps/lws-0',
        'Pod/leader',
        'StatefulSet.apps/lws',
        'LeaderWorkerSet.leaderworkerset.x-k8s.io/lws',
      ],
      'LeaderWorkerSet/lws inference',
    ],
    [['Pod/p', 'RayCluster.ray.io/r-x', 'RayJob.ray.io/r'], 'RayJob/r distributed'],
    [['Pod/submitter', 'Job.batch/r', 'RayJob.ray.io/r'], 'RayJob/r distributed'],
    [['Pod/p', 'RayCluster.ray.io/r-x', 'RayService.ray.io/r'], 'RayService/r inference'],
    [['Pod/p', 'RayCluster.ray.io/r'], 'RayCluster/r distributed'],
    [['Pod/p', 'Job.batch.volcano.sh/v'], 'Job/v distributed'],
    [['Pod/driver', 'SparkApplication.sparkoperator.k8s.io/spark'], 'SparkApplication/spark distributed'],
    [['Pod/exec', 'Pod/driver', 'SparkApplication.sparkoperator.k8s.io/spark'], 'SparkApplication/spark distributed'],
    [['Pod/exec', 'Pod/driver'], 'Pod/driver'],
    [['Pod/p', 'Workflow.argoproj.io/w', 'CronWorkflow.argoproj.io/cw'], 'CronWorkflow/cw'],
    [
      [
        'Pod/p',
        'ReplicaSet.apps/k-1-5d',
        'Deployment.apps/k-1',
        'Revision.serving.knative.dev/k-1',
        'Configuration.serving.knative.dev/k',
        'Service.serving.knative.dev/k',
      ],
      'Service/k inference',
    ],
    [
      [
        'Pod/p',
        'ReplicaSet.apps/k-1-5d',
        'Deployment.apps/k-1',
        'Revision.serving.knative.dev/k-1',
        'Configuration.serving.knative.dev/k-p',
        'Service.serving.knative.dev/k-p',
        'InferenceService.serving.kserve.io/k',
      ],
      'InferenceService/k inference',
    ],
    [
      ['Pod/p', 'ReplicaSet.apps/k-5d', 'Deployment.apps/k', 'InferenceService.serving.kserve.io/k'],
      'InferenceService/k inference',
    ],
    [['Pod/p', 'RunaiJob.run.ai/j', 'TrainingWorkload.run.ai/w'], 'TrainingWorkload/w training'],
    [['Pod/p', 'RunaiJob.run.ai/j', 'InteractiveWorkload.run.ai/w'], 'InteractiveWorkload/w interactive'],
    [
      ['Pod/p', 'PodClique.grove.io/c', 'PodCliqueSet.grove.io/s', 'DynamoGraphDeployment.nvidia.com/d'],
      'DynamoGraphDeployment/d inference',
    ],
    [['Pod/p', 'StatefulSet.apps/nb', 'Notebook.kubeflow.org/nb'], 'Notebook/nb interactive'],
    [['Pod/p', 'TaskRun.tekton.dev/t', 'PipelineRun.tekton.dev/r'], 'PipelineRun/r'],
    [['Pod/p', 'PyTorchJob.kubeflow.org/bert', 'AppWrapper.workload.codeflare.dev/aw'], 'PyTorchJob/bert distributed'],
    [['Pod/p', 'NodeSet.slinky.slurm.net/slurm'], 'NodeSet/slurm'],
    [['Pod/p', 'Widget.example.com/unheard-of'], 'Widget/unheard-of'],
  ] as const) {
    it(`leads from ${chain.join(' to ')}`, () => {
      const { host, join } = joining(ONLY_WORKLOAD)
      const { name } = putChain(host.cluster, chain)
      const [, kind, workload, type] = /^(\w+)\/(\S+)(?: (\w+))?$/.exec(expected)!
      const typed = type === undefined ? '' : `,workload_type="${type}"`
      assert.equal(
        join(`util{namespace="ns",pod="${name}"} 1`),
        `util{namespace="ns",pod="${name}",workload_kind="${kind}",workload_name="${workload}"${typed}} 1\n`,
      )
    })
  }

  it('adds all that is known, and leaves alone what has no pod', () => {
    const { host, join } = joining()
    putNamespace(host.cluster, 'runai-team-a', { 'runai/queue': 'team-a', department: 'research' })
    putNode(host.cluster, 'node-a', { 'runai/node-pool': 'a100' })
    putPod(
      host.cluster,
      podNamed('train-0', {
        namespace: 'runai-team-a',
        uid: 'u-0',
        node: 'node-a',
        owners: [referenceTo(objectNamed('RunaiJob.run.ai/j'))],
        labels: {
          project: 'team-a',
          workloadName: 'train',
          workloadKind: 'TrainingWorkload',
          'run.ai/top-owner-uid': 'top',
          'runai/queue': 'team-a-a100',
        },
        annotations: { workloadId: 'w-1', user: 'ann' },
      }),
    )
    clusterTables(host.cluster).owners.set('uid-RunaiJob.run.ai/j', 'unreadable')
    assert.equal(
      join(`
        up{job="dcgm",instance="node-a:9400"} 1
        node_load1{node="node-a"} 2
        util{gpu="0",namespace="runai-team-a",pod="train-0",container="c"} 29
      `),
      'node_load1{node="node-a"} 2\n' +
        'up{instance="node-a:9400",job="dcgm"} 1\n' +
        'util{container="c",department="research",gpu="0",namespace="runai-team-a",node="node-a",nodepool="a100",' +
        'pod="train-0",pod_uuid="u-0",project="team-a",queue="team-a-a100",user="ann",workload_id="w-1",' +
        'workload_kind="TrainingWorkload",workload_name="train",workload_type="training"} 29\n',
    )
  })

  // Where schedulers write the queue.
  for (const [where, parts, owner, queue] of [
    [
      'KAI, at the owner first',
      { labels: { 'kai.scheduler/queue': 'pod' } },
      { 'kai.scheduler/queue': 'owner' },
      'owner',
    ],
    ['KAI, at the pod', { labels: { 'kai.scheduler/queue': 'pod' } }, {}, 'pod'],
    ['Kueue, at admitted pods', { labels: { 'kueue.x-k8s.io/local-queue-name': 'lq' } }, {}, 'lq'],
    ['Kueue, at the job', {}, { 'kueue.x-k8s.io/queue-name': 'lq' }, 'lq'],
    ['Volcano, in an annotation', { annotations: { 'volcano.sh/queue-name': 'vq' } }, {}, 'vq'],
    ['Volcano, in a label', { labels: { 'volcano.sh/queue-name': 'vq' } }, {}, 'vq'],
    ['Run:ai', { labels: { 'runai/queue': 'rq' } }, {}, 'rq'],
  ] as const) {
    it(`finds the queue of ${where}`, () => {
      const { host, join } = joining()
      const job = objectNamed('Job.batch/j', { labels: owner })
      clusterTables(host.cluster).owners.set(job.uid, job)
      putPod(host.cluster, podNamed('p', { ...parts, owners: [referenceTo(job)] }))
      assert.match(join('util{namespace="ns",pod="p"} 1'), new RegExp(`queue="${queue}"`))
    })
  }

  it('keeps a different value that was there under another name, and leaves alone what it does not know', () => {
    const { host, join } = joining({ labels: { workload_id: '', pod_uuid: '' } })
    putPod(host.cluster, podNamed('p', { node: 'node-a' }))
    assert.equal(
      join(`a{namespace="ns",pod="p",node="10.0.0.1",user="bob",project="ns"} 1
            b{namespace="ns",pod="p",node="10.0.0.1",exported_node="x"} 1`),
      'a{exported_node="10.0.0.1",namespace="ns",node="node-a",pod="p",project="ns",user="bob",workload_kind="Pod",workload_name="p"} 1\n' +
        'b{exported_exported_node="10.0.0.1",exported_node="x",namespace="ns",node="node-a",pod="p",project="ns",workload_kind="Pod",workload_name="p"} 1\n',
    )
  })

  it('has labels, names and look-ups as the config says', () => {
    const { host, join } = joining({
      labels: { pod_uuid: '', node: '', workload_id: 'uid_of_workload', workload_kind: '', project: 'team' },
      look_up: { project: ['namespace.label.cost', 'namespace.name'], user: ['owner.label.owner'] },
      add: { tier: 'namespace.label.tier', app: ['pod.label.none', 'pod.label.app'], none: 'node.name' },
    })
    putNamespace(host.cluster, 'ns', { cost: '4711', tier: 'gold' })
    const job = objectNamed('Job.batch/j', { labels: { owner: 'eve' } })
    clusterTables(host.cluster).owners.set(job.uid, job)
    putPod(host.cluster, podNamed('p', { owners: [referenceTo(job)], labels: { app: 'x', project: 'other' } }))
    assert.equal(
      join('a{namespace="ns",pod="p"} 1'),
      'a{app="x",namespace="ns",pod="p",team="4711",tier="gold",uid_of_workload="uid-Job.batch/j",user="eve",workload_name="j",workload_type="training"} 1\n',
    )
  })

  it('stops at a kind where it is told to', () => {
    const { host, join } = joining({ ...ONLY_WORKLOAD, stop_at: ['RayCluster.ray.io'] })
    putChain(host.cluster, ['Pod/p', 'RayCluster.ray.io/r-x', 'RayJob.ray.io/r'])
    assert.match(join('a{namespace="ns",pod="p"} 1'), /workload_kind="RayCluster",workload_name="r-x"/)
  })

  // An owner that cannot be read, and what is then the workload.
  for (const [missing, chain, labels, expected] of [
    ['reference', ['Pod/p', 'ReplicaSet.apps/web-7cc77d965f'], {}, 'ReplicaSet/web-7cc77d965f'],
    ['labels', ['Pod/p', 'ReplicaSet.apps/web-7cc77d965f'], {}, 'ReplicaSet/web-7cc77d965f'],
    ['names', ['Pod/p', 'ReplicaSet.apps/web-7cc77d965f'], {}, 'Deployment/web'],
    ['names', ['Pod/p', 'Job.batch/nightly-29120880'], {}, 'CronJob/nightly'],
    ['names', ['Pod/p', 'Job.batch/train'], {}, 'Job/train'],
    ['names', ['Pod/p', 'Job.batch.volcano.sh/v-29120880'], {}, 'Job/v-29120880'],
    ['reference', ['Pod/p', 'Job.batch/s-0'], { 'jobset.sigs.k8s.io/jobset-name': 's' }, 'Job/s-0'],
    ['labels', ['Pod/p', 'Job.batch/s-0'], { 'jobset.sigs.k8s.io/jobset-name': 's' }, 'JobSet/s'],
    ['labels', ['Pod/p', 'StatefulSet.apps/l-0'], { 'leaderworkerset.sigs.k8s.io/name': 'l' }, 'LeaderWorkerSet/l'],
    ['labels', ['Pod/p', 'ReplicaSet.apps/k-5d'], { 'serving.knative.dev/service': 'k' }, 'Service/k'],
  ] as const) {
    it(`takes ${expected} for the workload under ${chain[1]} with missing_owner: ${missing}`, () => {
      const { host, join } = joining({ ...ONLY_WORKLOAD, missing_owner: missing })
      putChain(host.cluster, chain, { labels })
      clusterTables(host.cluster).owners.set(`uid-${chain[1]}`, 'unreadable')
      const [kind, name] = expected.split('/')
      assert.match(join('a{namespace="ns",pod="p"} 1'), new RegExp(`workload_kind="${kind}",workload_name="${name}"`))
    })
  }

  it('shows no workload while an owner has not been read, and no project that might be another then', () => {
    const { host, join } = joining()
    const { owners } = clusterTables(host.cluster)
    putChain(host.cluster, ['Pod/p', 'ReplicaSet.apps/web-1', 'Deployment.apps/web'])
    owners.delete('uid-Deployment.apps/web')
    assert.equal(join('a{namespace="ns",pod="p"} 1'), 'a{namespace="ns",pod="p",pod_uuid="uid-Pod/p"} 1\n')
    assert.equal(host.counted.get('gpucol_processor_unresolved_metric_points{reason="owner_not_read_yet"}'), 1)
    owners.set('uid-Deployment.apps/web', objectNamed('Deployment.apps/web', { labels: { project: 'apollo' } }))
    assert.match(join('a{namespace="ns",pod="p"} 1'), /project="apollo".*workload_name="web"/)
  })

  it('tells two pods of one name apart by their uid, and else takes the one that has the name', () => {
    const { host, join } = joining({ labels: { node: '', project: '', workload_id: '', workload_kind: '' } })
    const first = podNamed('p', { uid: 'u-1', labels: { workloadName: 'first' } })
    const second = podNamed('p', { uid: 'u-2', labels: { workloadName: 'second' } })
    putPod(host.cluster, first)
    const text = `plain{namespace="ns",pod="p"} 1
      by_uid{namespace="ns",pod="p",pod_uid="u-1"} 1
      other{namespace="ns",pod="p",pod_uid="u-9"} 1
      ksm{namespace="ns",pod="p",uid="u-1"} 1
      user_id{namespace="ns",pod="p",uid="1000"} 1`
    const expected = (now: string) =>
      [
        `by_uid{namespace="ns",pod="p",pod_uid="u-1",pod_uuid="u-1",workload_name="first"} 1`,
        `ksm{namespace="ns",pod="p",pod_uuid="u-1",uid="u-1",workload_name="first"} 1`,
        `other{namespace="ns",pod="p",pod_uid="u-9"} 1`,
        `plain{namespace="ns",pod="p",pod_uuid="${now === 'first' ? 'u-1' : 'u-2'}",workload_name="${now}"} 1`,
        `user_id{namespace="ns",pod="p",pod_uuid="${now === 'first' ? 'u-1' : 'u-2'}",uid="1000",workload_name="${now}"} 1`,
        '',
      ].join('\n')
    assert.equal(join(text), expected('first'))
    assert.equal(host.counted.get('gpucol_processor_unresolved_metric_points{reason="other_uid"}'), 1)
    removePod(host.cluster, first)
    assert.equal(join(text), expected('first'), 'samples that come late')
    assert.equal(host.counted.get('gpucol_processor_late_metric_points'), 4)
    putPod(host.cluster, second)
    assert.equal(join(text), expected('second'))
    clusterTables(host.cluster).gonePods.delete('u-1')
    assert.match(join(text), /by_uid\{namespace="ns",pod="p",pod_uid="u-1"\} 1/)
  })

  it('counts how it went', () => {
    const { host, join } = joining()
    putPod(host.cluster, podNamed('p'))
    join(`a{namespace="ns",pod="p"} 1
          b{namespace="ns",pod="p"} 1
          b{namespace="ns",pod="q"} 1
          b{pod="p"} 1
          c 1`)
    assert.deepEqual(
      ['resolved', 'unresolved', 'ambiguous', 'late', 'held_back'].map(
        what => host.counted.get(`gpucol_processor_${what}_metric_points`) ?? 0,
      ),
      [2, 2, 0, 0, 0],
    )
    assert.equal(host.counted.get('gpucol_processor_unresolved_metric_points{reason="unknown_pod"}'), 1)
    assert.equal(host.counted.get('gpucol_processor_unresolved_metric_points{reason="no_namespace"}'), 1)
  })

  it('joins by the uid alone, and by the first of several owners, which it counts', () => {
    const { host, join } = joining({ labels: { workload_id: '', project: '' } })
    const owners = ['Widget.example.com/w', 'Gadget.example.com/g'].map(text => referenceTo(objectNamed(text), false))
    for (const { uid } of owners) clusterTables(host.cluster).owners.set(uid, 'unreadable')
    putPod(host.cluster, podNamed('p', { uid: 'u-1', owners }))
    assert.equal(
      join('a{pod_uid="u-1"} 1'),
      'a{pod_uid="u-1",pod_uuid="u-1",workload_kind="Widget",workload_name="w"} 1\n',
    )
    assert.equal(host.counted.get('gpucol_processor_ambiguous_metric_points{reason="several_owners"}'), 1)
    assert.equal(host.counted.get('gpucol_processor_resolved_metric_points'), undefined)
  })

  it('looks again only at the series of a pod that changed', () => {
    const { host, join } = joining({ labels: { pod_uuid: '', workload_id: '', project: '', workload_kind: '' } })
    const pods = Array.from({ length: 100 }, (_, i) => podNamed(`p-${i}`, { node: `node-${i % 10}` }))
    for (const pod of pods) putPod(host.cluster, pod)
    const text = pods
      .flatMap(({ name }) => ['a', 'b', 'c'].map(metric => `${metric}{namespace="ns",pod="${name}"} 1`))
      .join('\n')
    const mapped = (): number => host.counted.get('gpucol_processor_mapped_series') ?? 0
    join(text)
    assert.equal(mapped(), 100, 'once for each label set, not for each series')
    join(text)
    assert.equal(mapped(), 100)
    putPod(host.cluster, { ...pods[7]!, phase: 'Succeeded' })
    join(text)
    assert.equal(mapped(), 101)
    putPod(host.cluster, podNamed('elsewhere'))
    join(text)
    assert.equal(mapped(), 101, 'a pod without series')
    putNode(host.cluster, 'node-3', { 'runai/node-pool': 'a100' })
    assert.match(join(text), /a\{namespace="ns",node="node-3",nodepool="a100",pod="p-13",workload_name="p-13"\} 1/)
    assert.equal(mapped(), 111, 'the pods of a node')
  })

  for (const aligned of [false, true])
    describe(`before the model is complete, ${aligned ? 'in a config test' : 'as it runs'}`, () => {
      const begin = (config: object = {}): Joining =>
        joining(config, testHost({ clock: { ...createVirtualClock(0), aligned } }))
      const TEXT = 'up 1\na{namespace="ns",pod="p"} 1'

      it('holds back series of pods, and nothing else', () => {
        const { host, join } = begin({ labels: { pod_uuid: '', workload_id: '', project: '', workload_kind: '' } })
        const { feeds } = clusterTables(host.cluster)
        feeds.set('kubernetes_api', 'reading')
        assert.equal(join(TEXT), 'up 1\n')
        putPod(host.cluster, podNamed('p'))
        assert.equal(join(TEXT), 'up 1\n')
        feeds.set('kubernetes_api', 'complete')
        assert.equal(join(TEXT), 'a{namespace="ns",pod="p",workload_name="p"} 1\nup 1\n')
        assert.equal(host.counted.get('gpucol_processor_held_back_metric_points'), 2)
        assert.deepEqual(host.logged, [])
      })

      it('waits so long, then says so once and passes on what it has', async () => {
        const { host, join } = begin({ wait_for_cluster: '30s' })
        const { feeds } = clusterTables(host.cluster)
        feeds.set('kubernetes_api', 'reading')
        join(TEXT)
        await host.clock.advance(29_000)
        assert.equal(join(TEXT), 'up 1\n')
        await host.clock.advance(1000)
        assert.equal(join(TEXT), 'a{namespace="ns",pod="p"} 1\nup 1\n')
        join(TEXT)
        assert.deepEqual(host.logged, [
          'failing the model of the cluster: it is not complete after 30s; samples of pods that are not known are passed on as they are',
        ])
        feeds.set('kubernetes_api', 'complete')
        join(TEXT)
        assert.equal(host.logged.at(-1), 'ok the model of the cluster')
      })

      it('hands on the last batch of each source when it is', async () => {
        const { host, join, processor, out } = begin({
          labels: { pod_uuid: '', workload_id: '', project: '', workload_kind: '' },
        })
        const { feeds } = clusterTables(host.cluster)
        feeds.set('kubernetes_api', 'reading')
        const [source, gone] = [createSource('http://node-b'), createSource('http://node-c')]
        processor.consume(batchFromText('b{namespace="ns",pod="p"} 1', { source }))
        processor.consume(batchFromText('b{namespace="ns",pod="p"} 2', { source }))
        processor.consume(batchFromText('c{namespace="ns",pod="p"} 3', { source: gone }))
        processor.consume(endBatch(gone, 0, 'failed'))
        join('up 1')
        putPod(host.cluster, podNamed('p'))
        feeds.set('kubernetes_api', 'complete')
        out.length = 0
        processor.flush!()
        assert.deepEqual(
          out.map(batch => textFromBatch(batch)),
          ['b{namespace="ns",pod="p",workload_name="p"} 2\n'],
        )
        processor.flush!()
        await host.clock.advance(120_000)
        assert.equal(out.length, 1)
        feeds.set('kubernetes_api', 'reading')
        assert.equal(join(TEXT), 'up 1\n', 'who fills it was replaced, and reads it anew')
      })

      it('hands them on also when it has waited long enough', async () => {
        const { host, join, out } = begin()
        clusterTables(host.cluster).feeds.set('kubernetes_api', 'reading')
        join(TEXT)
        await host.clock.advance(60_000)
        assert.equal(textFromBatch(out.at(-1)!), 'a{namespace="ns",pod="p"} 1\nup 1\n')
      })

      it('does not wait where nothing fills it', () => {
        const { join } = begin()
        assert.equal(join(TEXT), 'a{namespace="ns",pod="p"} 1\nup 1\n')
      })
    })

  it('joins all series once more at the end of a step of a config test', () => {
    const { host, join, processor, out } = joining({
      labels: { pod_uuid: '', workload_id: '', project: '', workload_kind: '' },
    })
    const untouched = batchFromText('b{namespace="ns",pod="q"} 1', { source: createSource('http://node-b') })
    processor.consume(untouched)
    assert.equal(join('a{namespace="ns",pod="p"} 1'), 'a{namespace="ns",pod="p"} 1\n')
    putPod(host.cluster, podNamed('p'))
    out.length = 0
    processor.flush!()
    processor.flush!()
    assert.deepEqual(
      out.map(batch => textFromBatch(batch)),
      ['a{namespace="ns",pod="p",workload_name="p"} 1\n'],
    )
  })

  for (const [name, config, path, message] of [
    [
      'a look-up that is none',
      { look_up: { project: ['namespace.name', 'team'] } },
      ['look_up', 'project', 1],
      /"team" is no/,
    ],
    ['an added look-up that is none', { add: { team: 'team' } }, ['add', 'team'], /"team" is no look-up/],
    [
      'one name for two labels',
      { labels: { user: 'team', project: 'team' } },
      ['labels', 'project'],
      /also the name of user/,
    ],
    ['a kind that is none', { stop_at: ['ray cluster'] }, ['stop_at', 0], /"ray cluster" is no kind/],
    ['a catalog that is not there', { catalog: 'workload' }, ['catalog'], /did you mean "workloads"/],
    ['a catalog of another kind', { catalog: 'dcgm' }, ['catalog'], /is no catalog of workloads but one of input/],
  ] as const) {
    it(`refuses ${name}`, () => {
      const [problem, ...others] = joinWorkload.check!(configOf(joinWorkload, config))
      assert.deepEqual(problem?.path, path)
      assert.match(problem.message, message)
      assert.deepEqual(others, [])
    })
  }
})
