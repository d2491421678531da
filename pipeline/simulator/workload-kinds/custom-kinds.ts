/** The kinds that come with the operators of the cluster: their definitions are installed before there is an object of theirs. */

type Kind = { readonly apiVersion: string; readonly kind: string }

/** What workloads are made of. */
export const CUSTOM_KINDS: readonly Kind[] = [
  { apiVersion: 'jobset.x-k8s.io/v1alpha2', kind: 'JobSet' },
  { apiVersion: 'kubeflow.org/v1', kind: 'Notebook' },
  { apiVersion: 'kubeflow.org/v1', kind: 'PyTorchJob' },
  { apiVersion: 'kubeflow.org/v2beta1', kind: 'MPIJob' },
  { apiVersion: 'leaderworkerset.x-k8s.io/v1', kind: 'LeaderWorkerSet' },
  { apiVersion: 'ray.io/v1', kind: 'RayCluster' },
  { apiVersion: 'run.ai/v1', kind: 'RunaiJob' },
  { apiVersion: 'run.ai/v2alpha1', kind: 'InferenceWorkload' },
  { apiVersion: 'run.ai/v2alpha1', kind: 'InteractiveWorkload' },
  { apiVersion: 'run.ai/v2alpha1', kind: 'TrainingWorkload' },
  { apiVersion: 'serving.knative.dev/v1', kind: 'Configuration' },
  { apiVersion: 'serving.knative.dev/v1', kind: 'Revision' },
  { apiVersion: 'serving.knative.dev/v1', kind: 'Service' },
  { apiVersion: 'serving.kserve.io/v1beta1', kind: 'InferenceService' },
]

/** What those who hand out GPUs keep their accounts in. */
export const QUOTA_KINDS: readonly Kind[] = [
  { apiVersion: 'kueue.x-k8s.io/v1beta1', kind: 'ClusterQueue' },
  { apiVersion: 'kueue.x-k8s.io/v1beta1', kind: 'LocalQueue' },
  { apiVersion: 'kueue.x-k8s.io/v1beta1', kind: 'ResourceFlavor' },
  { apiVersion: 'kueue.x-k8s.io/v1beta1', kind: 'Workload' },
  { apiVersion: 'run.ai/v2', kind: 'Project' },
  { apiVersion: 'scheduling.run.ai/v2', kind: 'Queue' },
  { apiVersion: 'scheduling.run.ai/v2alpha2', kind: 'Department' },
  { apiVersion: 'scheduling.run.ai/v2alpha2', kind: 'PodGroup' },
]
