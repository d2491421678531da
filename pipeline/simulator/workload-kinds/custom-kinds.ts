/** The kinds that come with the operators of the cluster: their definitions are installed before there is an object of theirs. */

export const CUSTOM_KINDS: readonly { readonly apiVersion: string; readonly kind: string }[] = [
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
