/** From kinds to the resources that serve them: plural names, scopes and versions, known or guessed. */

/** A kind as the API serves it. */
export type Resource = {
  readonly group: string
  readonly kind: string
  readonly plural: string
  readonly singular: string
  readonly namespaced: boolean
  /** The preferred one first. */
  readonly versions: readonly string[]
  readonly shortNames: readonly string[]
  /** Part of every API server. Only the others come and go with their custom resource definition. */
  readonly builtIn: boolean
}

/** Group and version of an apiVersion: the core group has no name and no slash. */
export function parseApiVersion(apiVersion: string): { group: string; version: string } {
  const slash = apiVersion.indexOf('/')
  return slash === -1
    ? { group: '', version: apiVersion }
    : { group: apiVersion.slice(0, slash), version: apiVersion.slice(slash + 1) }
}

export function apiVersionOf(group: string, version: string): string {
  return group === '' ? version : `${group}/${version}`
}

/**
 * Rows are `Kind version` with what differs from the rule: `cluster` for kinds without namespace, `plural=`, `short=`, and further
 * versions.
 */
const BUILT_IN: Readonly<Record<string, readonly string[]>> = {
  '': [
    'ConfigMap v1 short=cm',
    'Endpoints v1 plural=endpoints short=ep',
    'Event v1 short=ev',
    'LimitRange v1 short=limits',
    'Namespace v1 cluster short=ns',
    'Node v1 cluster short=no',
    'PersistentVolume v1 cluster short=pv',
    'PersistentVolumeClaim v1 short=pvc',
    'Pod v1 short=po',
    'PodTemplate v1',
    'ReplicationController v1 short=rc',
    'ResourceQuota v1 short=quota',
    'Secret v1',
    'Service v1 short=svc',
    'ServiceAccount v1 short=sa',
  ],
  apps: [
    'ControllerRevision v1',
    'DaemonSet v1 short=ds',
    'Deployment v1 short=deploy',
    'ReplicaSet v1 short=rs',
    'StatefulSet v1 short=sts',
  ],
  batch: ['CronJob v1 short=cj', 'Job v1'],
  autoscaling: ['HorizontalPodAutoscaler v2 v1 short=hpa'],
  'networking.k8s.io': ['Ingress v1 short=ing', 'IngressClass v1 cluster', 'NetworkPolicy v1 short=netpol'],
  policy: ['PodDisruptionBudget v1 short=pdb'],
  'rbac.authorization.k8s.io': ['ClusterRole v1 cluster', 'ClusterRoleBinding v1 cluster', 'Role v1', 'RoleBinding v1'],
  'storage.k8s.io': [
    'CSIDriver v1 cluster',
    'CSINode v1 cluster',
    'StorageClass v1 cluster short=sc',
    'VolumeAttachment v1 cluster',
  ],
  'apiextensions.k8s.io': ['CustomResourceDefinition v1 cluster short=crd,crds'],
  'scheduling.k8s.io': ['PriorityClass v1 cluster short=pc'],
  'coordination.k8s.io': ['Lease v1'],
  'node.k8s.io': ['RuntimeClass v1 cluster'],
  'discovery.k8s.io': ['EndpointSlice v1'],
  'resource.k8s.io': [
    'DeviceClass v1 cluster',
    'ResourceClaim v1',
    'ResourceClaimTemplate v1',
    'ResourceSlice v1 cluster',
  ],
}

/** Kinds that come with operators: in the API when their definition, or an object of theirs, is there. */
const CUSTOM: Readonly<Record<string, readonly string[]>> = {
  'kubeflow.org': [
    'JAXJob v1',
    'MPIJob v2beta1 v1',
    'Notebook v1 v1beta1',
    'PaddleJob v1',
    'Profile v1 cluster',
    'PyTorchJob v1',
    'TFJob v1',
    'XGBoostJob v1',
  ],
  'trainer.kubeflow.org': ['ClusterTrainingRuntime v1alpha1 cluster', 'TrainJob v1alpha1', 'TrainingRuntime v1alpha1'],
  'ray.io': ['RayCluster v1', 'RayCronJob v1', 'RayJob v1', 'RayService v1'],
  'jobset.x-k8s.io': ['JobSet v1alpha2'],
  'leaderworkerset.x-k8s.io': ['LeaderWorkerSet v1 short=lws'],
  'serving.knative.dev': [
    'Configuration v1',
    'Revision v1 short=rev',
    'Route v1 short=rt',
    'Service v1 short=kservice,ksvc',
  ],
  'serving.kserve.io': [
    'ClusterServingRuntime v1alpha1 cluster',
    'InferenceGraph v1alpha1 short=ig',
    'InferenceService v1beta1 short=isvc',
    'LLMInferenceService v1alpha1 short=llmisvc',
    'ServingRuntime v1alpha1',
  ],
  'run.ai': [
    'DistributedWorkload v2alpha1',
    'InferenceWorkload v2alpha1',
    'InteractiveWorkload v2alpha1',
    'NodePool v1alpha1 cluster',
    'Project v2 cluster',
    'RunaiJob v1',
    'TrainingWorkload v2alpha1',
  ],
  'scheduling.run.ai': [
    'BindRequest v1alpha2',
    'Department v2alpha2 v1 cluster',
    'PodGroup v2alpha2',
    'Queue v2 cluster',
  ],
  'kai.scheduler': ['Config v1 cluster', 'SchedulingShard v1 cluster', 'Topology v1alpha1 cluster'],
  'kueue.x-k8s.io': [
    'AdmissionCheck v1beta2 v1beta1 cluster',
    'ClusterQueue v1beta2 v1beta1 cluster short=cq',
    'Cohort v1beta2 v1beta1 cluster',
    'LocalQueue v1beta2 v1beta1 short=queue,queues,lq',
    'ResourceFlavor v1beta2 v1beta1 cluster short=flavor,flavors,rf',
    'Topology v1beta2 v1beta1 cluster',
    'Workload v1beta2 v1beta1 short=wl',
    'WorkloadPriorityClass v1beta2 v1beta1 cluster',
  ],
  'batch.volcano.sh': ['Job v1alpha1 short=vcjob,vj'],
  'scheduling.volcano.sh': [
    'PodGroup v1beta1 short=pg,podgroup-v1beta1',
    'Queue v1beta1 cluster short=q,queue-v1beta1',
  ],
  'sparkoperator.k8s.io': [
    'ScheduledSparkApplication v1beta2 short=scheduledsparkapp',
    'SparkApplication v1beta2 short=sparkapp',
  ],
  'argoproj.io': [
    'ClusterWorkflowTemplate v1alpha1 cluster',
    'CronWorkflow v1alpha1 short=cwf,cronwf',
    'Rollout v1alpha1 short=ro',
    'Workflow v1alpha1 short=wf',
    'WorkflowTemplate v1alpha1 short=wftmpl',
  ],
  'grove.io': [
    'PodClique v1alpha1 short=pclq',
    'PodCliqueScalingGroup v1alpha1',
    'PodCliqueSet v1alpha1 short=pcs',
    'PodGangSet v1alpha1',
  ],
  'nvidia.com': ['ClusterPolicy v1 cluster', 'DynamoComponentDeployment v1alpha1', 'DynamoGraphDeployment v1alpha1'],
  'machinelearning.seldon.io': ['SeldonDeployment v1 short=sdep'],
  'kubevirt.io': ['VirtualMachine v1 short=vm,vms', 'VirtualMachineInstance v1 short=vmi,vmis'],
  'workspace.devfile.io': ['DevWorkspace v1alpha2 short=dw'],
  'tekton.dev': ['PipelineRun v1 short=pr,prs', 'TaskRun v1 short=tr,trs'],
  'workload.codeflare.dev': ['AppWrapper v1beta2'],
  'amlarc.azureml.com': ['AmlJob v1alpha1'],
  'slinky.slurm.net': ['NodeSet v1beta1 v1alpha1'],
  'slurm.nebius.ai': ['SlurmCluster v1'],
}

