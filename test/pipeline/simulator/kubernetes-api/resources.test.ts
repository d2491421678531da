import assert from 'node:assert/strict'
import {
  apiVersionOf,
  BUILT_IN_RESOURCES,
  compareVersions,
  parseApiVersion,
  pluralOf,
  resourceOf,
} from '../../../../pipeline/simulator/kubernetes-api/resources.ts'

describe('resources', () => {
  const known: [group: string, kind: string, plural: string, scope: 'namespaced' | 'cluster', version: string][] = [
    ['', 'Pod', 'pods', 'namespaced', 'v1'],
    ['', 'Node', 'nodes', 'cluster', 'v1'],
    ['', 'Namespace', 'namespaces', 'cluster', 'v1'],
    ['', 'Endpoints', 'endpoints', 'namespaced', 'v1'],
    ['apps', 'ReplicaSet', 'replicasets', 'namespaced', 'v1'],
    ['batch', 'Job', 'jobs', 'namespaced', 'v1'],
    ['networking.k8s.io', 'Ingress', 'ingresses', 'namespaced', 'v1'],
    ['networking.k8s.io', 'NetworkPolicy', 'networkpolicies', 'namespaced', 'v1'],
    ['scheduling.k8s.io', 'PriorityClass', 'priorityclasses', 'cluster', 'v1'],
    ['resource.k8s.io', 'ResourceSlice', 'resourceslices', 'cluster', 'v1'],
    ['kubeflow.org', 'PyTorchJob', 'pytorchjobs', 'namespaced', 'v1'],
    ['ray.io', 'RayCluster', 'rayclusters', 'namespaced', 'v1'],
    ['jobset.x-k8s.io', 'JobSet', 'jobsets', 'namespaced', 'v1alpha2'],
    ['leaderworkerset.x-k8s.io', 'LeaderWorkerSet', 'leaderworkersets', 'namespaced', 'v1'],
    ['serving.knative.dev', 'Service', 'services', 'namespaced', 'v1'],
    ['serving.kserve.io', 'InferenceService', 'inferenceservices', 'namespaced', 'v1beta1'],
    ['run.ai', 'TrainingWorkload', 'trainingworkloads', 'namespaced', 'v2alpha1'],
    ['run.ai', 'Project', 'projects', 'cluster', 'v2'],
    ['scheduling.run.ai', 'Queue', 'queues', 'cluster', 'v2'],
    ['kueue.x-k8s.io', 'ClusterQueue', 'clusterqueues', 'cluster', 'v1beta2'],
    ['kueue.x-k8s.io', 'LocalQueue', 'localqueues', 'namespaced', 'v1beta2'],
    ['batch.volcano.sh', 'Job', 'jobs', 'namespaced', 'v1alpha1'],
    ['scheduling.volcano.sh', 'Queue', 'queues', 'cluster', 'v1beta1'],
    ['sparkoperator.k8s.io', 'SparkApplication', 'sparkapplications', 'namespaced', 'v1beta2'],
    ['argoproj.io', 'Workflow', 'workflows', 'namespaced', 'v1alpha1'],
    ['tekton.dev', 'TaskRun', 'taskruns', 'namespaced', 'v1'],
  ]
  for (const [group, kind, plural, scope, version] of known) {
    it(`know ${group}/${kind}`, () => {
      const resource = resourceOf(group, kind, { namespaced: scope !== 'namespaced', versions: [] })
      assert.equal(resource.plural, plural)
      assert.equal(resource.namespaced, scope === 'namespaced')
      assert.equal(resource.versions[0], version)
    })
  }

  const plurals: [singular: string, plural: string][] = [
    ['widget', 'widgets'],
    ['gateway', 'gateways'],
    ['policy', 'policies'],
    ['class', 'classes'],
    ['box', 'boxes'],
    ['batch', 'batches'],
    ['mesh', 'meshes'],
  ]
  for (const [singular, plural] of plurals) {
    it(`guess the plural of ${singular}`, () => assert.equal(pluralOf(singular), plural))
  }

  it('of unknown kinds take scope and versions from the objects', () => {
    const resource = resourceOf('example.com', 'Widget', { namespaced: true, versions: ['v1alpha1', 'v1', 'v1beta2'] })
    assert.deepEqual(resource, {
      group: 'example.com',
      kind: 'Widget',
      plural: 'widgets',
      singular: 'widget',
      namespaced: true,
      versions: ['v1', 'v1beta2', 'v1alpha1'],
      shortNames: [],
      builtIn: false,
    })
  })

  it('of operators have only the versions that their objects have', () => {
    const { versions } = resourceOf('kueue.x-k8s.io', 'Workload', { namespaced: true, versions: ['v1beta1'] })
    assert.deepEqual(versions, ['v1beta1'])
  })

  it('of every server keep their versions besides those of objects', () => {
    const { versions } = resourceOf('resource.k8s.io', 'ResourceSlice', { namespaced: false, versions: ['v1beta1'] })
    assert.deepEqual(versions, ['v1', 'v1beta1'])
  })

  it('prefer versions as the API server does', () => {
    const versions = [
      'v1alpha1',
      'foo10',
      'v3beta1',
      'v2',
      'foo1',
      'v11alpha2',
      'v10',
      'v10beta3',
      'v12alpha1',
      'v11beta2',
      'v1',
      'v3',
    ]
    const sorted = 'v10 v3 v2 v1 v11beta2 v10beta3 v3beta1 v12alpha1 v11alpha2 v1alpha1 foo1 foo10'
    assert.equal(versions.toSorted(compareVersions).join(' '), sorted)
  })

  it('are told apart by group, which the core group has none of', () => {
    assert.deepEqual(parseApiVersion('v1'), { group: '', version: 'v1' })
    assert.deepEqual(parseApiVersion('apps/v1'), { group: 'apps', version: 'v1' })
    assert.equal(apiVersionOf('', 'v1'), 'v1')
    assert.equal(apiVersionOf('apps', 'v1'), 'apps/v1')
    assert.equal(
      BUILT_IN_RESOURCES.some(({ group }) => group === 'kubeflow.org'),
      false,
    )
  })
})
