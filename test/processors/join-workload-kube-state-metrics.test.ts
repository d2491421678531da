/** Where the Kubernetes API is out of reach: kube-state-metrics in, through `normalize`, workloads out. */
import assert from 'node:assert/strict'
import { podNamed, putChain, putPod, removePod } from '../support/cluster-objects.ts'
import { joinedPipeline } from '../support/joined-pipeline.ts'

const GPU = 'a{namespace="ns",pod="p"} 1'

describe('join_workload on kube-state-metrics', () => {
  it('knows what is told, in its spelling, and the rest is absent', () => {
    const { scrape } = joinedPipeline()
    scrape(
      'ksm',
      `kube_pod_info{namespace="ns",pod="p",uid="u-1",node="node-a",created_by_kind="RunaiJob",created_by_name="j"} 1
       kube_pod_owner{namespace="ns",pod="p",uid="u-1",owner_kind="RunaiJob",owner_name="j",owner_is_controller="true"} 1
       kube_pod_labels{namespace="ns",pod="p",uid="u-1",label_run_ai_top_owner_uid="top",label_workload_name="w",label_workload_kind="TrainingWorkload",label_project="team-a"} 1
       kube_pod_annotations{namespace="ns",pod="p",uid="u-1",annotation_user="ann"} 1
       kube_namespace_labels{namespace="ns",label_department="research"} 1
       kube_node_labels{node="node-a",label_runai_node_pool="a100"} 1`,
    )
    assert.equal(
      scrape('dcgm', GPU),
      'a{department="research",namespace="ns",node="node-a",nodepool="a100",pod="p",pod_uuid="u-1",project="team-a",' +
        'user="ann",workload_id="top",workload_kind="TrainingWorkload",workload_name="w",workload_type="training"} 1\n',
    )
  })

  // Owners by kind and name, and the workload with its id.
  for (const [name, text, expected] of [
    [
      'a Deployment',
      `kube_pod_owner{namespace="ns",pod="p",uid="u",owner_kind="ReplicaSet",owner_name="web-7c",owner_is_controller="true"} 1
       kube_replicaset_owner{namespace="ns",replicaset="web-7c",owner_kind="Deployment",owner_name="web",owner_is_controller="true"} 1`,
      'ns/Deployment/web',
    ],
    [
      'a ReplicaSet of which nothing is told',
      'kube_pod_owner{namespace="ns",pod="p",uid="u",owner_kind="ReplicaSet",owner_name="web-7c",owner_is_controller="true"} 1',
      'ns/ReplicaSet/web-7c',
    ],
    [
      'a CronJob',
      `kube_pod_owner{namespace="ns",pod="p",uid="u",owner_kind="Job",owner_name="n-29120880",owner_is_controller="true"} 1
       kube_job_owner{namespace="ns",job_name="n-29120880",owner_kind="CronJob",owner_name="n",owner_is_controller="true"} 1`,
      'ns/CronJob/n',
    ],
    [
      'a kind that it knows nothing about',
      'kube_pod_owner{namespace="ns",pod="p",uid="u",owner_kind="PyTorchJob",owner_name="bert",owner_is_controller="true"} 1',
      'ns/PyTorchJob/bert',
    ],
    [
      'nobody, up to 2.7',
      'kube_pod_owner{namespace="ns",pod="p",uid="u",owner_kind="<none>",owner_name="<none>"} 1',
      'u',
    ],
    ['nobody, since 2.8', 'kube_pod_owner{namespace="ns",pod="p",uid="u",owner_kind="",owner_name=""} 1', 'u'],
    ['nobody, before there were uids', 'kube_pod_owner{namespace="ns",pod="p",owner_kind="<none>"} 1', 'ns/Pod/p'],
    [
      'its node',
      'kube_pod_owner{namespace="ns",pod="p",uid="u",owner_kind="Node",owner_name="n",owner_is_controller="true"} 1',
      'u',
    ],
    [
      'a controller that only kube_pod_info names',
      'kube_pod_info{namespace="ns",pod="p",uid="u",created_by_kind="StatefulSet",created_by_name="db"} 1',
      'ns/StatefulSet/db',
    ],
    [
      'itself, in a circle',
      `kube_pod_owner{namespace="ns",pod="p",owner_kind="Job",owner_name="j",owner_is_controller="true"} 1
       kube_job_owner{namespace="ns",job_name="j",owner_kind="Job",owner_name="j",owner_is_controller="true"} 1`,
      'ns/Job/j',
    ],
  ] as const) {
    it(`finds the workload of a pod that belongs to ${name}`, () => {
      const { scrape } = joinedPipeline()
      scrape('ksm', text)
      assert.match(scrape('dcgm', GPU), new RegExp(`workload_id="${expected}"`))
    })
  }

  it('takes what labels of the pod say is above an owner of which it knows nothing, where that is asked for', () => {
    const text = `kube_pod_owner{namespace="ns",pod="p",uid="u",owner_kind="StatefulSet",owner_name="lws-0",owner_is_controller="true"} 1
      kube_pod_labels{namespace="ns",pod="p",uid="u",label_leaderworkerset_sigs_k8s_io_name="lws"} 1`
    for (const [missing, expected] of [
      ['reference', /workload_id="ns\/StatefulSet\/lws-0"/],
      ['labels', /workload_id="ns\/LeaderWorkerSet\/lws".*workload_type="inference"/],
    ] as const) {
      const { scrape } = joinedPipeline({ missing_owner: missing })
      scrape('ksm', text)
      assert.match(scrape('dcgm', GPU), expected)
    }
  })

  it('follows what changes: a phase, an owner, another pod of the name, the end of the source', () => {
    const { scrape, remove } = joinedPipeline({ labels: { workload_id: '', project: '' } })
    const owner = (uid: string, name: string) =>
      `kube_pod_owner{namespace="ns",pod="p",uid="${uid}",owner_kind="StatefulSet",owner_name="${name}",owner_is_controller="true"} 1`
    const joined = (uid: string, name: string) =>
      `a{namespace="ns",pod="p",pod_uuid="${uid}",workload_kind="StatefulSet",workload_name="${name}"} 1\n`
    assert.equal(scrape('dcgm', GPU), `${GPU}\n`)
    scrape('ksm', owner('u-1', 'one'))
    assert.equal(scrape('dcgm', GPU), joined('u-1', 'one'))
    scrape('ksm', owner('u-1', 'two'))
    assert.equal(scrape('dcgm', GPU), joined('u-1', 'two'))
    scrape('ksm', owner('u-2', 'three'))
    assert.equal(scrape('dcgm', GPU), joined('u-2', 'three'))
    remove('ksm')
    assert.equal(scrape('dcgm', GPU), `${GPU}\n`)
  })

  it('finds a pod by its uid alone, as exporters that know nothing else tell it', () => {
    const { scrape } = joinedPipeline({ labels: { workload_id: '', workload_kind: '' } })
    scrape('ksm', 'kube_pod_info{namespace="ns",pod="p",uid="u-1",node="node-a"} 1')
    assert.equal(
      scrape('runai', 'a{pod_uid="u-1"} 1'),
      'a{node="node-a",pod_uid="u-1",pod_uuid="u-1",project="ns",workload_name="p"} 1\n',
    )
    scrape('ksm', 'kube_pod_info{namespace="ns",pod="p",uid="u-2",node="node-a"} 1')
    assert.equal(scrape('runai', 'a{pod_uid="u-1"} 1'), 'a{pod_uid="u-1"} 1\n')
  })

  it('takes the newer of two pods of one name, and neither where that is not known', () => {
    const { host, scrape } = joinedPipeline({ labels: { workload_id: '', project: '', workload_kind: '' } })
    const info = (uid: string) => `kube_pod_info{namespace="ns",pod="p",uid="${uid}",node="n"} 1\n`
    const created = (uid: string, seconds: number) =>
      `kube_pod_created{namespace="ns",pod="p",uid="${uid}"} ${seconds}\n`
    scrape('ksm-0', info('u-1') + created('u-1', 100))
    scrape('ksm-1', info('u-2') + created('u-2', 200))
    assert.match(scrape('dcgm', GPU), /pod_uuid="u-2"/)
    scrape('ksm-1', info('u-2'))
    assert.equal(scrape('dcgm', GPU), `${GPU}\n`)
    assert.equal(host.counted.get('gpucol_processor_ambiguous_metric_points{reason="several_pods"}'), 1)
    assert.match(scrape('dcgm', 'a{namespace="ns",pod="p",pod_uid="u-1"} 1'), /pod_uuid="u-1"/)
    scrape('ksm-1', 'kube_pod_info{namespace="ns",pod="p",node="n"} 1')
    assert.match(scrape('dcgm', GPU), /pod_uuid="u-1"/, 'the other tells no uid, and speaks of the same pod')
  })

  it('counts after the Kubernetes API, object by object', () => {
    const { host, scrape } = joinedPipeline({ labels: { project: '', workload_id: '' } })
    scrape(
      'ksm',
      `kube_pod_owner{namespace="ns",pod="p",uid="u-1",owner_kind="StatefulSet",owner_name="told",owner_is_controller="true"} 1
       kube_pod_owner{namespace="ns",pod="q",uid="u-q",owner_kind="StatefulSet",owner_name="told",owner_is_controller="true"} 1
       kube_replicaset_owner{namespace="ns",replicaset="web-7c",owner_kind="Deployment",owner_name="web",owner_is_controller="true"} 1
       kube_job_owner{namespace="ns",job_name="v",owner_kind="CronJob",owner_name="wrong",owner_is_controller="true"} 1
       kube_namespace_labels{namespace="ns",label_department="research"} 1`,
    )
    const both = 'a{namespace="ns",pod="p"} 1\na{namespace="ns",pod="q"} 1'
    assert.match(scrape('dcgm', both), /pod="p",pod_uuid="u-1".*workload_name="told"/)
    // The API has the pod, and may not read ReplicaSets; kube-state-metrics may.
    const pod = putChain(host.cluster, ['Pod/p', 'ReplicaSet.apps/web-7c'])
    host.cluster.table('owners').set('uid-ReplicaSet.apps/web-7c', 'unreadable')
    assert.equal(
      scrape('dcgm', both),
      'a{department="research",namespace="ns",pod="p",pod_uuid="uid-Pod/p",workload_kind="Deployment",workload_name="web"} 1\n' +
        'a{department="research",namespace="ns",pod="q",pod_uuid="u-q",workload_kind="StatefulSet",workload_name="told"} 1\n',
    )
    // A Job of Volcano is none of those that kube-state-metrics knows.
    removePod(host.cluster, pod)
    putChain(host.cluster, ['Pod/p', 'Job.batch.volcano.sh/v'], { uid: 'u-v' })
    host.cluster.table('owners').set('uid-Job.batch.volcano.sh/v', 'unreadable')
    assert.match(
      scrape('dcgm', both),
      /pod_uuid="u-v",workload_kind="Job",workload_name="v",workload_type="distributed"/,
    )
    putPod(host.cluster, podNamed('q', { uid: 'u-q' }))
    assert.match(scrape('dcgm', both), /pod="q",pod_uuid="u-q",workload_kind="Pod",workload_name="q"/)
  })
})