const wellKnown = new Map<string, Resource>()
for (const [table, builtIn] of [
  [BUILT_IN, true],
  [CUSTOM, false],
] as const) {
  for (const [group, rows] of Object.entries(table)) {
    for (const row of rows) {
      const resource = parseRow(group, row, builtIn)
      wellKnown.set(keyOf(group, resource.kind), resource)
    }
  }
}

export const BUILT_IN_RESOURCES: readonly Resource[] = [...wellKnown.values()].filter(resource => resource.builtIn)

/** Whether a group is part of every API server: what is missing there is answered in other words than elsewhere. */
export function isBuiltInGroup(group: string): boolean {
  return group in BUILT_IN
}

export function wellKnownResource(group: string, kind: string): Resource | undefined {
  return wellKnown.get(keyOf(group, kind))
}

/**
 * The resource of a kind. Versions are those that its objects have, for built-in kinds also those of the table, ordered as the API
 * server does it: stable before beta before alpha, higher before lower. Of an unknown kind the objects also tell the scope.
 */
export function resourceOf(
  group: string,
  kind: string,
  seen: { namespaced: boolean; versions: Iterable<string> },
): Resource {
  const known = wellKnownResource(group, kind)
  const versions = new Set(seen.versions)
  if (known !== undefined && (known.builtIn || versions.size === 0))
    for (const version of known.versions) versions.add(version)
  const sorted = [...versions].toSorted(compareVersions)
  if (known !== undefined) return { ...known, versions: sorted }
  const singular = kind.toLowerCase()
  return {
    group,
    kind,
    plural: pluralOf(singular),
    singular,
    namespaced: seen.namespaced,
    versions: sorted,
    shortNames: [],
    builtIn: isBuiltInGroup(group),
  }
}

/** As English and most custom resource definitions have it. */
export function pluralOf(singular: string): string {
  if (/(s|x|z|ch|sh)$/.test(singular)) return `${singular}es`
  if (/[^aeiou]y$/.test(singular)) return `${singular.slice(0, -1)}ies`
  return `${singular}s`
}

/** For sorting: the version to prefer comes first. */
export function compareVersions(one: string, other: string): number {
  const [a, b] = [versionRank(one), versionRank(other)]
  if (a === undefined || b === undefined) return a === b ? (one < other ? -1 : 1) : a === undefined ? 1 : -1
  return b.stability - a.stability || b.major - a.major || b.minor - a.minor
}

function versionRank(version: string): { stability: number; major: number; minor: number } | undefined {
  const [, major, stage, minor] = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version) ?? []
  if (major === undefined) return undefined
  return {
    stability: stage === undefined ? 2 : stage === 'beta' ? 1 : 0,
    major: Number(major),
    minor: Number(minor ?? 0),
  }
}

function parseRow(group: string, row: string, builtIn: boolean): Resource {
  const [kind, ...words] = row.split(' ') as [string, ...string[]]
  const singular = kind.toLowerCase()
  const option = (name: string): string | undefined =>
    words.find(word => word.startsWith(`${name}=`))?.slice(name.length + 1)
  return {
    group,
    kind,
    plural: option('plural') ?? pluralOf(singular),
    singular,
    namespaced: !words.includes('cluster'),
    versions: words.filter(word => versionRank(word) !== undefined),
    shortNames: option('short')?.split(',') ?? [],
    builtIn,
  }
}

function keyOf(group: string, kind: string): string {
  return `${group}/${kind}`
}
